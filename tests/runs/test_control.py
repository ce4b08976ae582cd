from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.errors import MaiaError, RunProblem, SessionProblem
from maia.core.jsonvalue import JsonObject
from maia.core.runs import RunWish
from maia.runs import host as host_room
from maia.runs.control import Line, dump_line, dump_problem, load_line, load_problem
from maia.runs.host import HostDoor
from maia.runs.hostplace import is_own_user
from tests.runs.doubles import ScriptedTalk, ended, host_of

WORD = "open sesame"
Talker = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.none()))
def test_a_message_is_one_line_and_comes_back(message: JsonObject) -> None:
    line = dump_line(message)
    assert line.count(b"\n") == 1
    if line.isascii():
        assert load_line(line) == message


@given(st.binary(max_size=80))
def test_no_bytes_break_the_reader_of_messages(data: bytes) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(load_line(data), dict)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (dump_problem(SessionProblem("session.unknown", name="x")), SessionProblem),
        ({"kind": "SomethingNewer", "key": "k"}, MaiaError),
        ({"kind": "ModelFailed", "key": "k", "values": {}}, MaiaError),
        ({"kind": "__builtins__", "key": "k"}, MaiaError),
        ({"kind": 5, "key": "k", "values": {"path": "/x"}}, MaiaError),
    ],
)
def test_an_error_of_the_host_is_the_same_error_at_the_front(data: JsonObject, kind: type[MaiaError]) -> None:
    problem = load_problem(data)
    assert (type(problem), problem.key, problem.values) == (kind, data["key"], data.get("values", {}))


def test_values_that_json_does_not_hold_travel_as_text() -> None:
    data = dump_problem(RunProblem("runs.store", folder=Path("/x"), problem=None, n=3))
    assert json.loads(json.dumps(data))["values"] == {"folder": "/x", "problem": None, "n": 3}


def with_door(tmp_path: Path, talk: Talker, *talks: ScriptedTalk) -> None:
    """A host's door at a socket, and somebody who talks to it."""

    async def work() -> None:
        stop = asyncio.Event()
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        listening.setblocking(False)
        door = HostDoor(host_of(tmp_path, *talks), WORD)
        serving = asyncio.create_task(door.serve(listening, stop, 600))
        try:
            async with asyncio.timeout(60):
                reader, writer = await asyncio.open_unix_connection(str(tmp_path / "s"), limit=1 << 24)
                try:
                    await talk(reader, writer)
                finally:
                    writer.close()
        finally:
            stop.set()
            await serving

    asyncio.run(work())


@pytest.mark.parametrize(
    "said",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x00\xff\n",
        b"[]\n",
        b'{"id": 1, "op": "info", "run": "x"}\n',
        b'{"id": 1, "word": "wrong", "op": "info", "run": "x"}\n',
        b'{"id": 1, "word": ["open sesame"], "op": "info", "run": "x"}\n',
        b"x" * 17_000_000 + b"\n",
    ],
    ids=["http", "bytes", "a list", "no word", "a wrong word", "a list as a word", "a line that is too long"],
)
def test_whoever_does_not_show_the_word_is_shut_out_without_an_answer(tmp_path: Path, said: bytes) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        with contextlib.suppress(ConnectionResetError):  # shut while it was still talking
            assert await reader.read() == b""

    with_door(tmp_path, talk)


def test_another_user_is_shut_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(_connection: object) -> bool:
        return False

    monkeypatch.setattr(host_room, "is_own_user", nobody)

    async def talk(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        assert await reader.read() == b""

    with_door(tmp_path, talk)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere the folder's mode keeps others out")
def test_whose_connection_it_is_is_asked_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = socket.socketpair()
    with here, there:
        assert is_own_user(here)
        mine = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: mine + 1)
        assert not is_own_user(here)


@pytest.mark.parametrize(
    "request_",
    [
        {"op": "dance"},
        {},
        {"op": "start"},
        {"op": "start", "wish": {"task": 5}},
        {"op": "start", "wish": None},
        {"op": "answer", "run": "x", "approval": "y", "answer": {"scope": "maybe"}},
    ],
    ids=str,
)
def test_what_is_no_request_is_an_answer_with_the_reason_and_the_next_one_is_taken(
    tmp_path: Path, request_: JsonObject
) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(dump_line({"id": 7, "word": WORD, **request_}))
        answer = load_line(await reader.readline())
        assert (answer["id"], answer["problem"]["key"]) == (7, "runs.bad_request")
        writer.write(dump_line({"id": 8, "word": WORD, "op": "start", "wish": {"task": "x"}}))
        assert load_line(await reader.readline())["value"]["state"] == "queued"

    with_door(tmp_path, talk, ScriptedTalk([ended()]))


def test_a_defect_is_told_and_the_next_request_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            writer.write(dump_line({"id": 7, "word": WORD, "op": "start", "wish": {"task": "no talk is left"}}))
            problem = load_line(await reader.readline())["problem"]
            assert (problem["kind"], problem["key"]) == ("RunProblem", "runs.defect")

    with_door(tmp_path, talk)
    assert "IndexError" in capsys.readouterr().err


def test_many_ask_at_once_and_each_gets_its_own_answer(tmp_path: Path) -> None:
    slow = ScriptedTalk([])
    slow.script = [slow.wait]

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = Line(reader, writer, WORD)
        started = await asyncio.gather(*(line.ask("start", wish={"task": f"{n}"}) for n in range(3)))
        assert [info["task"] for info in started] == ["0", "1", "2"]
        stopped, info = await asyncio.gather(
            line.ask("stop", run=started[0]["runId"]), line.ask("info", run=started[2]["runId"])
        )
        assert (stopped["outcome"], info["runId"]) == ("stopped", started[2]["runId"])
        with pytest.raises(RunProblem, match=r"runs\.unknown"):
            await line.ask("stop", run="run-x")
        await line.aclose()
        with pytest.raises(RunProblem, match=r"runs\.host_gone"):
            await line.ask("info", run="x")

    with_door(tmp_path, talk, slow, ScriptedTalk([ended()]), ScriptedTalk([ended()]))


@pytest.mark.parametrize(("answer", "key"), [(b"", "host_gone"), (b"garbage\n", "host_gone"), (None, "host_silent")])
def test_a_host_that_breaks_off_or_stays_silent_is_an_error(answer: bytes | None, key: str) -> None:
    async def work() -> None:
        ours, theirs = socket.socketpair()
        line = await Line.over(ours, WORD)
        reader, writer = await asyncio.open_unix_connection(sock=theirs)
        asking = asyncio.create_task(line.ask("info", 0.3, run="x"))
        await reader.readline()
        if answer is not None:
            writer.write(answer)
            writer.close()
        with pytest.raises(RunProblem, match=key):
            await asking
        await line.aclose()
        writer.close()

    asyncio.run(work())


def test_a_wish_that_is_too_long_is_not_sent() -> None:
    async def work() -> None:
        ours, theirs = socket.socketpair()
        line = await Line.over(ours, WORD)
        with pytest.raises(RunProblem, match=r"runs\.too_long"):
            await line.ask("start", wish={"task": RunWish("x" * 17_000_000).task})
        await line.aclose()
        theirs.close()

    asyncio.run(work())
