"""create_prompt and edit_prompt: tasks that an agent is given again and again, kept under a name."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from maia.core.jsonvalue import JsonObject
from maia.core.parameters import Parameter, Parameters
from maia.core.text import visible
from maia.orchestrator.calls import Call, Reply
from maia.orchestrator.tools.row import Tool, Values

if TYPE_CHECKING:
    from maia.orchestrator.ports import Prompt

_STRING: Final[JsonObject] = {"type": "string"}
_PROMPT: Final[JsonObject] = {"agent": _STRING, "name": _STRING, "text": _STRING, "file": _STRING}
_PROMPT_SCHEMA: Final[JsonObject] = {"type": "object", "properties": _PROMPT, "required": list(_PROMPT)}

_NAMED: Final = (
    Parameter("agent", "string", "Name or nickname of the agent", required=True, aliases=("agent_name",)),
    Parameter("name", "string", "Name of the prompt", required=True, aliases=("prompt", "prompt_name")),
)


async def create_prompt(call: Call, values: Values) -> Reply:
    """Keep a new prompt; none is ever overwritten."""
    prompt = await asyncio.to_thread(call.desk.agents.create_prompt, values["agent"], values["name"], values["text"])
    return Reply(call.desk.say("mcp.prompt.created", prompt=prompt.name, file=prompt.file), {"prompt": _data(prompt)})


async def edit_prompt(call: Call, values: Values) -> Reply:
    """Replace a passage of a prompt, or all of it."""
    prompt, difference = await asyncio.to_thread(
        call.desk.agents.edit_prompt, values["agent"], values["name"], values["text"], values["old_text"] or ""
    )
    text = call.desk.say("mcp.prompt.edited", prompt=prompt.name, file=prompt.file)
    return Reply(f"{text}\n\n{visible(difference)}".strip(), {"prompt": _data(prompt), "difference": difference})


def _data(prompt: Prompt) -> JsonObject:
    return {"agent": prompt.agent, "name": prompt.name, "text": prompt.text, "file": prompt.file}


CREATE: Final = Tool(
    "create_prompt",
    "Keep a prompt",
    Parameters(
        (
            *_NAMED,
            Parameter("text", "text", "The task; $ARGUMENTS stands for what run_agent gets as prompt_arguments",
                      required=True, aliases=("content",)),
        ),
        closed=True,
    ),
    {"type": "object", "properties": {"prompt": _PROMPT_SCHEMA}, "required": ["prompt"]},
    create_prompt,
)  # fmt: skip

EDIT: Final = Tool(
    "edit_prompt",
    "Change a prompt",
    Parameters(
        (
            *_NAMED,
            Parameter("text", "text", "The new text: of the passage old_text, or of the whole prompt", required=True,
                      aliases=("content", "new_text")),
            Parameter("old_text", "text", "The passage to replace, as it stands there, exactly once"),
        ),
        closed=True,
    ),
    {
        "type": "object",
        "properties": {"prompt": _PROMPT_SCHEMA, "difference": {"type": "string", "description": "A unified diff"}},
        "required": ["prompt", "difference"],
    },
    edit_prompt,
    destructive=True,
    idempotent=True,
)  # fmt: skip
