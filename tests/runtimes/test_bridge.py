"""Tools of ours in the hands of a program: lent over the bridge, one row a call, the same gate, gone with the turn."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from maia.core.errors import ToolProblem
from maia.core.events import (
    Answered,
    ApprovalRequested,
    Event,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnEnded,
)
from maia.core.jsonvalue import JsonObject
from maia.core.messages import TextPart, ToolCallPart
from maia.core.permission import Answer, Need, Verdict
from maia.core.requests import ToolSpec
from maia.core.results import ToolResult
from maia.core.runtime import Desk, Permit, ProgramCall, ProgramEvent, ProgramResult, ProgramTask
from maia.runtimes.bridge import Bridge
from maia.runtimes.bridged import BridgedDesk
from maia.runtimes.lending import VERSIONS, Lending
from maia.runtimes.names import Told, lent_name
from maia.runtimes.programs import Speaks
from maia.sandbox.places import Places
from maia.sandbox.wall import WallFound, find_wall
from tests.engine.doubles import FakeJudge, FakeTool, play
from tests.runtimes.doubles import DIALECTS, names, opened, runtime, talk

ONE: list[tuple[str, JsonObject]] = [("memory_search", {"path": "harbour"})]
WALLS: dict[str, Callable[[str], str | None]] = {"bubblewrap": shutil.which, "landlock": lambda _name: None}

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def memory(words: str = "found it", **more: Any) -> FakeTool:
    return FakeTool("MemorySearch", lambda _args, _hands: words, **more)


def asks(folder: Path, calls: list[tuple[str, JsonObject]]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "calls.json").write_text(json.dumps(calls))


async def play_lent(
    folder: Path,
    speaks: Speaks,
    *tools: FakeTool,
    scenario: str = "lent",
    calls: list[tuple[str, JsonObject]] = ONE,
    judge: FakeJudge | None = None,
    answers: Callable[[Event], Answer | None] = lambda _event: None,
    stop_at: Callable[[Event], bool] = lambda _event: False,
    wall: Any = None,
    **limits: int,
) -> list[Event]:
    asks(folder, calls)
    allowed = judge or FakeJudge(MemorySearch=Verdict.ALLOW)
    conversation = await opened(talk(folder, runtime(folder, speaks, scenario, wall=wall), allowed, *tools, **limits))
    try:
        return await play(conversation, "Do it", answers, stop_at)
    finally:
        await conversation.close()


def lent(folder: Path, speaks: Speaks, *tools: FakeTool, **more: Any) -> list[Event]:
    """One turn of the scripted program, which is lent these tools and calls what `calls` says."""
    return asyncio.run(play_lent(folder, speaks, *tools, **more))


def rows(events: list[Event]) -> list[tuple[str, str, str]]:
    return [(each.name, each.status, each.text) for each in events if isinstance(each, ToolCallFinished)]


def said(events: list[Event]) -> str:
    parts = [part for each in events if isinstance(each, Answered) for part in each.message.parts]
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def outcome(events: list[Event]) -> str:
    assert isinstance(events[-1], TurnEnded)
    return events[-1].outcome


@pytest.mark.parametrize("speaks", DIALECTS)
def test_a_program_calls_a_tool_that_it_is_lent_and_it_is_one_row(tmp_path: Path, speaks: Speaks) -> None:
    tool = memory()
    events = lent(tmp_path, speaks, tool, FakeTool("Read"), FakeTool("Bash"))
    assert names(events) == [
        *("TurnStarted", "UserSaid", "StepStarted", "Answered", "ToolCallStarted", "ToolCallFinished"),
        *("StepStarted", "Answered", "TurnEnded"),
    ]
    assert rows(events) == [("MemorySearch", "succeeded", "found it")]
    ended = next(each for each in events if isinstance(each, ToolCallFinished))
    assert ended.data == {"ownName": "mcp__maia__memory_search"}
    started = next(each for each in events if isinstance(each, ToolCallStarted))
    assert (started.arguments, started.preview, tool.ran) == ({"path": "harbour"}, "harbour", [{"path": "harbour"}])
    assert said(events).split("<")[0].rstrip() == "I have memory_search.", "no tool that it has itself"
    assert "<found it>" in said(events)
    assert not any(each.exists() for each in Path("/tmp").glob(f"{_socket(tmp_path)}*")), "the place is gone"


def _socket(folder: Path) -> str:
    return Path(json.loads((folder / "server.json").read_text())[0][-1]).parent.name


@pytest.mark.parametrize("speaks", DIALECTS)
def test_a_call_that_the_program_does_not_tell_of_is_a_row_all_the_same(
    tmp_path: Path, speaks: Speaks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("maia.runtimes.bridged._ANNOUNCED_SECONDS", 0.05)
    events = lent(tmp_path, speaks, memory(), scenario="lent_quietly")
    assert rows(events) == [("MemorySearch", "succeeded", "found it")]


@pytest.mark.parametrize("speaks", DIALECTS)
def test_when_the_bridge_dies_in_mid_turn_the_call_is_told_as_failed_and_the_turn_goes_on(
    tmp_path: Path, speaks: Speaks
) -> None:
    tool = memory()
    events = lent(tmp_path, speaks, tool, scenario="lent_dead")
    assert [each[:2] for each in rows(events)] == [("memory_search", "failed")]
    assert (tool.ran, outcome(events)) == ([], "finished")


@pytest.mark.parametrize(
    ("by", "status"), [("a rule", "refused"), ("a person", "refused"), ("nobody, since it may", "succeeded")]
)
def test_a_lent_tool_passes_the_same_gate(tmp_path: Path, by: str, status: str) -> None:
    verdict = {"a rule": Verdict.DENY, "a person": Verdict.ASK}.get(by, Verdict.ALLOW)
    tool = memory()
    judge = FakeJudge(MemorySearch=verdict)
    events = lent(tmp_path, "claude-code", tool, judge=judge, answers=lambda _event: Answer("no", "not today"))
    assert [each[:2] for each in rows(events)] == [("MemorySearch", status)]
    questions = [each.name for each in events if isinstance(each, ApprovalRequested)]
    assert questions == (["MemorySearch"] if by == "a person" else [])
    assert bool(tool.ran) == (status == "succeeded")
    assert f"<{rows(events)[0][2]}>" in said(events), "the program is told why"


@pytest.mark.parametrize("speaks", DIALECTS)
def test_a_result_that_comes_later_is_no_error_for_the_program(tmp_path: Path, speaks: Speaks) -> None:
    tool = FakeTool("MemorySearch", lambda *_: ToolResult("Later.", is_pending=True))
    assert rows(lent(tmp_path, speaks, tool)) == [("MemorySearch", "pending", "Later.")]
    assert json.loads((tmp_path / "answers.json").read_text()) == [[True, "Later."]]


def test_another_tool_than_those_that_are_lent_is_none(tmp_path: Path) -> None:
    shell = FakeTool("Bash")
    calls: list[tuple[str, JsonObject]] = [("Bash", {"command": "true"}), ("bash", {}), ("memory_search", {"bad": 1})]
    events = lent(tmp_path, "acp", memory(), shell, calls=calls, scenario="lent_quietly")
    assert [each[1] for each in rows(events)] == ["refused", "refused", "failed"]
    assert shell.ran == []


def test_a_budget_of_calls_counts_lent_tools_too(tmp_path: Path) -> None:
    events = lent(tmp_path, "acp", memory(), calls=ONE * 3, max_tool_calls=2)
    assert [each[1] for each in rows(events)][:2] == ["succeeded", "succeeded"]
    assert outcome(events) == "tool_budget"


def test_without_tools_to_lend_nothing_is_opened(tmp_path: Path) -> None:
    events = lent(tmp_path, "acp", FakeTool("Read"), FakeTool("Bash"), scenario="text")
    assert (outcome(events), (tmp_path / "server.json").exists()) == ("finished", False)


def test_a_stopped_turn_ends_the_call_and_nothing_is_left(tmp_path: Path) -> None:
    async def for_ever(_args: JsonObject, _hands: Any) -> str:
        await asyncio.Event().wait()
        raise AssertionError

    tool = FakeTool("MemorySearch", for_ever)
    events = lent(tmp_path, "acp", tool, stop_at=lambda event: isinstance(event, ToolCallStarted))
    assert (outcome(events), [each[1] for each in rows(events)]) == ("stopped", ["unknown"])
    assert not any(Path("/tmp").glob(f"{_socket(tmp_path)}*"))


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("network", [True, False], ids=["with network", "without network"])
def test_the_bridge_stands_in_the_wall_with_the_network_off_too(tmp_path: Path, wall: str, network: bool) -> None:
    found = find_wall("auto", Places(tmp_path, tmp_path / "person", network=network), which=WALLS[wall])
    if found.wall is None or found.wall.name != wall:
        pytest.skip(f"{wall} does not work here")
    events = lent(tmp_path, "acp", memory(), wall=lambda _home: found)
    assert rows(events) == [("MemorySearch", "succeeded", "found it")]


# Whose word opens what ----------------------------------------------------------------------------------------------


def knock(server: tuple[list[str], dict[str, str]]) -> str:
    """What a process gets that brings a server's word: its tools, or nothing."""
    argv, env = server
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, env={**os.environ, **env}, stdin=pipe, stdout=pipe, text=True) as line:
        assert line.stdin is not None
        assert line.stdout is not None
        line.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}) + "\n")
        with contextlib.suppress(OSError):
            line.stdin.flush()
        return line.stdout.readline()


