from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, cast

import pytest

from maia.core.errors import ToolProblem
from maia.core.jsonvalue import JsonObject
from maia.core.messages import AssistantMessage, TextPart, ToolCallPart, UserMessage
from maia.core.permission import Need
from maia.core.ports import Hands, Say
from maia.core.requests import ToolSpec
from maia.core.results import Block, ToolResult
from maia.core.runtime import Permit, ProgramCall, ProgramEnd, ProgramEvent, ProgramTask
from maia.privacy.kinds import MASKING, Action
from maia.privacy.mask import Masked, Masker, Span
from maia.privacy.placed import CarefulTool, Placed
from maia.privacy.policy import Policy
from maia.privacy.program import MaskedRuntime
from maia.privacy.request import WITHHELD
from maia.privacy.sent import PartSent, Sent


def shown(*kinds: str) -> Placed:
    placed = Placed()
    placed.note(Sent("far", "v", False, (PartSent("s", "masked", tuple(Span(kind, 0, 1) for kind in kinds)),)))
    return placed


pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Writer:
    spec = ToolSpec("Write", "", {})

    def parse(self, arguments: JsonObject) -> JsonObject:
        return arguments

    def needs(self, args: JsonObject, launch: Path) -> tuple[Need, ...]:
        return (Need("Write", "path", str(launch / args["path"])),)

    def preview(self, args: JsonObject) -> str:
        return args["path"]

    def lock_key(self, args: JsonObject, launch: Path) -> str | None:
        return str(launch / args["path"])

    async def proposal(self, args: JsonObject, hands: Hands) -> tuple[Block, ...]:
        return ()

    async def run(self, args: JsonObject, hands: Hands) -> ToolResult:
        return ToolResult(args["content"])


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "a", "content": "to: [EMAIL]"},
        {"path": "[EMAIL]", "content": ""},
        {"edits": [{"old": "x", "new": ["a [EMAIL]"]}]},
        {"[EMAIL]": 1},
    ],
)
def test_a_call_with_a_placeholder_that_the_model_was_shown_is_refused_wherever_it_stands(
    arguments: JsonObject,
) -> None:
    with pytest.raises(ToolProblem) as caught:
        CarefulTool(Writer(), shown("email", "iban")).parse(arguments)
    assert caught.value.key == "privacy.placeholder"
    assert caught.value.values == {"tool": "Write", "placeholders": "[EMAIL]"}


async def test_every_other_call_goes_through_unchanged(tmp_path: Path) -> None:
    tool = CarefulTool(Writer(), shown("iban"))
    args = tool.parse({"path": "a", "content": "a template with [EMAIL]"})
    hands = cast(Hands, None)
    assert args == {"path": "a", "content": "a template with [EMAIL]"}
    assert tool.spec == Writer.spec
    assert tool.needs(args, tmp_path) == (Need("Write", "path", str(tmp_path / "a")),)
    assert (tool.preview(args), tool.lock_key(args, tmp_path)) == ("a", str(tmp_path / "a"))
    assert await tool.proposal(args, hands) == ()
    assert await tool.run(args, hands) == ToolResult("a template with [EMAIL]")


def test_nothing_is_refused_where_nothing_was_masked() -> None:
    assert Placed().within({"content": "[EMAIL]"}) == ()


# Agent programs -------------------------------------------------------------------------------------------------------

MAIL = "jean@exemple.fr"


class Program:
    name = "claude-code"

    def __init__(self) -> None:
        self.tasks: list[ProgramTask] = []
        self.permits: list[Permit] = []
        self.closed = False

    async def turn(self, task: ProgramTask, desk: Any) -> ProgramEnd:
        self.tasks.append(task)
        for text in ("plain", "to [EMAIL]"):
            call = ToolCallPart("1", "Write", {"content": text})
            self.permits.append(await desk.permit(ProgramCall(call, ())))
        return ProgramEnd("finished")

    async def aclose(self) -> None:
        self.closed = True


