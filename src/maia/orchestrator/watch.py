"""Follows a run until it ends, telling the client how it goes and asking its person where a call needs an approval."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING, Final

from maia.core.errors import MaiaError
from maia.core.events import (
    ApprovalAnswered,
    ApprovalRequested,
    Event,
    RetryScheduled,
    StepStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from maia.core.runs import RunInfo, RunNote
from maia.core.text import visible

if TYPE_CHECKING:
    from maia.orchestrator.calls import Call

HEARTBEAT: Final = 4.0
"""Seconds of silence after which a client hears that the run goes on: some cut a call that is silent for 30 s."""
TEXT_EVERY: Final = 1.0
"""Seconds between two pieces of the answer that are told as progress."""
SHOWN_CHARS: Final = 300


async def watch(call: Call, run_id: str, *, is_new: bool, leave_when_waiting: bool = False) -> RunInfo:
    """How the run ended. Of a run that is not new, what happened before is not told again.

    With `leave_when_waiting` the run is left, and goes on, as soon as it waits for an approval that nobody can be asked
    for here. Raises `Pause` where the client answers with its next call, and `MaiaError` for a run that is not there.
    """
    watching = _Watching(call, run_id)
    if not is_new:
        began = time.time()
        before = await call.desk.runs.info(run_id)
        if before.state in ("ended", "lost") or (leave_when_waiting and before.open_asks):
            return before
        watching = _Watching(call, run_id, began, frozenset(ask.approval_id for ask in before.open_asks))
    try:
        async for note in with_pauses(call.desk.runs.follow(run_id), HEARTBEAT):
            if note is not None and watching.is_past(note):
                continue
            if leave_when_waiting and note is not None and isinstance(note.event, ApprovalRequested):
                break
            await watching.see(note)
    finally:
        await watching.end()
    return await call.desk.runs.info(run_id)


async def with_pauses(notes: AsyncIterator[RunNote], seconds: float) -> AsyncGenerator[RunNote | None]:
    """The notes, and None whenever that many seconds passed without one."""
    step: asyncio.Task[RunNote | None] | None = None
    try:
        while True:
            step = step or asyncio.create_task(_next(notes))
            done, _ = await asyncio.wait({step}, timeout=seconds)
            if not done:
                yield None
                continue
            note, step = step.result(), None
            if note is None:
                return
            yield note
    finally:
        if step is not None:
            step.cancel()
            await asyncio.wait({step})
        if isinstance(notes, AsyncGenerator):
            await notes.aclose()


async def _next(notes: AsyncIterator[RunNote]) -> RunNote | None:
    return await anext(notes, None)


class _Watching:
    """What was told of one run so far, and which questions are open."""

    def __init__(self, call: Call, run_id: str, past: float = 0.0, open_before: frozenset[str] = frozenset()) -> None:
        self._call = call
        self._run_id = run_id
        self._past = past
        self._began = time.monotonic()
        self._open_before = open_before
        self._step = 0
        self._text = ""
        self._told = 0.0
        self._open: dict[str, str] = {}
        self._asking: dict[str, asyncio.Task[None]] = {}

    def is_past(self, note: RunNote) -> bool:
        """Whether a note was written before, and is no question that is open still."""
        if note.time >= self._past:
            return False
        return not (isinstance(note.event, ApprovalRequested) and note.event.approval_id in self._open_before)

    async def see(self, note: RunNote | None) -> None:
        """Tell what is worth telling; None is a silence. Raises what a question raised, such as `Pause`."""
        if note is None:
            running = ", ".join(self._open.values())
            await self._tell("mcp.progress.still", seconds=int(time.monotonic() - self._began), tools=running)
        else:
            await self._see(note.event)
        self._raise_what_asking_raised()

    async def _see(self, event: Event) -> None:
        match event:
            case StepStarted():
                self._step, self._text = event.step, ""
                await self._tell("mcp.progress.step", step=event.step)
            case TextDelta():
                self._text = (self._text + event.text)[-SHOWN_CHARS:]
                if time.monotonic() - self._told >= TEXT_EVERY:
                    await self._show(self._text)
            case ToolCallStarted():
                self._open[event.call_id] = event.name
                await self._show(f"{event.name}: {event.preview}" if event.preview else event.name)
            case ToolCallFinished():
                self._open.pop(event.call_id, None)
                await self._show(f"{event.name}: {event.summary or event.status}")
            case RetryScheduled():
                await self._tell("mcp.progress.retry", attempt=event.attempt, seconds=int(event.delay))
            case ApprovalRequested():
                self._ask(event)
                await asyncio.sleep(0)  # a client that answers with its next call says so at once
            case ApprovalAnswered():
                self._drop(event.approval_id)
            case _:
                pass

    def _ask(self, event: ApprovalRequested) -> None:
        if self._call.client.can_ask and event.approval_id not in self._asking:
            self._asking[event.approval_id] = asyncio.create_task(self._asked(event))

    async def _asked(self, event: ApprovalRequested) -> None:
        resumed = self._call.resumed
        answer = resumed.answers.get((self._run_id, event.approval_id)) if resumed is not None else None
        answer = answer or await self._call.client.ask(self._run_id, event)
        if answer is not None:
            with contextlib.suppress(MaiaError):  # answered meanwhile by another client, or over
                await self._call.desk.runs.answer(self._run_id, event.approval_id, answer)

    def _drop(self, approval_id: str) -> None:
        task = self._asking.get(approval_id)
        if task is not None and not task.done():
            task.cancel()

    def _raise_what_asking_raised(self) -> None:
        for task in self._asking.values():
            if task.done() and not task.cancelled() and (problem := task.exception()) is not None:
                raise problem

    async def end(self) -> None:
        """Ask nothing any more."""
        tasks = [task for task in self._asking.values() if not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _tell(self, key: str, **values: int | str) -> None:
        await self._show(self._call.desk.say(key, None, **values))

    async def _show(self, text: str) -> None:
        self._told = time.monotonic()
        await self._call.client.tell(" ".join(visible(text[-SHOWN_CHARS:]).split()))