def told(bridge: Bridge, desk: Any = None) -> tuple[list[str], dict[str, str]]:
    server = bridge.begin(desk)
    return [*server.argv], {name: secret.reveal() for name, secret in server.env.items()}


def test_a_word_opens_its_own_bridge_for_its_own_turn_alone() -> None:
    async def story() -> None:
        mine, other = Bridge([ToolSpec("mine", "", {})]), Bridge([ToolSpec("other", "", {})])
        await mine.listen()
        await other.listen()
        try:
            (argv, env), (other_argv, other_env) = told(mine), told(other)
            assert '"mine"' in await asyncio.to_thread(knock, (argv, env))
            assert '"other"' in await asyncio.to_thread(knock, (other_argv, other_env))
            assert await asyncio.to_thread(knock, (argv, other_env)) == "", "of two turns at once"
            assert await asyncio.to_thread(knock, (argv, {})) == ""
            await mine.end()
            assert await asyncio.to_thread(knock, (argv, env)) == "", "stolen, and brought after the turn"
            _, again = told(mine)
            assert again != env
            assert await asyncio.to_thread(knock, (argv, env)) == "", "the word of the turn before"
            await mine.close()
            assert await asyncio.to_thread(knock, (argv, again)) == ""
        finally:
            await mine.close()
            await other.close()

    asyncio.run(story())


