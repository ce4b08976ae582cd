from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from maia.app import runs as app_runs
from maia.core.costs import Usage
from maia.core.errors import MaiaError, RunProblem, SessionProblem
from maia.core.events import (
    ApprovalRequested,
    Notice,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnEnded,
    TurnStarted,
)
from maia.core.permission import Answer
from maia.core.runs import RunInfo, RunNote, RunWish
from maia.runs.client import HostedRuns
from maia.sandbox.places import Places
from maia.sandbox.wall import find_wall
from maia.terminal.options import Options
from tests.fakes import FakeLlm, fake_llm
from tests.runs.hosted import Place, to_the_end, until, wait_for
from tests.runtimes.doubles import AGENT

Work = Callable[[HostedRuns], Coroutine[Any, Any, None]]


def with_front(place: Place, work: Work) -> None:
    async def run() -> None:
        async with place.front() as runs:
            await work(runs)

    asyncio.run(run())


def asks_for(command: str) -> dict[str, str]:
    return {"tool_name": "Bash", "tool_args": json.dumps({"command": command})}


def words_of(pid: int) -> list[str]:
    return Path("/proc", str(pid), "cmdline").read_bytes().decode().split("\0")


def is_running(mark: str) -> bool:
    """Whether a process with this word among its arguments lives."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark in words_of(int(name)):
                return True
        except OSError:
            continue
    return False


def test_a_run_is_begun_followed_and_told_and_its_host_ends_by_itself(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        began = await runs.start(RunWish("Say hello.", identity="me"))
        info, notes = await to_the_end(runs, began.run_id)
        assert (began.state, info.state, info.outcome) == ("queued", "ended", "finished")
        assert info == RunInfo(
            run_id=began.run_id,
            task="Say hello.",
            state="ended",
            started=info.started,
            ended=info.ended,
            runner="maia",
            model="fake-model",
            provider="litellm",
            folder=str(place.work),
            session=info.session,
            identity="me",
            outcome="finished",
            text="Hello from the fake model.",
            steps=1,
            usage=Usage(12, 3),
        )
        assert [note.seq for note in notes] == list(range(1, len(notes) + 1))
        assert isinstance(notes[-1].event, TurnEnded)
        assert (place.work / ".maia" / ".sessions" / f"{info.session}.jsonl").is_file()

    with fake_llm() as server:
        place.settings(server)
        with_front(place, work)
        wait_for(lambda: not place.hosts())
    assert list(place.runs_folder.glob(".hosts/*")) == []


def test_only_the_owner_reads_what_is_kept_and_no_file_holds_a_key(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-" + "a1b2c3d4" * 5
    monkeypatch.setenv("LITELLM_API_KEY", secret)

    async def work(runs: HostedRuns) -> None:
        began = await runs.start(RunWish("Say hello."))
        await to_the_end(runs, began.run_id)
        paths = [path for path in (place.runs_folder, *place.runs_folder.rglob("*")) if not path.is_socket()]
        modes = {path.relative_to(place.home).as_posix(): path.stat().st_mode & 0o077 for path in paths}
        assert set(modes.values()) == {0}, modes
        assert [path for path in paths if path.is_file() and secret in path.read_text("utf-8")] == []
        for pid in place.hosts():
            assert secret not in words_of(pid)

    with fake_llm() as server:
        place.settings(server)
        with_front(place, work)


def test_ten_runs_work_at_once_and_one_that_fails_leaves_the_others_alone(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        wishes = [RunWish(f"Task {n}") for n in range(9)]
        began = [await runs.start(wish) for wish in (*wishes, RunWish("Task 9", model="fake-overflow"))]
        done = await asyncio.gather(*(to_the_end(runs, each.run_id) for each in began))
        infos = [info for info, _ in done]
        assert [info.task for info in infos] == [f"Task {n}" for n in range(10)]
        assert [info.outcome for info in infos] == ["finished"] * 9 + ["failed"]
        assert infos[9].failure is not None
        assert infos[9].failure.kind == "too_long"
        asked = [next(n.time for n in notes if isinstance(n.event, TurnStarted)) for _, notes in done[:9]]
        assert max(asked) < min(info.ended or 0 for info in infos[:9]), "all were asked before one was answered"
        assert len({info.session for info in infos}) == 10, "no two share a session file"

    with fake_llm("slow", delay=1.5, models="fake-model,fake-overflow") as server:
        place.settings(server)
        with_front(place, work)


def test_what_cannot_begin_is_told_at_once_or_ends_failed_with_its_words(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        info, notes = await to_the_end(runs, (await runs.start(RunWish("hi", model="no-such-model"))).run_id)
        assert (info.state, info.outcome, info.session) == ("ended", "failed", "")
        assert info.problem is not None
        assert notes[-1].event == Notice("fail", info.problem.key, info.problem.values)
        refused: list[tuple[RunWish, type[MaiaError], str]] = [
            (RunWish("hi", folder="/"), RunProblem, "runs.folder"),
            (RunWish("hi", folder="nowhere"), RunProblem, "runs.no_folder"),
            (RunWish("hi", folder="out"), RunProblem, "runs.folder"),
            (RunWish("hi", folder="a\0b"), RunProblem, "runs.no_folder"),
            (RunWish("hi", session="none-of-that-name"), SessionProblem, "session.unknown"),
            (RunWish("hi", session="../../x"), SessionProblem, "session.name_unsafe"),
            (RunWish("hi", session="run-20200101-000000000-000000"), RunProblem, "runs.unknown"),
            (RunWish("hi", session=info.run_id), RunProblem, "runs.no_session"),
            (RunWish("x" * 17_000_000), RunProblem, "runs.too_long"),
        ]
        for wish, kind, key in refused:
            with pytest.raises(MaiaError) as told:
                await runs.start(wish)
            assert (type(told.value), told.value.key) == (kind, key), wish
        assert len(await runs.listed()) == 1, "what never began leaves nothing behind"

    (place.work / "out").symlink_to("/usr")
    with fake_llm() as server:
        place.settings(server)
        with_front(place, work)


def test_without_any_model_a_run_ends_failed_and_says_so(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        info, _ = await to_the_end(runs, (await runs.start(RunWish("hi"))).run_id)
        assert info.problem is not None
        assert (info.outcome, info.problem.key) == ("failed", "cli.nothing_configured")
        assert info.failure is not None
        assert info.failure.kind == "not_configured"

    place.options = Options()
    with_front(place, work)


def test_a_run_may_have_its_own_folder_inside_the_fronts(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        for folder in ("part", str(place.base / "beside")):
            info, _ = await to_the_end(runs, (await runs.start(RunWish("hi", folder=folder))).run_id)
            assert (info.outcome, info.folder) == ("finished", str(place.work / folder))
            assert (Path(info.folder) / ".maia" / ".sessions" / f"{info.session}.jsonl").is_file()

    (place.work / "part").mkdir()
    (place.base / "beside").mkdir()
    place.options = Options(model="fake-model", add_dirs=(str(place.base / "beside"),))
    with fake_llm() as server:
        place.settings(server)
        with_front(place, work)


def test_another_folder_loosens_no_rule_of_the_fronts(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        _, notes = await to_the_end(runs, (await runs.start(RunWish("hi", folder="part"))).run_id)
        assert [call.status for call in finished(notes)] == ["refused"]

    (place.work / "part").mkdir()
    (place.work / ".maia").mkdir()
    (place.work / ".maia" / "settings.json").write_text('{"permissions": {"deny": ["Bash(touch *)"]}}')
    with fake_llm("tool", **asks_for("touch made")) as server:
        place.settings(server, permissions={"allow": ["Bash"]})
        with_front(place, work)
    assert not (place.work / "part" / "made").exists()


def test_a_folder_that_nobody_trusts_gives_no_permission(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        _, notes = await to_the_end(runs, (await runs.start(RunWish("hi", folder="theirs"))).run_id)
        assert [n.event.status for n in notes if isinstance(n.event, ToolCallFinished)] == ["refused"]

    theirs = place.work / "theirs" / ".maia"
    theirs.mkdir(parents=True)
    (theirs / "settings.json").write_text('{"permissions": {"allow": ["Bash(*)"]}}')
    with fake_llm("tool", **asks_for("touch stolen")) as server:
        place.settings(server)
        with_front(place, work)
    assert not (place.work / "theirs" / "stolen").exists()


_AGENT = """---
name: {name}
nickname: {nickname}
description: Says what it is told
model: fake-model
folders: [{folder}]
---
## Instructions system
You are {nickname}.
## Missions
Answer.
## Output
Words.
"""


def agent(place: Place, name: str, nickname: str) -> None:
    folder = place.home / ".maia" / "agents" / name
    folder.mkdir(parents=True)
    (folder / "AGENT.md").write_text(_AGENT.format(name=name, nickname=nickname, folder=place.base / "beside"))


def test_agents_work_at_once_each_as_itself_and_the_same_one_twice(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        words = ["prophet", "THE CHAOS prophet", "scribe", ""]
        began = [await runs.start(RunWish("Who are you?", agent=word)) for word in words]
        done = await asyncio.gather(*(to_the_end(runs, info.run_id) for info in began))
        shown = [(info.agent, info.nickname, info.model, info.outcome) for info, _ in done]
        prophet = ("prophet", "The Chaos Prophet", "fake-model", "finished")
        assert shown == [prophet, prophet, ("scribe", "The Scribe", "fake-model", "finished"), prophet]
        assert len({info.session for info, _ in done}) == 4
        systems = [json.dumps(chat["messages"][0]) for chat in server.chats()]
        assert sorted("You are The Scribe." in system for system in systems) == [False, False, False, True]
        beside = RunWish("hi", agent="scribe", folder=str(place.base / "beside"))
        assert (await runs.start(beside)).folder == str(place.base / "beside")
        with pytest.raises(MaiaError) as told:
            await runs.start(RunWish("hi", agent="profet"))
        assert "prophet" in str(told.value)

    (place.base / "beside").mkdir()
    agent(place, "prophet", "The Chaos Prophet")
    agent(place, "scribe", "The Scribe")
    place.options = Options(agent="prophet")
    with fake_llm("slow", delay=0.7) as server:
        place.settings(server)
        with_front(place, work)


# Fronts that leave ---------------------------------------------------------------------------------------------------

_FRONT = """
import asyncio, sys
from tests.runs.hosted import Place, until
from maia.core.events import TextDelta
from maia.core.runs import RunWish
from pathlib import Path

