"""A session that plays a script, and the host that runs it in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from maia.core.costs import Cost
from maia.core.endings import Outcome
from maia.core.events import Event, ModelChanged, TurnEnded, TurnStarted
from maia.core.permission import Answer
from maia.core.runs import RunWish
from maia.core.submission import Submission
from maia.runs.host import RunHost
from maia.runs.live import Limits, Prepared
from maia.runs.store import RunStore

Step = Event | BaseException | Callable[[], Awaitable[None]]


def ended(outcome: Outcome = "finished") -> TurnEnded:
    return TurnEnded(outcome, "end", "", None, Cost(), "m", "p", 1, 0, 0)


@dataclass
class ScriptedTalk:
    """Plays its script as one turn. `wait` in it goes on for ever until the talk is stopped."""

    script: list[Step]
    name: str = "session_x"
    answers: list[tuple[str, Answer, str]] = field(default_factory=list[tuple[str, Answer, str]])
    closed: bool = False
    hangs_when_stopped: bool = False
    waits: bool = False
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _answered: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self) -> AsyncIterator[Event]:
        yield ModelChanged("m", "p", "default")

    async def turn(self, submission: Submission) -> AsyncIterator[Event]:
        del submission
        yield TurnStarted(1, "m", "p")
        for step in self.script:
            if isinstance(step, BaseException):
                raise step
            if callable(step):
                await step()
                if self._stop.is_set():
                    yield ended("stopped")
                    return
            else:
                yield step

    async def wait(self) -> None:
        self.waits = True
        await self._stop.wait()
        if self.hangs_when_stopped:
            await asyncio.sleep(600)

    async def wait_for_answer(self) -> None:
        await self._answered.wait()

    def stop(self) -> None:
        self._stop.set()

    def answer(self, approval_id: str, answer: Answer, by: Literal["person", "headless"] = "person") -> None:
        self.answers.append((approval_id, answer, by))
        self._answered.set()

    async def close(self) -> None:
        self.closed = True


def host_of(folder: Path, *talks: ScriptedTalk, limits: Limits | None = None) -> RunHost:
    """A host that gives its runs these sessions in turn."""
    waiting = list(talks)

    def prepare(wish: RunWish) -> Prepared:
        talk = waiting.pop(0)
        return Prepared(wish.folder or "/work", lambda: talk, agent=wish.agent, runner="maia")

    return RunHost("0123456789ab", RunStore(folder / "runs"), prepare, limits or Limits())