def test_who_is_still_connected_after_the_turn_gets_nothing() -> None:
    class Desk:
        used = 0

        async def use(self, name: str, arguments: JsonObject, own: str = "") -> ToolResult:
            self.used += 1
            return ToolResult(f"{name} {arguments} {own}")

    async def story() -> None:
        bridge, desk = Bridge([ToolSpec("mine", "", {})]), Desk()
        await bridge.listen()
        try:
            argv, env = told(bridge, desk)
            line = await asyncio.create_subprocess_exec(
                *argv, env={**os.environ, **env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            assert line.stdin is not None
            assert line.stdout is not None
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "mine"}}
            answers: list[Any] = []
            for _ in range(2):
                line.stdin.write(json.dumps(call).encode() + b"\n")
                answers.append(json.loads(await line.stdout.readline())["result"]["isError"])
                await bridge.end()
            assert (answers, desk.used) == ([False, True], 1)
            line.stdin.close()
            await line.wait()
        finally:
            await bridge.close()

    asyncio.run(story())


async def test_who_puts_a_socket_in_the_place_of_another_learns_no_word_and_is_not_let_in() -> None:
    bridge = Bridge([ToolSpec("mine", "", {})])
    await bridge.listen()
    argv, env = told(bridge)
    real, greetings, answers = f"{argv[-1]}-moved", list[bytes](), list[bytes]()

    async def between(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        greetings.append(await reader.readline())
        inside, through = await asyncio.open_unix_connection(real)
        through.write(greetings[-1])
        answers.append(await inside.read(64))
        through.close()
        writer.write(b"0" * 64)
        writer.close()

    try:
        os.rename(argv[-1], real)
        async with await asyncio.start_unix_server(between, argv[-1]):
            assert await asyncio.to_thread(knock, (argv, env)) == "", "who cannot prove that it knows the word"
        assert answers == [b""], "no process that was started with the word"
        assert env["MAIA_BRIDGE"].encode() not in greetings[0]
        os.rename(real, argv[-1])
        assert '"mine"' in await asyncio.to_thread(knock, (argv, env))
    finally:
        await bridge.close()


async def test_a_program_that_floods_its_bridge_waits_for_its_own_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maia.runtimes.bridge._MOST_CALLS", 3)
    going, most, three, go_on = 0, 0, asyncio.Event(), asyncio.Event()

    class Slow:
        async def use(self, *_call: object) -> ToolResult:
            nonlocal going, most
            going += 1
            most = max(most, going)
            if going == 3:
                three.set()
            await go_on.wait()
            going -= 1
            return ToolResult("done")

    bridge = Bridge([ToolSpec("mine", "", {})])
    await bridge.listen()
    try:
        argv, env = told(bridge, cast(Desk, Slow()))
        pipe = subprocess.PIPE
        relay = await asyncio.create_subprocess_exec(*argv, env={**os.environ, **env}, stdin=pipe, stdout=pipe)
        reader, writer = cast(asyncio.StreamReader, relay.stdout), cast(asyncio.StreamWriter, relay.stdin)
        call = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "mine"}}
        for number in range(20):
            writer.write(json.dumps({**call, "id": number}).encode() + b"\n")
        await writer.drain()
        await three.wait()
        go_on.set()
        answered = {json.loads(await reader.readline())["id"] for _ in range(20)}
        assert (answered, most) == (set(range(20)), 3)
        writer.close()
        await relay.wait()
    finally:
        await bridge.close()


