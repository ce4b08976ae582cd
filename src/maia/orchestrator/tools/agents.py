"""create_agent, list_agents, update_agent_config, delete_agent and get_agent_configs: the agents themselves."""

from __future__ import annotations

import asyncio
from typing import Final, cast, get_args

from maia.core.agent import AgentGroup, AgentKind
from maia.core.errors import UsageProblem
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.parameters import Parameter, Parameters
from maia.core.requests import Effort
from maia.core.text import visible
from maia.orchestrator.calls import Call, Reply
from maia.orchestrator.tools.row import Tool, Values
from maia.orchestrator.words import sentence

_STRINGS: Final[JsonObject] = {"type": "array", "items": {"type": "string"}}
_STRING: Final[JsonObject] = {"type": "string"}

_CARD: Final[JsonObject] = {
    "name": {"type": "string", "description": "Name of its folder"},
    "nickname": {"type": "string", "description": "What people call it"},
    "description": _STRING,
    "runner": {"type": "string", "description": "maia, or an agent program"},
    "model": {"type": "string", "description": "Empty for the usual one"},
    "level": {"type": "string", "enum": ["project", "home"]},
    "file": _STRING,
}
CARD_SCHEMA: Final[JsonObject] = {"type": "object", "properties": _CARD, "required": list(_CARD)}

_CONFIG: Final[JsonObject] = {
    **_CARD,
    "effort": {"type": ["string", "null"], "enum": [*get_args(Effort), None]},
    "key": {"type": "string", "description": "Name of the variable that holds the key, never the key itself"},
    "tools": {"anyOf": [_STRINGS, {"type": "null"}], "description": "null for all"},
    "skills": {"anyOf": [_STRINGS, {"type": "null"}], "description": "null for all"},
    "permissions": {"type": "object", "properties": {"allow": _STRINGS, "ask": _STRINGS, "deny": _STRINGS}},
    "folders": _STRINGS,
    "memory": {"type": "boolean"},
    "trace": {"type": "boolean"},
    "asks_nothing": {"type": "boolean", "description": "Its program runs without permission checks"},
    "group": {"type": "string", "enum": [*get_args(AgentGroup)], "description": "Where the web workspace lists it"},
    "max_turns": {"type": ["integer", "null"], "description": "Steps of a turn at most; null for the usual number"},
    "monthly_tokens": {"type": "integer", "description": "Tokens of a month in the web workspace; 0 for any number"},
    "type": {"type": "string", "enum": [*get_args(AgentKind)]},
    "role": _STRING,
    "goal": _STRING,
    "backstory": _STRING,
    "capabilities": _STRINGS,
    "constraints": _STRINGS,
    "avatar": _STRING,
    "enabled": {"type": "boolean", "description": "false for one that may not be used"},
    "instructions": _STRING,
    "missions": _STRING,
    "output": _STRING,
    "prompts": {"type": "array", "items": _STRING, "description": "Names of its kept prompts"},
}
CONFIG_SCHEMA: Final[JsonObject] = {"type": "object", "properties": _CONFIG, "required": list(_CONFIG)}

_FIELDS: Final = (
    Parameter("nickname", "string", "What people call it: any name on one line, unique"),
    Parameter("description", "text", "In a sentence, what it is for"),
    Parameter("instructions", "text", "Who it is and how it works (section Instructions system)",
              aliases=("system_prompt", "instructions_system")),
    Parameter("missions", "text", "What it does (section Missions)"),
    Parameter("output", "text", "What it gives back (section Output)"),
    Parameter("runner", "string", "maia, or an agent program: claude-code, codex, opencode, gemini, hermes, qwen…"),
    Parameter("model", "string", "Nickname, exact name, or a part of one"),
    Parameter("effort", "string", "How much it thinks", choices=get_args(Effort)),
    Parameter("tools", "list", "Only these tools; all when left out", items="string"),
    Parameter("skills", "list", "Only these skills; all when left out", items="string"),
    Parameter("ask", "list", "Rules it is asked for, as Bash(git push:*)", items="string"),
    Parameter("deny", "list", "Rules it is refused", items="string"),
    Parameter("memory", "boolean", "Whether it has a private memory"),
    Parameter("trace", "boolean", "Whether it keeps a trace of its runs"),
    Parameter("group", "string", "Where the web workspace lists it: only main and team are talked to",
              choices=get_args(AgentGroup)),
)  # fmt: skip
"""What a model may set of an agent. What widens rights or costs (allow, folders, key, asks_nothing, max_turns,
monthly_tokens) is for a person to write."""

_AGENT: Final = Parameter("agent", "string", "Name or nickname", required=True, aliases=("agent_name", "name"))


def _fields(values: Values) -> JsonObject:
    """The fields that were given, as `AGENT.md` has them."""
    rules = ("ask", "deny")
    given = {row.name: values[row.name] for row in _FIELDS if values[row.name] is not None and row.name not in rules}
    permissions = {name: values[name] for name in rules if values[name] is not None}
    return {**given, "permissions": permissions} if permissions else given


async def create_agent(call: Call, values: Values) -> Reply:
    """Make a new agent; none is ever overwritten."""
    agent = await asyncio.to_thread(call.desk.agents.create, values["name"], _fields(values), values["level"] or "home")
    return await _about(call, agent, "mcp.agents.created")


