"""Finds the window of the model that answers, in the background (T3.01)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from maia.core.events import Notice
from maia.engine.context import Window
from maia.engine.setup import Bound, Models


class WindowSearch:
    """Follows one model at a time. What was found is known for the whole run, and told once.

    `tell` hears who said how large the window is; `found` is awaited each time that `window` is known.
    """

    def __init__(self, models: Models, tell: Callable[[Notice], None], found: Callable[[], Awaitable[None]]) -> None:
        self.window = Window()
        self._models = models
        self._tell = tell
        self._found = found
        self._known: dict[tuple[str, str], Window] = {}
        self._bound: Bound | None = None
        self._task: asyncio.Task[None] | None = None

    async def follow(self, bound: Bound) -> None:
        """Another model answers from here on; its window is unknown until it is found. The search before it ends."""
        await self.close()
        self.window = Window()
        self._bound = bound
        self._task = asyncio.create_task(self._find(bound))

    def give_up(self) -> None:
        """Somebody does not want to wait. Nothing happens when nothing is searched for."""
        if self._bound is not None and self._task is not None and self._task.cancel():
            self._tell(Notice("warn", "turn.window_given_up", {"model": self._bound.model}))

    async def close(self) -> None:
        """End the search without a word. May be called twice."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _find(self, bound: Bound) -> None:
        key = (bound.provider, bound.model)
        if key not in self._known:
            self._known[key], notice = await self._models.window(bound)
            self._tell(notice)
        self.window = self._known[key]
        await self._found()