async def main():
    place = Place(Path(sys.argv[1]))
    async with place.front() as runs:
        began = await runs.start(RunWish("A long answer"))
        await until(runs, began.run_id, TextDelta)
        print(began.run_id, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def test_a_front_that_is_killed_with_its_family_leaves_its_run_to_the_next_one(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        assert (await runs.info(run_id)).state == "running"
        info, notes = await to_the_end(runs, run_id)
        assert (info.outcome, len(info.text)) == ("finished", 8_000)
        assert "".join(n.event.text for n in notes if isinstance(n.event, TextDelta)) == info.text, "nothing is lost"
        assert [note.seq for note in notes] == list(range(1, len(notes) + 1))
        middle = len(notes) // 2
        assert [note async for note in runs.follow(run_id, after=middle)] == notes[middle:]

    with fake_llm("bytes", text="0123456789" * 800) as server:
        place.settings(server)
        front = subprocess.Popen(
            [sys.executable, "-c", _FRONT, str(place.base)],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd=Path(__file__).resolve().parents[2],
        )
        assert front.stdout is not None
        run_id = front.stdout.readline().strip()
        kill_family(front.pid)
        front.wait()
        front.stdout.close()
        with_front(place, work)


def kill_family(pid: int) -> None:
    """As clients do: the whole group, and every descendant."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            row = Path("/proc", name, "stat").read_text()
        except OSError:
            continue
        children.setdefault(int(row.rpartition(")")[2].split()[1]), []).append(int(name))
    waiting, family = [pid], [pid]
    while waiting:
        waiting = [child for each in waiting for child in children.get(each, ())]
        family += waiting
    os.killpg(pid, signal.SIGKILL)
    for each in family[1:]:
        try:
            os.kill(each, signal.SIGKILL)
        except ProcessLookupError:
            continue


def test_a_front_that_lets_go_and_comes_back_finds_its_run(place: Place) -> None:
    began: list[RunInfo] = []

    async def leave(runs: HostedRuns) -> None:
        began.append(await runs.start(RunWish("hi", identity="me")))

    async def come_back(runs: HostedRuns) -> None:
        assert [info.run_id for info in await runs.listed("me")] == [began[0].run_id]
        assert await runs.listed("somebody else") == []
        info, _ = await to_the_end(runs, began[0].run_id)
        assert info.outcome == "finished"

    with fake_llm("slow", delay=1.0) as server:
        place.settings(server)
        with_front(place, leave)
        with_front(place, come_back)


def test_a_host_that_is_killed_leaves_its_runs_lost_and_they_are_taken_up_again(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        began = await runs.start(RunWish("Run it"))
        await until(runs, began.run_id, ToolCallStarted)
        following = asyncio.create_task(to_the_end(runs, began.run_id))
        await asyncio.sleep(0.1)
        place.kill_hosts()
        lost, notes = await following
        assert (lost.state, lost.outcome) == ("lost", None)
        assert lost.problem is not None
        assert lost.problem.key == "runs.lost"
        assert isinstance(notes[-1].event, ToolCallStarted)
        assert await runs.stop(began.run_id) == lost, "there is nothing to stop"
        assert await runs.answer(began.run_id, "approval-1", Answer("once")) is False
        again, _ = await to_the_end(runs, (await runs.start(RunWish("Go on", session=began.run_id))).run_id)
        assert (again.outcome, again.session) == ("finished", lost.session)
        assert "interrupted" in json.dumps(server.chats()[-1]["messages"])

    with fake_llm("tool", **asks_for("sleep 300")) as server:
        place.settings(server, permissions={"allow": ["Bash(sleep *)"]})
        with_front(place, work)


def test_nothing_that_a_killed_host_had_started_stays_behind(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        began = await runs.start(RunWish("Run it"))
        await until(runs, began.run_id, ToolCallStarted)
        await asyncio.to_thread(wait_for, lambda: is_running("300.75") and is_running("300.5"))
        place.kill_hosts()
        await asyncio.to_thread(wait_for, lambda: not is_running("300.75") and not is_running("300.5"))
        assert (await runs.info(began.run_id)).state == "lost"

    with fake_llm("tool", **asks_for("(sleep 300.75 & sleep 300.5)")) as server:
        place.settings(server, permissions={"allow": ["Bash"]}, sandbox="off")
        with_front(place, work)


def test_a_host_that_is_asked_to_end_stops_its_runs_in_order(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        began = await runs.start(RunWish("Run it"))
        await until(runs, began.run_id, ToolCallStarted)
        for pid in place.hosts():
            os.kill(pid, signal.SIGTERM)
        info, notes = await to_the_end(runs, began.run_id)
        assert (info.state, info.outcome) == ("ended", "stopped")
        assert info.problem is not None
        assert info.problem.key == "runs.host_stopped"
        assert isinstance(notes[-1].event, TurnEnded)
        await asyncio.to_thread(wait_for, lambda: not place.hosts())
        again, _ = await to_the_end(runs, (await runs.start(RunWish("hi", model="offline"))).run_id)
        assert again.outcome == "finished", "the next run gets another host"

    with fake_llm("tool", **asks_for("sleep 301.5")) as server:
        place.settings(server, permissions={"allow": ["Bash(sleep *)"]})
        with_front(place, work)
        wait_for(lambda: not is_running("301.5"))


def test_a_host_that_does_not_answer_is_an_error_not_a_wait_for_ever(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("maia.runs.client.PATIENCE", 0.5)

    async def work(runs: HostedRuns) -> None:
        began = await runs.start(RunWish("Run it", asking="ask"))
        asked = await until(runs, began.run_id, ApprovalRequested)
        assert isinstance(asked.event, ApprovalRequested)
        for pid in place.hosts():
            os.kill(pid, signal.SIGSTOP)
        with pytest.raises(RunProblem) as told:
            await runs.answer(began.run_id, asked.event.approval_id, Answer("no"))
        assert told.value.key == "runs.host_silent"
        assert (await runs.info(began.run_id)).state == "waiting", "it is stopped, not lost"

    with fake_llm("tool", **asks_for("sleep 302")) as server:
        place.settings(server)
        with_front(place, work)


# Stop, answers, limits -----------------------------------------------------------------------------------------------


def test_stopping_a_run_ends_the_commands_it_started(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        began = await runs.start(RunWish("Run it"))
        await until(runs, began.run_id, ToolCallStarted)
        await asyncio.to_thread(wait_for, lambda: is_running("303.25"))
        info = await runs.stop(began.run_id)
        assert not is_running("303.25"), "when stop returns, everything has ended"
        assert (info.state, info.outcome) == ("ended", "stopped")
        assert await runs.info(began.run_id) == info
        assert await runs.stop(began.run_id) == info

    command = "(setsid sleep 303.25 & sleep 303.25 & wait)"
    with fake_llm("tool", **asks_for(command)) as server:
        place.settings(server, permissions={"allow": ["Bash"]})
        with_front(place, work)


def test_stopping_a_run_ends_an_agent_program_with_what_it_started(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_wall("auto", Places(place.work, place.work)).wall is None:
        pytest.skip("no wall works here")
    programs = place.base / "bin"
    programs.mkdir()
    python = Path(sys.executable).resolve()
    (programs / "qwen").write_text(f"#!/bin/sh\nexec {python} {AGENT} acp leftover\n")
    (programs / "qwen").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")

    async def work(runs: HostedRuns) -> None:
        began = await runs.start(RunWish("Work", runner="qwen"))
        await until(runs, began.run_id, TextDelta)
        info = await runs.stop(began.run_id)
        assert (info.outcome, info.runner, info.text) == ("stopped", "qwen", "I left ")
        wait_for(lambda: not is_running(str(AGENT)))
        assert not is_running("import time; time.sleep(300)")

    with_front(place, work)


def test_a_run_out_of_time_is_stopped_and_says_so(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        info, _ = await to_the_end(runs, (await runs.start(RunWish("Run it", timeout=1.5))).run_id)
        if not info.tool_calls:  # a busy machine had not come that far
            info, _ = await to_the_end(runs, (await runs.start(RunWish("Run it", timeout=20))).run_id)
        assert info.problem is not None
        assert info.failure is not None
        assert (info.outcome, info.problem.key, info.failure.kind) == ("failed", "runs.timeout", "timeout")
        assert info.tool_calls == 1

    with fake_llm("tool", **asks_for("sleep 304.5")) as server:
        place.settings(server, permissions={"allow": ["Bash(sleep *)"]})
        with_front(place, work)
    assert not is_running("304.5")


def test_a_limit_of_steps_ends_a_run(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        info, _ = await to_the_end(runs, (await runs.start(RunWish("x", max_iterations=1, asking="ask"))).run_id)
        assert (info.outcome, info.steps) == ("turn_limit", 1)

    with fake_llm("tool", **asks_for("true")) as server:
        place.settings(server, permissions={"allow": ["Bash(true)"]})
        with_front(place, work)


def finished(notes: list[RunNote]) -> list[ToolCallFinished]:
    return [note.event for note in notes if isinstance(note.event, ToolCallFinished)]


def test_where_nobody_can_be_asked_a_call_is_refused_with_the_reason(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        info, notes = await to_the_end(runs, (await runs.start(RunWish("Touch it"))).run_id)
        assert (info.outcome, [call.status for call in finished(notes)]) == ("finished", ["refused"])
        assert "nobody is there to answer" in finished(notes)[0].text

    with fake_llm("tool", **asks_for("touch made")) as server:
        place.settings(server)
        with_front(place, work)
    assert not (place.work / "made").exists()


@pytest.mark.parametrize(
    ("answer", "status"), [(Answer("once"), "succeeded"), (Answer("no", "not on a Friday"), "refused")], ids=str
)
def test_a_waiting_run_is_answered_by_another_front(place: Place, answer: Answer, status: str) -> None:
    began: list[RunInfo] = []

    async def leave(runs: HostedRuns) -> None:
        began.append(await runs.start(RunWish("Touch it", asking="ask")))

    async def answer_it(runs: HostedRuns) -> None:
        run_id = began[0].run_id
        asked = await until(runs, run_id, ApprovalRequested)
        info = await runs.info(run_id)
        assert (info.state, info.outcome, info.open_asks) == ("waiting", None, (asked.event,))
        assert await runs.answer(run_id, "approval-99", answer) is False
        assert await runs.answer(run_id, info.open_asks[0].approval_id, answer) is True
        assert await runs.answer(run_id, info.open_asks[0].approval_id, answer) is False
        ended, notes = await to_the_end(runs, run_id)
        assert (ended.outcome, ended.open_asks) == ("finished", ())
        assert [call.status for call in finished(notes)] == [status]
        assert answer.reason in finished(notes)[0].text

    with fake_llm("tool", **asks_for("touch made")) as server:
        place.settings(server)
        with_front(place, leave)
        with_front(place, answer_it)
    assert (place.work / "made").exists() == (status == "succeeded")


_BREAK_OUT = """
import glob, os
print("saw", glob.glob(os.path.expanduser("~/.maia/runs/.hosts/*")))
"""


def test_an_agent_sees_nothing_of_its_host_and_so_cannot_answer_itself(place: Place) -> None:
    if find_wall("auto", Places(place.work, place.home)).wall is None:
        pytest.skip("no wall works here")
    (place.work / "out.py").write_text(_BREAK_OUT)
    command = f"{Path(sys.executable).resolve()} out.py; cat ~/.maia/runs/.hosts/*/host.json"

    async def work(runs: HostedRuns) -> None:
        _, notes = await to_the_end(runs, (await runs.start(RunWish("Break out"))).run_id)
        text = finished(notes)[0].text
        assert "saw []" in text, text
        assert '"word"' not in text

    with fake_llm("tool", **asks_for(command)) as server:
        place.settings(server, permissions={"allow": ["Bash"]})
        with_front(place, work)


def test_two_hundred_runs_wait_for_their_turn_and_all_end(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        began = [await runs.start(RunWish(f"Task {n}", model="offline")) for n in range(200)]
        assert len({info.run_id for info in began}) == 200
        states = [info.state for info in await runs.listed(limit=500)]
        assert states.count("running") <= 3
        assert "queued" in states
        stopped = await runs.stop(began[199].run_id)
        assert (stopped.state, stopped.outcome) == ("ended", "stopped")
        done = await asyncio.gather(*(to_the_end(runs, info.run_id) for info in began[:199]))
        assert {info.outcome for info, _ in done} == {"finished"}
        assert len({info.session for info, _ in done}) == 199

    place.settings(FakeLlm("http://127.0.0.1:9", place.base), runs={"atOnce": 3})
    with_front(place, work)


def test_a_session_of_a_run_goes_on_in_another_one_and_in_a_terminal(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        first, _ = await to_the_end(runs, (await runs.start(RunWish("Remember lemon"))).run_id)
        second, _ = await to_the_end(runs, (await runs.start(RunWish("Which word?", session=first.session))).run_id)
        assert first.session == second.session
        assert "Remember lemon" in json.dumps(server.chats()[-1]["messages"])
        words = [sys.executable, "-m", "maia", "-p", "Still?", "--resume", first.session, "--model", "fake-model"]
        await asyncio.to_thread(subprocess.run, words, cwd=place.work, check=True, capture_output=True)
        assert "Which word?" in json.dumps(server.chats()[-1]["messages"])

    with fake_llm() as server:
        place.settings(server)
        with_front(place, work)


def test_no_run_and_no_home_are_told(place: Place) -> None:
    async def work(runs: HostedRuns) -> None:
        for bad in ("run-20200101-000000000-000000", "../..", "", "last"):
            with pytest.raises(RunProblem, match=r"runs\.unknown"):
                await runs.info(bad)
            with pytest.raises(RunProblem, match=r"runs\.unknown"):
                await anext(runs.follow(bad))
        (place.runs_folder).write_text("a file in the way")
        with pytest.raises(RunProblem, match=r"runs\.store"):
            await runs.start(RunWish("hi"))

    with_front(place, work)


def test_a_host_that_cannot_be_started_leaves_neither_its_place_nor_a_line_to_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_runs, "HOST_PROGRAM", (str(place.base / "nowhere"),))

    async def work(runs: HostedRuns) -> None:
        with pytest.raises(RunProblem, match=r"runs\.no_host"):
            await runs.start(RunWish("hi"))
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert os.listdir(place.runs_folder / ".hosts") == []

    with_front(place, work)