def test_a_call_that_takes_long_says_that_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maia.runtimes.bridge._TICK_SECONDS", 0.01)

    class Slow:
        async def use(self, name: str, arguments: JsonObject, own: str = "") -> ToolResult:
            await asyncio.sleep(0.2)
            return ToolResult(f"{name} {arguments} {own}")

    async def story() -> list[JsonObject]:
        bridge, desk = Bridge([ToolSpec("mine", "", {})]), cast(Desk, Slow())
        await bridge.listen()
        try:
            argv, env = told(bridge, desk)
            pipe = subprocess.PIPE
            relay = await asyncio.create_subprocess_exec(*argv, env={**os.environ, **env}, stdin=pipe, stdout=pipe)
            reader, writer = cast(asyncio.StreamReader, relay.stdout), cast(asyncio.StreamWriter, relay.stdin)
            params = {"name": "mine", "_meta": {"progressToken": "p1"}}
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            writer.write(f"{json.dumps(call)}\n".encode())
            lines = [json.loads(await reader.readline()) for _ in range(2)]
            while "result" not in lines[-1]:
                lines.append(json.loads(await reader.readline()))
            writer.close()
            await relay.wait()
            return lines
        finally:
            await bridge.close()

    lines: list[Any] = asyncio.run(story())
    assert lines[0]["params"] == {"progressToken": "p1", "progress": 1}
    assert {each["method"] for each in lines[:-1]} == {"notifications/progress"}


