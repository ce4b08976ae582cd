"""The AskUser tool: a question that waits for the person's next message, over restarts too (R-2.014)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from maia.core.errors import ToolProblem
from maia.core.jsonvalue import JsonObject
from maia.core.permission import Need
from maia.core.ports import Hands
from maia.core.requests import ToolSpec
from maia.core.results import Block, ToolResult
from maia.core.text import visible
from maia.tools.arguments import Parameter, Parameters
from maia.tools.prompt import load_spec

MOST_OPTIONS: Final = 6
LONGEST_QUESTION: Final = 2_000
LONGEST_OPTION: Final = 200

PARAMETERS: Final = Parameters(
    (
        Parameter("question", "string", "one question, in their language", required=True, aliases=("text", "prompt")),
        Parameter("options", "list", "answers that they can give by one click", aliases=("choices", "answers")),
    )
)


@dataclass(frozen=True, slots=True)
class AskUserArgs:
    """What is asked, and the answers that are offered; any other one may be written."""

    question: str
    options: tuple[str, ...]


class AskUserTool:
    """Shows a question. Nothing waits for the answer: it is the next message."""

    @property
    def spec(self) -> ToolSpec:
        return load_spec("AskUser", PARAMETERS)

    def parse(self, arguments: JsonObject) -> AskUserArgs:
        """Raises `ToolProblem` for a question or options that nobody can be shown."""
        values = PARAMETERS.read(arguments)
        question = values["question"].strip()
        if not 0 < len(question) <= LONGEST_QUESTION:
            raise ToolProblem("tool.ask.question", limit=LONGEST_QUESTION)
        given: list[Any] = values["options"] or []
        options = tuple(dict.fromkeys(each.strip() for each in given if isinstance(each, str) and each.strip()))
        if len(options) > MOST_OPTIONS or any(len(each) > LONGEST_OPTION for each in options):
            raise ToolProblem("tool.ask.options", limit=MOST_OPTIONS, length=LONGEST_OPTION)
        return AskUserArgs(question, options)

    def needs(self, args: AskUserArgs, launch: Path) -> tuple[Need, ...]:
        return (Need("AskUser", "none"),)

    def preview(self, args: AskUserArgs) -> str:
        return visible(" ".join(args.question.split()))[:200]

    def lock_key(self, args: AskUserArgs, launch: Path) -> str | None:
        return "AskUser"

    async def proposal(self, args: AskUserArgs, hands: Hands) -> tuple[Block, ...]:
        return ()

    async def run(self, args: AskUserArgs, hands: Hands) -> ToolResult:
        return ToolResult(
            hands.say("tool.ask.shown"),
            summary=self.preview(args),
            data={"question": args.question, "options": list(args.options)},
        )
