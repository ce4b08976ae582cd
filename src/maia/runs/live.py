"""One run in its host, from the queue to its end: events go into the notes, limits and a stop end it in order."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
import traceback
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, Protocol

from maia.core.endings import Failure, Outcome
from maia.core.errors import MaiaError, ModelFailed, NotConfigured, RunProblem, system_words
from maia.core.events import ApprovalRequested, Event, LimitReached, Notice, TurnEnded, TurnStarted
from maia.core.permission import Answer
from maia.core.reason import Reason
from maia.core.runs import RunInfo
from maia.core.submission import Submission
from maia.runs.control import plain_values
from maia.runs.notes import NoteWriter
from maia.runs.record import Record
from maia.runs.store import RunStore
from maia.runs.view import RunView

STOP_SECONDS: Final = 20.0
"""What a stopped run may take to end its commands and programs before it is cut off."""


class Talk(Protocol):
    """What a run needs of a session."""

    @property
    def name(self) -> str: ...
    def open(self) -> AsyncIterator[Event]: ...
    def turn(self, submission: Submission) -> AsyncIterator[Event]: ...
    def stop(self) -> None: ...
    def answer(self, approval_id: str, answer: Answer, by: Literal["person", "headless"] = "person") -> None: ...
    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Prepared:
    """A wish made ready: the agent by its name and nickname, who runs it and where; `begin` opens its session."""

    folder: str
    begin: Callable[[], Talk]
    agent: str = ""
    nickname: str = ""
    runner: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """`at_once` runs work, the others wait for their turn, at most `queued` of them; `approval_wait` is in seconds."""

    at_once: int = 10
    queued: int = 1000
    approval_wait: float = 600.0


class LiveRun:
    """One run of this process. `record` is what is kept of it; `ended` is set once nothing will change any more."""

    def __init__(self, record: Record, prepared: Prepared, store: RunStore, limits: Limits) -> None:
        self.record = record
        self.ended = asyncio.Event()
        self.is_saved = True
        self._prepared = prepared
        self._store = store
        self._limits = limits
        self._view = RunView()
        self._talk: Talk | None = None
        self._notes: NoteWriter | None = None
        self._stopping = False
        self._why: Reason | None = None
        self._failure: Failure | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._task: asyncio.Task[None] | None = None

    # From outside

    def begin(self, slots: asyncio.Semaphore) -> None:
        """Wait for a place among those that work, then work."""
        self._task = asyncio.create_task(self._go(slots))

    def info(self) -> RunInfo:
        """How it stands now."""
        settled = self.record.info
        if settled.state != "running":
            return settled
        info = replace(self._view.info(settled), outcome=None, failure=None)
        return replace(info, state="waiting") if info.open_asks else info

    def answer(self, approval_id: str, answer: Answer) -> bool:
        """Answer an approval; False where it waits no more."""
        if self._talk is None or approval_id not in self._view.open_asks:
            return False
        del self._view.open_asks[approval_id]
        self._disarm(approval_id)
        self._talk.answer(approval_id, answer)
        return True

    async def stop(self, why: Reason | None = None) -> None:
        """End it with everything it started, and wait for that. Who is told `why` reads it in the record."""
        self._stop(why)
        if self._task is not None and not self.ended.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STOP_SECONDS):
                    await self.ended.wait()
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def save(self) -> bool:
        """Keep the record; whether that could be done."""
        try:
            self._store.keep(self.record)
        except OSError:
            self.is_saved = False
        else:
            self.is_saved = True
        return self.is_saved

    # Inside

    def _stop(self, why: Reason | None, failure: Failure | None = None) -> None:
        self._why, self._failure = self._why or why, self._failure or failure
        self._stopping = True
        if self._talk is not None:
            self._talk.stop()
        elif self._task is not None:
            self._task.cancel()  # it waits for its turn

    async def _go(self, slots: asyncio.Semaphore) -> None:
        outcome: Outcome = "stopped"
        try:
            async with slots:
                outcome = await self._work()
        except asyncio.CancelledError:
            pass  # stopped; what it said so far is kept
        except MaiaError as problem:
            outcome = self._cannot(problem)
        except Exception as error:
            outcome = self._broken(error)
        finally:
            self._end(outcome)

    async def _work(self) -> Outcome:
        if self._stopping:
            return "stopped"
        run_id, wish = self.record.info.run_id, self.record.wish
        self._change(replace(self.record.info, state="running", started=round(time.time(), 3)))
        path = self._store.notes(run_id)
        self._notes = self._new_notes(path)
        self._talk = talk = self._prepared.begin()
        if wish.timeout is not None:
            self._arm("", wish.timeout, self._out_of_time)
        try:
            async for event in talk.open():
                self._take(event)
            if not self._stopping:
                async for event in talk.turn(Submission(wish.task)):
                    self._take(event)
        finally:
            for name in tuple(self._timers):
                self._disarm(name)
            await talk.close()
        return self._view.ended.outcome if self._view.ended is not None else "stopped"

    def _new_notes(self, path: Path) -> NoteWriter:
        try:
            return NoteWriter(path, self._unwritable)
        except OSError as error:
            raise RunProblem("runs.unwritable", problem=system_words(error)) from error

    def _take(self, event: Event) -> None:
        self._view.apply(event)
        if self._notes is not None:
            self._notes.add(event)
        match event:
            case TurnStarted():
                self._tell_session()
            case ApprovalRequested() if self.record.wish.asking == "ask":
                self._arm(event.approval_id, self._limits.approval_wait, lambda: self._nobody(event))
            case ApprovalRequested() | LimitReached():
                self._refuse(event.approval_id)
            case TurnEnded():
                self._tell_session()
            case _:
                pass

    def _tell_session(self) -> None:
        """The session has its name once it has a file, which its first request makes."""
        if self._talk is not None and self._talk.name != self.record.info.session:
            self._change(replace(self.record.info, session=self._talk.name))

    def _refuse(self, approval_id: str) -> None:
        if self._talk is not None:
            self._talk.answer(approval_id, Answer("no"), "headless")

    def _nobody(self, asked: ApprovalRequested) -> None:
        minutes = round(self._limits.approval_wait / 60, 1)
        self._take(Notice("warn", "runs.nobody_answered", {"tool": asked.name, "minutes": minutes}))
        self._view.open_asks.pop(asked.approval_id, None)
        self._refuse(asked.approval_id)

    def _out_of_time(self) -> None:
        seconds = self.record.wish.timeout or 0
        self._stop(Reason("runs.timeout", {"seconds": seconds}), Failure("timeout", code="run_timeout"))

    def _unwritable(self, problem: str) -> None:
        reason = Reason("runs.unwritable", {"problem": problem})
        self._stop(reason, Failure("other", code="runs.unwritable", provider_text=problem))

    def _cannot(self, problem: MaiaError) -> Outcome:
        values = plain_values(problem.values)
        self._why = self._why or Reason(problem.key, values)
        if isinstance(problem, ModelFailed):
            self._failure = self._failure or problem.failure
        kind = "not_configured" if isinstance(problem, NotConfigured) else "other"
        self._failure = self._failure or Failure(kind, code=problem.key)
        if self._notes is not None:
            self._notes.add(Notice("fail", problem.key, values))
        return "failed"

    def _broken(self, error: Exception) -> Outcome:
        """A defect of ours ends this run alone; what happened stands in the host's log."""
        traceback.print_exception(error, file=sys.stderr)
        return self._cannot(MaiaError("runs.defect", problem=f"{type(error).__name__}: {error}"))

    def _end(self, outcome: Outcome) -> None:
        settled = self.record.info
        info = self._view.info(settled) if settled.state == "running" else settled
        if self._notes is not None:
            self._notes.close()
            if self._notes.problem and self._failure is None:
                self._unwritable(self._notes.problem)
        if self._failure is not None and (outcome == "stopped" or self._notes_are_cut):
            outcome = "failed"
        why, failure = (None, None) if outcome == "finished" else (self._why, self._failure or info.failure)
        now = round(time.time(), 3)
        self._change(
            replace(info, state="ended", ended=now, outcome=outcome, failure=failure, problem=why, open_asks=())
        )
        self.ended.set()

    @property
    def _notes_are_cut(self) -> bool:
        return self._notes is not None and bool(self._notes.problem)

    def _change(self, info: RunInfo) -> None:
        self.record = replace(self.record, info=info)
        self.save()

    def _arm(self, name: str, seconds: float, then: Callable[[], None]) -> None:
        self._timers[name] = asyncio.get_running_loop().call_later(seconds, then)

    def _disarm(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()