def test_what_a_killed_maia_left_is_taken_away_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = Path(tempfile.mkdtemp(dir="/tmp"))
    monkeypatch.setattr("tempfile.tempdir", str(base))
    dead, fresh, alive, other = (base / f"maia-bridge-{each}" for each in ("dead", "fresh", "alive", "other"))
    for folder in (dead, fresh, alive):
        folder.mkdir()
    other.write_text("a file")
    for folder in (dead, fresh):
        with socket.socket(socket.AF_UNIX) as line:
            line.bind(str(folder / "socket"))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(alive / "socket"))
        listening.listen()
        for folder in (dead, alive):
            os.utime(folder, (0, 0))

        async def story() -> None:
            bridge = Bridge([])
            await bridge.listen()
            await bridge.close()

        asyncio.run(story())
        left = {each.name.rpartition("-")[2] for each in base.iterdir()}
        assert left == {"alive", "fresh", "other"}
    shutil.rmtree(base)


def test_two_turns_at_once_each_reach_their_own_tools(tmp_path: Path) -> None:
    async def story() -> list[list[Event]]:
        turns = (play_lent(tmp_path / word, "acp", memory(f"{word}'s own")) for word in ("one", "two"))
        return await asyncio.gather(*turns)

    (tmp_path / "one").mkdir()
    first, second = asyncio.run(story())
    assert (rows(first)[0][2], rows(second)[0][2]) == ("one's own", "two's own")


# The try before a turn ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("why", ["no wall", "no relay", "another answer"])
def test_where_the_try_fails_the_program_is_lent_nothing_and_answers(
    tmp_path: Path, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why == "no relay":
        monkeypatch.setattr("maia.runtimes.bridge._RELAY", tmp_path / "nowhere.py")
    elif why == "another answer":
        monkeypatch.setattr("maia.runtimes.lending._shown", lambda _spec: {"name": "another"})  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType] - of whatever tool

    def no_wall() -> Iterator[WallFound]:
        yield WallFound(None)  # for the try; the program itself is started
        found = find_wall("auto", Places(tmp_path, tmp_path))
        while True:
            yield found

    walls = no_wall()
    events = lent(
        tmp_path, "acp", memory(), scenario="text", wall=(lambda _home: next(walls)) if why == "no wall" else None
    )
    if why == "no wall" and outcome(events) == "failed":
        pytest.skip("no wall works here")
    assert (outcome(events), rows(events)) == ("finished", [])


async def test_what_is_open_stays_open_and_other_tools_are_another_bridge(tmp_path: Path) -> None:
    program = runtime(tmp_path, "acp", "text")
    one, two = [ToolSpec("one", "", {})], [ToolSpec("two", "", {})]
    try:
        assert await program.open(one)
        began = time.process_time()
        assert await program.open(one)
        assert time.process_time() - began < 0.05, "nothing is started again"
        assert await program.open(two)
        assert not await program.open([])
    finally:
        await program.aclose()


# Pure parts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told_of", "name"),
    [
        pytest.param(Told("1", "mcp__maia__memory_search"), "memory_search", id="Claude Code, Codex"),
        pytest.param(Told("1", kind="other", title="mcp__maia__memory_search"), "memory_search", id="Kimi"),
        pytest.param(Told("1", kind="other", title="maia_memory_search"), "memory_search", id="OpenCode"),
        pytest.param(
            Told("1", kind="other", title="memory_search (maia MCP Server)"), "memory_search", id="Gemini, Qwen"
        ),
        pytest.param(Told("1", title="Tool: maia/memory_search"), "memory_search", id="codex-acp"),
        pytest.param(Told("1", kind="execute", title="maia_memory_search"), "", id="a command of that name"),
        pytest.param(Told("1", kind="read", title="maia/memory_search"), "", id="a file of that name"),
        pytest.param(Told("1", "Bash", title="maia_memory_search; rm -rf ~"), "", id="more than the name"),
        pytest.param(Told("1", "Shell", title="maia_memory_search"), "", id="a title beside another name"),
        pytest.param(Told("1", "mcp__other__memory_search"), "", id="of another server"),
        pytest.param(Told("1", "memory_search"), "", id="a tool of its own"),
    ],
)
def test_a_lent_tool_is_known_by_the_names_that_programs_give_it(told_of: Told, name: str) -> None:
    assert lent_name(told_of) == name


