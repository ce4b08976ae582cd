import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maia.core.events import (
    CallDecided,
    CallQueued,
    ToolCallFinished,
    TurnEnded,
    WireAnswer,
    WireEvent,
)
from maia.core.jsonvalue import JsonObject
from maia.core.messages import AssistantMessage, TextPart, ToolCallPart
from maia.core.permission import Need, Verdict
from maia.core.ports import Hands
from maia.core.requests import ChosenBy, ModelRequest, ToolSpec
from maia.core.results import ToolResult
from maia.core.runtime import Desk, Permit, ProgramCall, ProgramEnd, ProgramResult, ProgramTask
from maia.core.submission import Submission
from maia.database import approvals, users
from maia.database.address import database_url as address_of
from maia.database.database import Database
from maia.engine.setup import Bound, Config
from maia.workspace.approvals import Settled, digest_of
from maia.workspace.problems import AlreadyDecided, NotAllowed, NotYours
from maia.workspace.workspace import Workspace
from tests.workspace.doubles import PlayedModels, PlayedWire, bench_of, workspace_on

POKE: JsonObject = {"what": "it", "how": [1, 2]}


@dataclass
class Poke:
    """A tool that no rule allows; it counts how often it really ran."""

    ran: list[JsonObject] = field(default_factory=list[JsonObject])
    spec = ToolSpec("Poke", "", {})

    def parse(self, arguments: JsonObject) -> JsonObject:
        return arguments

    def needs(self, args: JsonObject, launch: Path) -> tuple[Need, ...]:
        return (Need("Poke", "name", "it"),)

    def preview(self, args: JsonObject) -> str:
        return f"poke {args['what']}"

    def lock_key(self, args: JsonObject, launch: Path) -> str | None:
        return None

    async def proposal(self, args: JsonObject, hands: Hands) -> tuple[()]:
        return ()

    async def run(self, args: JsonObject, hands: Hands) -> ToolResult:
        self.ran.append(args)
        return ToolResult("poked")


class CallingWire(PlayedWire):
    """Makes the calls of its list in one answer, and then says that it is done."""

    def __init__(self, *calls: JsonObject) -> None:
        super().__init__(["Done."])
        self.calls: Sequence[JsonObject] = calls

    async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
        self.requests.append(request)
        if len(self.requests) % 2:
            parts = tuple(ToolCallPart(f"c{len(self.requests)}-{n}", "Poke", call) for n, call in enumerate(self.calls))
            yield WireAnswer(AssistantMessage(parts, "m", "played"), "tool_calls", "tool_calls")
        else:
            yield WireAnswer(AssistantMessage((TextPart("Done."),), "m", "played"), "end", "stop")


class Program:
    """An agent program that asks for one call in each turn, and makes it when it may."""

    name = "played"

    def __init__(self, *, is_whole: bool = True) -> None:
        self.ran = 0
        self.told: list[Permit] = []
        self.is_whole = is_whole

    async def turn(self, task: ProgramTask, desk: Desk) -> ProgramEnd:
        part = ToolCallPart(f"p{len(self.told)}", "Poke", POKE)
        call = ProgramCall(part, (Need("Poke", "name", "it"),), "poke it", is_whole=self.is_whole)
        permit = await desk.permit(call)
        self.told.append(permit)
        if permit.allowed:
            self.ran += 1
            desk.tell(ProgramResult(part.call_id, True, "poked"))
        return ProgramEnd("finished", "end")

    async def aclose(self) -> None: ...


class ProgramModels(PlayedModels):
    def __init__(self, program: Program) -> None:
        super().__init__(PlayedWire([]))
        self.program = program

    async def bind(self, name: str, why: ChosenBy) -> Bound:
        return Bound(name, "played", None, why, runtime=self.program)


def with_poke(models: PlayedModels, poke: Poke) -> Callable[[Path], Any]:
    """The parts of a conversation that has that one tool."""

    def made(folder: Path) -> Any:
        bench = bench_of(models, folder)
        config = bench.configure()

        def hands(*_: object) -> Hands:
            return cast(Hands, SimpleNamespace(launch=folder))

        return replace(bench, hands=hands, configure=lambda: Config(config.judge, {"Poke": poke}, (), (), (), 50))

    return made


