from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from maia.core.endings import Failure, Outcome
from maia.core.errors import MaiaError, ModelFailed, NotConfigured, RunProblem
from maia.core.events import ApprovalAnswered, ApprovalRequested, LimitReached, Notice, TextDelta, TurnEnded
from maia.core.permission import Answer, Decision, Verdict
from maia.core.reason import Reason
from maia.core.runs import RunInfo, RunWish
from maia.runs import live, notes, store
from maia.runs.host import RunHost
from maia.runs.live import Limits
from maia.runs.notes import NoteReader
from maia.runs.store import RunStore
from tests.runs.doubles import ScriptedTalk, ended, host_of

FULL = os.strerror(errno.ENOSPC)
ASKED = ApprovalRequested("a1", "c1", "Bash", {}, (), Decision(Verdict.ASK, Reason("x")), None)


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())


async def over(host: RunHost, run_id: str) -> RunInfo:
    for _ in range(2000):
        if host.info(run_id).state == "ended":
            return host.info(run_id)
        await asyncio.sleep(0.005)
    raise AssertionError("the run goes on")


async def until(is_so: Callable[[], bool]) -> None:
    for _ in range(4000):
        if is_so():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not happen")


def events(folder: Path, run_id: str) -> list[object]:
    return [note.event for note in NoteReader(folder / "runs" / run_id / "events.jsonl").read()]