class Desk:
    def __init__(self) -> None:
        self.told: list[ProgramEvent] = []

    def tell(self, event: ProgramEvent) -> None:
        self.told.append(event)

    async def permit(self, call: ProgramCall) -> Permit:
        return Permit(True)

    async def use(self, name: str, arguments: JsonObject, own: str = "") -> ToolResult:
        return ToolResult(f"{own or name}: {arguments['query']}")


def task(folder: Path) -> ProgramTask:
    history = (UserMessage((TextPart(MAIL),)), AssistantMessage((TextPart(f"ok {MAIL}"),)))
    return ProgramTask(f"write to {MAIL}", folder, 1, history, f"ask {MAIL}", "sonnet", True)


async def test_a_program_gets_its_task_masked_and_its_calls_hold_no_placeholder(tmp_path: Path, say: Say) -> None:
    program, desk, kept = Program(), Desk(), list[Sent]()
    runtime = MaskedRuntime(program, Masker(Policy()), Placed(), say, kept.append)
    assert await runtime.turn(task(tmp_path), desk) == ProgramEnd("finished")
    history = (UserMessage((TextPart("[EMAIL]"),)), AssistantMessage((TextPart("ok [EMAIL]"),)))
    assert program.tasks == [ProgramTask("write to [EMAIL]", tmp_path, 1, history, "ask [EMAIL]", "sonnet", True)]
    assert [permit.allowed for permit in program.permits] == [True, False]
    assert "[EMAIL]" in program.permits[1].reason
    assert [type(event).__name__ for event in desk.told] == ["Notice"]
    assert kept[0].counts == {"email": 4}
    assert runtime.name == "claude-code"
    await runtime.aclose()
    assert program.closed


async def test_what_a_lent_tool_gives_is_masked_for_the_program_and_recorded(tmp_path: Path, say: Say) -> None:
    class Looking(Program):
        async def turn(self, task: ProgramTask, desk: Any) -> ProgramEnd:
            texts = [(await desk.use("memory_search", {"query": query})).text for query in (MAIL, "port 80", MAIL)]
            assert texts == ["memory_search: [EMAIL]", "memory_search: port 80", "memory_search: [EMAIL]"]
            return ProgramEnd("finished")

    kept = list[Sent]()
    runtime = MaskedRuntime(Looking(), Masker(Policy()), Placed(), say, kept.append)
    assert await runtime.turn(task(tmp_path), Desk()) == ProgramEnd("finished")
    assert [dict(each.tools) for each in kept] == [{}, {"memory_search": 1}, {"memory_search": 2}]
    assert kept[-1].counts == {"email": 6}, "with those of the task"
    assert len({each.sections for each in kept}) == 1
    new = [each.new for each in kept]
    assert new[0] is None
    assert [(each.counts, each.tools) for each in new[1:] if each] == [({"email": 1}, (("memory_search", 1),))] * 2


async def test_a_result_that_cannot_be_looked_at_is_an_error_for_the_program(tmp_path: Path, say: Say) -> None:
    class Breaking(Masker):
        def mask(self, text: str, only: Collection[Action] = MASKING) -> Masked:
            if "boom" in text:
                raise RecursionError
            return super().mask(text, only)

    class Looking(Program):
        async def turn(self, task: ProgramTask, desk: Any) -> ProgramEnd:
            result = await desk.use("memory_search", {"query": "boom"})
            assert (result.text, result.is_error) == (WITHHELD, True)
            return ProgramEnd("finished")

    kept = list[Sent]()
    await MaskedRuntime(Looking(), Breaking(Policy()), Placed(), say, kept.append).turn(task(tmp_path), Desk())
    assert [part.state for part in kept[-1].parts][-1] == "withheld"


async def test_a_program_gets_everything_where_the_policy_is_not_enabled(tmp_path: Path, say: Say) -> None:
    program, desk = Program(), Desk()
    runtime = MaskedRuntime(program, Masker(Policy(enabled=False)), Placed(), say, lambda _sent: None)
    await runtime.turn(task(tmp_path), desk)
    assert program.tasks == [task(tmp_path)]