async def update_agent_config(call: Call, values: Values) -> Reply:
    """Change what was given of an agent."""
    fields = {**_fields(values), **dict.fromkeys(values["remove"] or ())}
    if not fields:
        raise UsageProblem("mcp.nothing_to_change")
    agent = await asyncio.to_thread(call.desk.agents.update, values["agent"], fields)
    return await _about(call, agent, "mcp.agents.updated")


async def delete_agent(call: Call, values: Values) -> Reply:
    """Take an agent away; it is moved, not lost."""
    agent: str = values["agent"]
    place = await asyncio.to_thread(call.desk.agents.delete, agent)
    text = call.desk.say("mcp.agents.deleted", agent=visible(agent), place=place)
    return Reply(text, {"agent": agent, "moved_to": place})


async def list_agents(call: Call, _values: Values) -> Reply:
    """Every agent that can be used, and what is wrong with those that cannot."""
    listed = await asyncio.to_thread(call.desk.agents.listed)
    say = call.desk.say
    warnings = [sentence(notice.key, notice.values, say) for notice in listed.notices]
    cards = [{name: agent[name] for name in _CARD} for agent in listed.agents]
    rows = [visible(f"{card['nickname']} ({card['name']}) — {card['description']}") for card in cards]
    text = "\n".join(rows or [say("mcp.agents.none")])
    return Reply("\n\n".join([text, *warnings]), {"agents": cards, "warnings": warnings})


async def get_agent_configs(call: Call, values: Values) -> Reply:
    """The whole definition of one agent or of all, keys masked."""
    book = call.desk.agents
    if values["agent"]:
        agents = [await asyncio.to_thread(book.find, values["agent"])]
    else:
        agents = list((await asyncio.to_thread(book.listed)).agents)
    configs = [await _with_prompts(call, agent) for agent in agents]
    text = "\n\n".join(_config_text(config) for config in configs) or call.desk.say("mcp.agents.none")
    return Reply(text, {"agents": configs})


async def _about(call: Call, agent: JsonObject, key: str) -> Reply:
    text = call.desk.say(key, agent=visible(agent["nickname"]), file=agent["file"])
    return Reply(text, {"agent": await _with_prompts(call, agent)})


async def _with_prompts(call: Call, agent: JsonObject) -> JsonObject:
    return {**agent, "prompts": list(await asyncio.to_thread(call.desk.agents.prompts, agent["name"]))}


def _config_text(config: JsonObject) -> str:
    """One row a field; the sections below."""
    sections = ("instructions", "missions", "output")
    flat = {**config, **config["permissions"]}
    rows = [f"# {config['nickname']}"]
    for name, value in flat.items():
        if name not in (*sections, "permissions") and value not in ("", None, []):
            rows.append(f"{name}: {_shown(value)}")
    rows += [f"\n## {name}\n{config[name]}" for name in sections if config[name]]
    return visible("\n".join(rows))


def _shown(value: JsonValue) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in cast("list[JsonValue]", value))
    return str(value).lower() if isinstance(value, bool) else str(value)


_ONE: Final[JsonObject] = {"type": "object", "properties": {"agent": CONFIG_SCHEMA}, "required": ["agent"]}

CREATE: Final = Tool(
    "create_agent",
    "Create an agent",
    Parameters(
        (
            Parameter("name", "string", "Name of its folder: letters, digits, - and _", required=True,
                      aliases=("agent", "agent_name")),
            *_FIELDS,
            Parameter("level", "string", "home: for every folder (default); project: for this folder only",
                      choices=("home", "project")),
        ),
        closed=True,
    ),
    _ONE,
    create_agent,
)  # fmt: skip

UPDATE: Final = Tool(
    "update_agent_config",
    "Change an agent",
    Parameters(
        (
            _AGENT,
            *_FIELDS,
            Parameter("remove", "list", "Fields of the header to take away, such as model or tools", items="string"),
        ),
        closed=True,
    ),
    _ONE,
    update_agent_config,
    destructive=True,
    idempotent=True,
)

DELETE: Final = Tool(
    "delete_agent",
    "Delete an agent",
    Parameters((_AGENT,), closed=True),
    {
        "type": "object",
        "properties": {"agent": _STRING, "moved_to": {"type": "string", "description": "Where it can be got back"}},
        "required": ["agent", "moved_to"],
    },
    delete_agent,
    destructive=True,
)

LIST: Final = Tool(
    "list_agents",
    "List the agents",
    Parameters((), closed=True),
    {
        "type": "object",
        "properties": {"agents": {"type": "array", "items": CARD_SCHEMA}, "warnings": _STRINGS},
        "required": ["agents", "warnings"],
    },
    list_agents,
    reads_only=True,
)

CONFIGS: Final = Tool(
    "get_agent_configs",
    "Show how agents are set up",
    Parameters((Parameter("agent", "string", "Name or nickname; all when left out", aliases=("agent_name", "name")),),
               closed=True),
    {
        "type": "object",
        "properties": {"agents": {"type": "array", "items": CONFIG_SCHEMA}},
        "required": ["agents"],
    },
    get_agent_configs,
    reads_only=True,
)  # fmt: skip