ENDS: list[tuple[str, list[Any], Outcome, str, str]] = [
    ("well", [TextDelta("Hi"), ended()], "finished", "", ""),
    ("at a limit", [ended("turn_limit")], "turn_limit", "", ""),
    ("without a model", [NotConfigured("cli.nothing_configured")], "failed", "cli.nothing_configured",
     "not_configured"),
    ("by an error with words", [MaiaError("session.none", path=Path("/x"))], "failed", "session.none", "other"),
    ("by a model", [ModelFailed(Failure("auth", "h", 401))], "failed", "failure.auth", "auth"),
    ("by a defect", [ValueError("oops")], "failed", "runs.defect", "other"),
    ("in the middle", [TextDelta("Hi")], "stopped", "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("script", "outcome", "key", "kind"), [row[1:] for row in ENDS], ids=[row[0] for row in ENDS])
def test_whatever_ends_a_run_is_told(
    tmp_path: Path, script: list[Any], outcome: Outcome, key: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def work() -> None:
        talk = ScriptedTalk(script)
        host = host_of(tmp_path, talk)
        info = await over(host, host.start(RunWish("x")).run_id)
        assert (info.outcome, info.problem.key if info.problem else "") == (outcome, key)
        assert (info.failure.kind if info.failure else "") == kind
        assert talk.closed
        assert RunStore(tmp_path / "runs").info(info.run_id) == info
        if key:
            assert events(tmp_path, info.run_id)[-1] == Notice("fail", key, info.problem.values if info.problem else {})

    run(work)
    assert ("ValueError: oops" in capsys.readouterr().err) == (key == "runs.defect")


@pytest.mark.parametrize(("asking", "event"), [("refuse", ASKED), ("refuse", LimitReached("a1", "turns", 5)),
                                               ("ask", LimitReached("a1", "turns", 5))], ids=str)  # fmt: skip
def test_where_nobody_is_asked_the_answer_is_no_at_once(tmp_path: Path, asking: Any, event: Any) -> None:
    async def work() -> None:
        talk = ScriptedTalk([event])
        talk.script += [talk.wait_for_answer, ended()]
        host = host_of(tmp_path, talk)
        info = await over(host, host.start(RunWish("x", asking=asking)).run_id)
        assert talk.answers == [("a1", Answer("no"), "headless")]
        assert info.outcome == "finished"

    run(work)


def test_an_approval_that_nobody_answers_is_refused_after_its_time_and_the_run_goes_on(tmp_path: Path) -> None:
    async def work() -> None:
        talk = ScriptedTalk([ASKED])
        talk.script += [talk.wait_for_answer, ApprovalAnswered("a1", Answer("no"), "headless"), ended()]
        host = host_of(tmp_path, talk, limits=Limits(approval_wait=0.2))
        run_id = host.start(RunWish("x", asking="ask")).run_id
        await until(lambda: host.info(run_id).state == "waiting")
        assert host.info(run_id).open_asks == (ASKED,)
        info = await over(host, run_id)
        assert (info.outcome, talk.answers) == ("finished", [("a1", Answer("no"), "headless")])
        assert Notice("warn", "runs.nobody_answered", {"tool": "Bash", "minutes": 0.0}) in events(tmp_path, run_id)
        assert host.answer(run_id, "a1", Answer("once")) is False

    run(work)


def test_an_answer_is_taken_once_and_only_for_what_waits(tmp_path: Path) -> None:
    async def work() -> None:
        talk = ScriptedTalk([ASKED])
        talk.script += [talk.wait_for_answer, ended()]
        host = host_of(tmp_path, talk)
        run_id = host.start(RunWish("x", asking="ask")).run_id
        await until(lambda: host.info(run_id).open_asks == (ASKED,))
        answers = [("a2", Answer("once")), ("a1", Answer("session")), ("a1", Answer("no"))]
        assert [host.answer(run_id, *each) for each in answers] == [False, True, False]
        assert host.answer("run-x", "a1", Answer("once")) is False
        await over(host, run_id)
        assert talk.answers == [("a1", Answer("session"), "person")]

    run(work)


def test_time_runs_from_the_start_of_the_work_and_a_turn_that_ended_well_counts(tmp_path: Path) -> None:
    async def work() -> None:
        slow, quick = ScriptedTalk([]), ScriptedTalk([ended()])
        slow.script = [TextDelta("so far"), slow.wait]
        host = host_of(tmp_path, slow, quick, limits=Limits(at_once=1))
        first = host.start(RunWish("x", timeout=1.0)).run_id
        second = host.start(RunWish("x", timeout=0.8)).run_id
        info = await over(host, first)
        assert info.failure is not None
        assert (info.outcome, info.failure.kind, info.text) == ("failed", "timeout", "so far")
        assert info.problem == Reason("runs.timeout", {"seconds": 1.0})
        assert (await over(host, second)).outcome == "finished", "it waited longer than its time for its turn"

    run(work)


def test_a_run_that_does_not_end_when_it_is_stopped_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "STOP_SECONDS", 0.05)

    async def work() -> None:
        talk = ScriptedTalk([], hangs_when_stopped=True)
        talk.script = [TextDelta("so far"), talk.wait]
        host = host_of(tmp_path, talk)
        run_id = host.start(RunWish("x")).run_id
        await until(lambda: talk.waits)
        info = await host.stop(run_id)
        assert (info.state, info.outcome, info.text, talk.closed) == ("ended", "stopped", "so far", True)

    run(work)


def test_so_many_work_at_once_the_others_wait_in_order_and_beyond_the_queue_none_is_taken(tmp_path: Path) -> None:
    async def work() -> None:
        talks = [ScriptedTalk([]) for _ in range(5)]
        for talk in talks:
            talk.script = [talk.wait]
        host = host_of(tmp_path, *talks, limits=Limits(at_once=2, queued=3))
        ids = [host.start(RunWish(f"{n}")).run_id for n in range(5)]
        await until(lambda: talks[1].waits)
        assert [host.info(each).state for each in ids] == ["running", "running", "queued", "queued", "queued"]
        with pytest.raises(RunProblem, match=r"runs\.queue_full"):
            host.start(RunWish("one too many"))
        assert (await host.stop(ids[2])).outcome == "stopped"
        await host.stop(ids[0])
        await until(lambda: any(talk.waits for talk in talks[2:]))
        assert [host.info(each).state for each in ids] == ["ended", "running", "ended", "running", "queued"]
        await host.close()
        infos = [host.info(each) for each in ids]
        assert {info.outcome for info in infos} == {"stopped"}
        assert [info.problem for info in infos] == [None, *[Reason("runs.host_stopped")], None,
                                                    *[Reason("runs.host_stopped")] * 2]  # fmt: skip
        assert host.is_idle
        with pytest.raises(RunProblem, match=r"runs\.host_gone"):
            host.start(RunWish("too late"))

    run(work)


def test_a_full_disk_ends_the_run_with_the_reason_and_the_host_waits_until_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, write = {"full": False}, os.write

    def limited(fd: int, data: bytes) -> int:
        if state["full"]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(fd, data)

    monkeypatch.setattr(notes.os, "write", limited)
    assert notes.os is store.os

    async def work() -> None:
        talk = ScriptedTalk([])

        async def fill() -> None:
            state["full"] = True

        talk.script = [fill, Notice("info", "x"), talk.wait]
        host = host_of(tmp_path, talk)
        run_id = host.start(RunWish("x")).run_id
        info = await over(host, run_id)
        assert (info.outcome, info.problem) == ("failed", Reason("runs.unwritable", {"problem": FULL}))
        assert info.failure == Failure("other", code="runs.unwritable", provider_text=FULL)
        assert not host.is_idle, "what could not be written is known here only"
        state["full"] = False
        assert host.is_idle
        assert RunStore(tmp_path / "runs").info(run_id) == info

    run(work)


def test_the_events_that_come_after_a_stop_are_noted_too(tmp_path: Path) -> None:
    async def work() -> None:
        talk = ScriptedTalk([])
        talk.script = [talk.wait]
        host = host_of(tmp_path, talk)
        run_id = host.start(RunWish("x")).run_id
        await until(lambda: talk.waits)
        await host.stop(run_id)
        assert isinstance(events(tmp_path, run_id)[-1], TurnEnded)

    run(work)