class PlainDesk:
    """Keeps what it is told, allows nothing, and answers each call."""

    def __init__(self) -> None:
        self.events: list[ProgramEvent] = []

    def tell(self, event: ProgramEvent) -> None:
        self.events.append(event)

    async def permit(self, call: ProgramCall) -> Permit:
        return Permit(False, call.call.name)

    async def use(self, name: str, arguments: JsonObject, own: str = "") -> ToolResult:
        self.events.append(ProgramResult(name, True, f"{arguments} {own}"))
        return ToolResult("came")


async def test_of_two_calls_alike_only_the_one_that_never_came_is_told() -> None:
    plain = PlainDesk()
    desk = BridgedDesk(plain, frozenset({"find"}))
    calls = [
        ProgramCall(ToolCallPart(each, "find", {}), (Need("find", "none"),), lent="find", own="mcp_find")
        for each in "ab"
    ]
    for call in calls:
        assert await desk.permit(call) == Permit(True)
        desk.tell(call)
    await desk.use("find", {})
    desk.tell(ProgramResult("a", True, "came"))
    desk.tell(ProgramResult("b", False, "the server is gone"))
    shown = calls[1]
    lost = ProgramResult("b", False, "the server is gone")
    assert plain.events == [ProgramResult("find", True, "{} mcp_find"), shown, lost]
    stranger = ProgramCall(ToolCallPart("c", "other", {}), (), lent="other")
    assert await desk.permit(stranger) == Permit(False, "other"), "a tool that is not lent is asked about"


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        pytest.param({"id": 1, "method": "ping"}, {"result": {}}, id="ping"),
        pytest.param({"method": "notifications/initialized"}, None, id="a notification"),
        pytest.param({"id": 1, "result": {}}, None, id="an answer to nothing"),
        pytest.param(
            {"id": 1, "method": "resources/list"},
            {"error": {"code": -32601, "message": "resources/list is not supported"}},
            id="what there is not",
        ),
        pytest.param(
            {"id": 1, "method": "tools/call", "params": {"name": "find", "arguments": {"a": 1}}},
            {"result": {"content": [{"type": "text", "text": "find {'a': 1}"}], "isError": False}},
            id="a call",
        ),
        pytest.param(
            {"id": 1, "method": "tools/call", "params": []},
            {"result": {"content": [{"type": "text", "text": " {}"}], "isError": True}},
            id="a call of nothing",
        ),
    ],
)
async def test_the_protocol_is_answered(asked: JsonObject, answer: JsonObject | None) -> None:
    async def use(name: str, arguments: JsonObject) -> ToolResult:
        return ToolResult(f"{name} {arguments}", is_error=not name)

    given = await Lending([ToolSpec("find", "Finds.", {"type": "object"})], use).answer(asked)
    assert given == (None if answer is None else {"jsonrpc": "2.0", "id": 1, **answer})


@pytest.mark.parametrize(("wanted", "spoken"), [(each, each) for each in VERSIONS] + [("1999-01-01", VERSIONS[0])])
async def test_the_version_that_is_asked_for_is_spoken_where_it_is_known(wanted: str, spoken: str) -> None:
    async def use(_name: str, _arguments: JsonObject) -> ToolResult:
        raise ToolProblem("turn.refused")

    greeting = {"id": 1, "method": "initialize", "params": {"protocolVersion": wanted}}
    answer: Any = await Lending([], use).answer(greeting)
    assert answer["result"]["protocolVersion"] == spoken


@pytest.mark.parametrize(
    ("scenario", "takes", "way"),
    [("resumed", False, "message"), ("resumed", True, "unverified"), ("confirms", True, "verified")],
)
async def test_how_instructions_went_is_as_the_driver_saw_it(
    tmp_path: Path, scenario: str, takes: bool, way: str
) -> None:
    plain, program = PlainDesk(), runtime(tmp_path, "acp", scenario, takes_instructions=takes)
    try:
        end = await program.turn(ProgramTask("Do it", tmp_path, 0, instructions="Be brief"), plain)
    finally:
        await program.aclose()
    said = "".join(each.text for each in plain.events if isinstance(each, TextDelta))
    assert (end.outcome, end.prompt) == ("finished", way)
    assert said == ("Be brief\n\nDo it" if way == "message" else "Do it")