async def turn(workspace: Workspace, user: users.User, row: Any, text: str = "Go", system: str = "") -> TurnEnded:
    """One turn to its end."""
    row = await workspace.conversation(user, row.id)
    await workspace.submit(user, row, Submission(text), system=system)
    async for batch in workspace.follow(row, row.last_seq, 5):
        for logged in batch:
            if isinstance(logged.event, TurnEnded):
                await workspace._turns.ended(row.id)  # pyright: ignore[reportPrivateUsage] - its end is behind its news
                return logged.event
    raise AssertionError("no end")


def database_of(workspace: Workspace) -> Database:
    return workspace._database  # pyright: ignore[reportPrivateUsage] - no door makes people yet


async def person(workspace: Workspace, role: users.Role) -> users.User:
    return await database_of(workspace).write(lambda c: users.add_user(c, f"{role}@example.org", role, role, "h", None))


async def events_of(workspace: Workspace, row: Any, kind: type) -> list[Any]:
    page = await workspace.page(row, 50)
    return [each.event for each in page.logged if isinstance(each.event, kind)]


def test_a_call_waits_for_its_approval_and_is_then_made_once(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        wire, poke = CallingWire(POKE), Poke()
        models = PlayedModels(wire)
        async with workspace_on(database_url, tmp_path, models, bench=with_poke(models, poke)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            ended = await turn(workspace, user, row)
            assert (ended.outcome, ended.approvals, poke.ran) == ("waiting_approval", 1, [])
            assert (await workspace.conversation(user, row.id)).status == "waiting_approval"
            (finished,) = await events_of(workspace, row, ToolCallFinished)
            assert finished.status == "refused"
            assert "somebody must approve it first" in finished.text
            (queued,) = await events_of(workspace, row, CallQueued)
            (waiting,) = await workspace.approvals.listed(user, decided=False)
            assert (waiting.id, waiting.tool, waiting.arguments, waiting.preview) == (
                queued.ticket,
                "Poke",
                POKE,
                "poke it",
            )
            done = await workspace.approvals.decide(user, waiting.id, "approved")
            assert (done.status, done.decider) == ("approved", user.name)
            assert await events_of(workspace, row, CallDecided) == [CallDecided(waiting.id, "approved", user.name)]
            assert (await workspace.conversation(user, row.id)).status == "idle"
            ended = await turn(workspace, user, row, "Try again")
            assert (ended.outcome, ended.approvals, poke.ran) == ("finished", 0, [POKE])
            assert (await workspace.approvals.one(user, waiting.id)).status == "used"
            ended = await turn(workspace, user, row, "And again")
            assert (ended.outcome, poke.ran) == ("waiting_approval", [POKE]), "once is once"

    asyncio.run(story())


def test_an_approval_outlives_the_server_and_so_does_a_request(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        poke = Poke()
        for then in ("ask", "decide", "retry"):
            models = PlayedModels(CallingWire(POKE))
            async with workspace_on(database_url, tmp_path, models, bench=with_poke(models, poke)) as (workspace, user):
                if then == "ask":
                    await turn(workspace, user, await workspace.create(user, "Kept", "en"))
                    continue
                (row,) = await workspace.conversations(user, 5)
                if then == "decide":
                    assert row.status == "waiting_approval"
                    (waiting,) = await workspace.approvals.listed(user, decided=False)
                    await workspace.approvals.decide(user, waiting.id, "approved")
                else:
                    assert (await turn(workspace, user, row)).outcome == "finished"
        assert poke.ran == [POKE]

    asyncio.run(story())


def test_another_call_another_conversation_and_a_refusal_allow_nothing(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        wire, poke = CallingWire(POKE), Poke()
        models = PlayedModels(wire)
        async with workspace_on(database_url, tmp_path, models, bench=with_poke(models, poke)) as (workspace, user):
            row, other = await workspace.create(user, "", "en"), await workspace.create(user, "", "en")
            await turn(workspace, user, row)
            (waiting,) = await workspace.approvals.listed(user, decided=False)
            await workspace.approvals.decide(user, waiting.id, "approved")
            assert (await turn(workspace, user, other)).outcome == "waiting_approval"
            wire.calls = [{**POKE, "what": "something else"}]
            assert (await turn(workspace, user, row)).outcome == "waiting_approval"
            for each in await workspace.approvals.listed(user, decided=False):
                await workspace.approvals.decide(user, each.id, "refused")
            assert (await turn(workspace, user, row)).outcome == "waiting_approval"
            assert poke.ran == []
            wire.calls = [dict(reversed(POKE.items()))]
            assert (await turn(workspace, user, row)).outcome == "finished", "the order of arguments is none"
            assert poke.ran == [POKE]

    asyncio.run(story())


def test_the_same_call_is_asked_for_once_and_twice_at_once_made_once(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        poke = Poke()
        models = PlayedModels(CallingWire(POKE, POKE))
        async with workspace_on(database_url, tmp_path, models, bench=with_poke(models, poke)) as (workspace, user):
            row = await workspace.create(user, "", "en")
            assert (await turn(workspace, user, row)).approvals == 1
            await turn(workspace, user, row)
            (waiting,) = await workspace.approvals.listed(user, decided=False)
            await workspace.approvals.decide(user, waiting.id, "approved")
            assert (await turn(workspace, user, row)).outcome == "waiting_approval"
            assert poke.ran == [POKE]

    asyncio.run(story())


def test_of_two_who_decide_at_once_one_is_told_that_it_was_decided(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        models = PlayedModels(CallingWire(POKE))
        async with workspace_on(database_url, tmp_path, models, bench=with_poke(models, Poke())) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await turn(workspace, user, row)
            admin = await person(workspace, "admin")
            (waiting,) = await workspace.approvals.listed(admin, decided=False)
            queue = workspace.approvals
            both = await asyncio.gather(
                *(queue.decide(user, waiting.id, "approved"), queue.decide(admin, waiting.id, "refused")),
                return_exceptions=True,
            )
            assert sum(isinstance(each, AlreadyDecided) for each in both) == 1
            assert len(await events_of(workspace, row, CallDecided)) == 1

    asyncio.run(story())


def test_who_has_not_the_right_sees_their_own_and_decides_nothing(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        models = PlayedModels(CallingWire(POKE))
        async with workspace_on(database_url, tmp_path, models, bench=with_poke(models, Poke())) as (workspace, owner):
            plain = await person(workspace, "user")
            await turn(workspace, owner, await workspace.create(owner, "", "en"))
            await turn(workspace, plain, await workspace.create(plain, "", "en"))
            queue = workspace.approvals
            (own,) = await queue.listed(plain, decided=False)
            assert (own.owner_id, await queue.count(plain), await queue.count(owner)) == (plain.id, 1, 2)
            with pytest.raises(NotAllowed):
                await queue.decide(plain, own.id, "approved")
            (foreign,) = [each for each in await queue.listed(owner, decided=False) if each.owner_id == owner.id]
            with pytest.raises(NotYours):
                await queue.decide(plain, foreign.id, "approved")
            assert (await queue.decide(owner, own.id, "approved")).status == "approved"

    asyncio.run(story())


def test_a_program_is_asked_alike(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        program = Program()
        models = ProgramModels(program)
        async with workspace_on(database_url, tmp_path, models, bench=with_poke(models, Poke())) as (workspace, user):
            row = await workspace.create(user, "", "en")
            ended = await turn(workspace, user, row)
            assert (ended.outcome, ended.approvals, program.ran) == ("waiting_approval", 1, 0)
            assert "somebody must approve it first" in program.told[0].reason
            (waiting,) = await workspace.approvals.listed(user, decided=False)
            await workspace.approvals.decide(user, waiting.id, "approved")
            assert [(await turn(workspace, user, row)).outcome for _ in range(2)] == ["finished", "waiting_approval"]
            assert program.ran == 1

    asyncio.run(story())


def test_a_call_that_is_known_in_part_cannot_be_approved_for_later(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        models = ProgramModels(Program(is_whole=False))
        async with workspace_on(database_url, tmp_path, models, bench=with_poke(models, Poke())) as (workspace, user):
            row = await workspace.create(user, "", "en")
            assert (await turn(workspace, user, row)).outcome == "finished"
            (queued,) = await events_of(workspace, row, CallQueued)
            assert (queued.ticket, queued.name) == ("", "Poke")
            assert await workspace.approvals.listed(user, decided=False) == []

    asyncio.run(story())


def test_what_was_used_for_a_call_that_was_never_made_is_given_back(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        models = PlayedModels(CallingWire(POKE))
        async with workspace_on(database_url, tmp_path, models, bench=with_poke(models, Poke())) as (workspace, user):
            row = await workspace.create(user, "", "en")
            await turn(workspace, user, row)
            queue = workspace.approvals
            (waiting,) = await queue.listed(user, decided=False)
            await queue.decide(user, waiting.id, "approved")
            await queue.take_back(Settled(used=waiting.id))
            assert (await queue.one(user, waiting.id)).status == "approved", "only what was used is given back"
            digest = digest_of(tmp_path / "workspaces" / row.id, "Poke", POKE)
            write = database_of(workspace).write
            assert await write(lambda c: approvals.claim(c, row.id, digest)) == waiting.id
            await queue.take_back(Settled(used=waiting.id))
            claims = [write(lambda c: approvals.claim(c, row.id, digest)) for _ in range(20)]
            assert [each for each in await asyncio.gather(*claims) if each] == [waiting.id], "of twenty at once, one"

    asyncio.run(story())


@pytest.mark.parametrize(
    "other",
    [
        pytest.param((Path("/a"), "Bash", {"command": "ls"}), id="the tool"),
        pytest.param((Path("/a"), "Poke", {"command": "ls "}), id="an argument"),
        pytest.param((Path("/b"), "Poke", {"command": "ls"}), id="the folder"),
        pytest.param((Path("/a"), "Poke", {"command": ["ls"]}), id="its type"),
        pytest.param((Path("/a"), "Poke", {"command": "ls", "timeout": None}), id="one more"),
    ],
)
def test_a_call_is_another_one_when_anything_of_it_is(other: tuple[Path, str, JsonObject]) -> None:
    assert digest_of(*other) != digest_of(Path("/a"), "Poke", {"command": "ls"})


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["place", "approve", "refuse", "claim", "give back"]), st.integers(0, 1), st.integers(0, 1)
    ),
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(ACTS)
def test_no_order_of_acts_allows_a_call_more_often_than_it_was_approved(acts: list[tuple[str, int, int]]) -> None:
    with TemporaryDirectory() as folder:
        opened = Database(address_of(None, Path(folder)))
        try:
            _play(opened, acts)
        finally:
            opened.close()


def _play(opened: Database, acts: list[tuple[str, int, int]]) -> None:
    from maia.database.conversations import add_conversation

    def write(work: Callable[[Any], Any]) -> Any:
        return opened.write_soon(work).result()

    user = write(lambda c: users.add_user(c, "a@example.org", "A", "owner", "h", None))
    rooms = [write(lambda c: add_conversation(c, user.id, "", "en")) for _ in range(2)]
    approved, used, tickets = dict[Any, int](), dict[Any, int](), dict[str, Any]()
    held: list[str] = []
    for act, room, call in acts:
        which = (rooms[room], f"digest {call}")
        asked = approvals.Asked(rooms[room], 1, "c", "Poke", {}, which[1], "", {"key": "k", "values": {}})
        mine = [ticket for ticket, of in tickets.items() if of == which]
        match act:
            case "place":
                tickets[write(lambda c, a=asked: approvals.place(c, a))] = which
            case "approve" | "refuse" if mine:
                verdict: Verdict | Any = "approved" if act == "approve" else "refused"
                done = write(lambda c, m=mine, v=verdict: approvals.decide(c, m[-1], v, user.id))
                approved[which] = approved.get(which, 0) + (done and act == "approve")
            case "claim":
                got = write(lambda c, w=which: approvals.claim(c, *w))
                if got:
                    held.append(got)
                    used[which] = used.get(which, 0) + 1
            case "give back" if held:
                back = held.pop()
                write(lambda c, b=back: approvals.give_back(c, b))
                used[tickets[back]] -= 1
            case _:
                pass
        assert all(used[each] <= approved.get(each, 0) for each in used)
