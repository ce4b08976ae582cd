"""The same chat whoever answers: one table over a model of an endpoint and over an agent program (R-2.453)."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pytest

from maia.core.endings import Failure
from maia.core.events import CallQueued, TextDelta, ToolCallFinished, TurnEnded, WireEvent, WireFailed
from maia.core.messages import AssistantMessage, TextPart, ToolCallPart
from maia.core.permission import Need
from maia.core.requests import ModelRequest
from maia.core.runtime import Desk, ProgramCall, ProgramEnd, ProgramResult, ProgramTask
from maia.core.submission import Submission
from maia.engine.setup import Config
from maia.engine.toolset import Toolset
from tests.workspace.doubles import PlayedModels, PlayedWire, bench_of, workspace_on
from tests.workspace.test_approvals import POKE, CallingWire, Poke, Program, ProgramModels, events_of, with_poke

DOWN = Failure("overloaded", "played", 503)


class FailingWire(PlayedWire):
    async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
        yield TextDelta("Half")
        yield WireFailed(DOWN, AssistantMessage((TextPart("Half"),), "m", "played"))


class Teller(Program):
    """A program that says something and then ends so, or never."""

    def __init__(self, text: str, end: ProgramEnd | None) -> None:
        super().__init__()
        self.text, self.end, self.closed = text, end, 0

    async def turn(self, task: ProgramTask, desk: Desk) -> ProgramEnd:
        desk.tell(TextDelta(self.text))
        if self.end is None:
            await asyncio.Event().wait()
            raise AssertionError
        return self.end

    async def aclose(self) -> None:
        self.closed += 1


@dataclass(frozen=True)
class Chat:
    """What a person comes to see. `rows` are the statuses of calls, `queued` how many wait for somebody."""

    text: str
    outcome: str
    status: str = "idle"
    rows: tuple[str, ...] = ()
    queued: int = 0
    failure: str = ""


def played(kind: Literal["endpoint", "program"], what: str) -> PlayedModels:
    """The same behaviour of either."""
    if kind == "endpoint":
        wires = {
            "answers": PlayedWire(["Yes."]),
            "asks": CallingWire(POKE),
            "fails": FailingWire([]),
            "is stopped": PlayedWire(["Half", "more"], wait_after=1),
        }
        return PlayedModels(wires[what])
    programs = {
        "answers": Teller("Yes.", ProgramEnd("finished", "end")),
        "asks": Program(),
        "fails": Teller("Half", ProgramEnd("failed", failure=DOWN)),
        "is stopped": Teller("Half", None),
    }
    return ProgramModels(programs[what])


@pytest.mark.parametrize("kind", ["endpoint", "program"])
@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("answers", Chat("Yes.", "finished")),
        ("asks", Chat("", "waiting_approval", "waiting_approval", ("refused",), 1)),
        ("fails", Chat("Half", "failed", failure="overloaded")),
        ("is stopped", Chat("Half", "stopped")),
    ],
)
def test_a_chat_is_the_same_whoever_answers(
    tmp_path: Path, kind: Literal["endpoint", "program"], what: str, expected: Chat
) -> None:
    async def story() -> None:
        models = played(kind, what)
        url = f"sqlite:///{tmp_path}/maia.db"
        async with workspace_on(url, tmp_path, models, bench=with_poke(models, Poke())) as (workspace, user):
            row = await workspace.create(user, "T", "en")
            await workspace.submit(user, row, Submission("Go"))
            ended: list[TurnEnded] = []
            async for batch in workspace.follow(row, 0, 5):
                if what == "is stopped" and any(isinstance(each.event, TextDelta) for each in batch):
                    workspace.stop(row)
                ended += [each.event for each in batch if isinstance(each.event, TurnEnded)]
                if ended:
                    break
            await workspace._turns.ended(row.id)  # pyright: ignore[reportPrivateUsage] - its end is behind its news
            rows = await events_of(workspace, row, ToolCallFinished)
            queued = await events_of(workspace, row, CallQueued)
            answer, now = (await workspace.messages(row, 10))[1], await workspace.conversation(user, row.id)
            failure = ended[0].failure.kind if ended[0].failure else ""
            said = "" if what == "asks" else answer.text
            found = Chat(said, ended[0].outcome, now.status, tuple(each.status for each in rows), len(queued), failure)
            assert found == expected
            assert (ended[0].provider, ended[0].model) == ("played", "m")
            meta: Any = answer.turn_meta
            assert meta["outcome"] == expected.outcome
            if isinstance(models, ProgramModels) and isinstance(models.program, Teller):
                assert models.program.closed == 1, "no session is kept (R-2.067)"

    asyncio.run(story())


@pytest.mark.parametrize(
    ("names", "tool", "status"),
    [
        (("Read",), "Write", "refused"),
        (("Read",), "WebSearch", "refused"),
        (("Write",), "Bash", "refused"),
        (("Write",), "Read", "asked"),
        (None, "Bash", "asked"),
    ],
)
def test_a_programs_own_tool_that_the_list_withholds_is_refused_without_a_question(
    tmp_path: Path, names: tuple[str, ...] | None, tool: str, status: str
) -> None:
    class Asking(Program):
        async def turn(self, task: ProgramTask, desk: Desk) -> ProgramEnd:
            call = ProgramCall(ToolCallPart("p1", tool, {}), (Need(tool, "name", "it"),), "it")
            self.told.append(await desk.permit(call))
            return ProgramEnd("finished", "end")

    async def story() -> None:
        models = ProgramModels(program := Asking())
        toolset = Toolset(None if names is None else frozenset(names))

        def bench(folder: Path) -> Any:
            made = with_poke(models, Poke())(folder)
            judge = bench_of(models, folder).configure().judge
            return replace(made, configure=lambda: Config(judge, {}, (), (), (), 50, toolset=toolset))

        async with workspace_on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models, bench=bench) as (workspace, user):
            row = await workspace.create(user, "T", "en")
            await workspace.submit(user, row, Submission("Go"))
            await workspace._turns.ended(row.id)  # pyright: ignore[reportPrivateUsage] - its end is behind its news
            queued = await events_of(workspace, row, CallQueued)
            assert (program.told[0].allowed, bool(queued)) == (False, status == "asked")
            assert ("not in this agent's toolset" in program.told[0].reason) == (status == "refused")

    asyncio.run(story())


def test_a_program_that_asks_about_a_call_that_is_over_is_told_so_and_nobody_is_asked(tmp_path: Path) -> None:
    class Again(Program):
        async def turn(self, task: ProgramTask, desk: Desk) -> ProgramEnd:
            call = ProgramCall(ToolCallPart("p1", "Poke", {}), (), "it")
            self.told.append(await desk.permit(call))
            desk.tell(ProgramResult("p1", True, "done"))
            self.told.append(await desk.permit(call))
            return ProgramEnd("finished", "end")

    async def story() -> None:
        models = ProgramModels(program := Again())
        bench = with_poke(models, Poke())
        async with workspace_on(f"sqlite:///{tmp_path}/maia.db", tmp_path, models, bench=bench) as (workspace, user):
            row = await workspace.create(user, "T", "en")
            await workspace.submit(user, row, Submission("Go"))
            await workspace._turns.ended(row.id)  # pyright: ignore[reportPrivateUsage] - its end is behind its news
            rows = await events_of(workspace, row, ToolCallFinished)
            ended = await events_of(workspace, row, TurnEnded)
        assert [each.allowed for each in program.told] == [True, False]
        assert "over already" in program.told[1].reason
        assert ([each.status for each in rows], [each.outcome for each in ended]) == (["succeeded"], ["finished"])

    asyncio.run(story())
