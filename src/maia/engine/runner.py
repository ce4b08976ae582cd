"""Runs one thing at a time as a task of its own and hands its events to whoever reads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from maia.core.events import Event

Reader = Callable[[Event], None]


class Runner:
    """The one running task of a session, and the readers of its events.

    Work that is stopped ends by itself, telling its last events; the iterator then ends, too.
    """

    def __init__(self) -> None:
        self._readers: list[Reader] = []
        self._task: asyncio.Task[None] | None = None

    def tell(self, event: Event) -> None:
        """Hand an event to all readers."""
        for reader in tuple(self._readers):
            reader(event)

    async def run(self, work: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[Event]:
        """Run `work` and yield what is told meanwhile; an error of it is raised after the last event.

        Closing the iterator early stops the work first.
        """
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._readers.append(queue.put_nowait)
        task = self._task = asyncio.create_task(work())
        task.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            if not task.cancelled():
                task.result()
        finally:
            self._readers.remove(queue.put_nowait)
            await self._end(task)
            if self._task is task:
                self._task = None

    def stop(self) -> bool:
        """Stop what runs; returns at once, False when nothing ran."""
        if self._task is None or self._task.done():
            return False
        # After what is already scheduled: work that has not begun yet would otherwise end without its events.
        asyncio.get_running_loop().call_soon(self._task.cancel)
        return True

    async def close(self) -> None:
        """Stop what runs and wait for its end."""
        if self._task is not None:
            await self._end(self._task)

    async def _end(self, task: asyncio.Task[None]) -> None:
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
