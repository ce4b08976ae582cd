"""Tells readers that a conversation goes on, and keeps its newest events at hand for all of them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from weakref import WeakValueDictionary

from maia.core.events import TurnEnded
from maia.database.events import PROGRESS, Logged

_KEPT = 512
"""Events at hand; a reader that is further behind reads the log."""


class Feed:
    """The newest events of one conversation. Readers keep their own place, so a slow one holds nobody up."""

    def __init__(self) -> None:
        self._recent: deque[Logged] = deque(maxlen=_KEPT)
        self._news = asyncio.Event()

    def publish(self, logged: Sequence[Logged]) -> None:
        """These are in the log now. Pieces of a turn that is over are not, any more."""
        self._recent.extend(logged)
        if over := {each.turn for each in logged if isinstance(each.event, TurnEnded)}:
            kept = [each for each in self._recent if each.turn not in over or not isinstance(each.event, PROGRESS)]
            self._recent = deque(kept, maxlen=_KEPT)
        self.wake()

    def wake(self) -> None:
        """All readers look again."""
        self._news.set()
        self._news = asyncio.Event()

    def since(self, seq: int) -> tuple[Logged, ...] | None:
        """The events after that number, None when only the log knows."""
        recent = self._recent
        if not recent or recent[0].seq > seq + 1:
            return None
        return tuple(each for each in recent if each.seq > seq)

    async def news(self, seq: int, patience: float) -> bool:
        """Wait until there is something after that number; False after `patience` seconds without."""
        if self._recent and self._recent[-1].seq > seq:
            return True
        try:
            async with asyncio.timeout(patience):
                await self._news.wait()
        except TimeoutError:
            return False
        return True


class Feeds:
    """The feeds that somebody reads or writes."""

    def __init__(self) -> None:
        self._open: WeakValueDictionary[str, Feed] = WeakValueDictionary()
        self.closed = False

    def close(self) -> None:
        """Readers may go: nothing more will come."""
        self.closed = True
        for feed in list(self._open.values()):
            feed.wake()

    def of(self, conversation_id: str) -> Feed:
        """The one feed of a conversation; it lives as long as somebody holds it."""
        feed = self._open.get(conversation_id)
        if feed is None:
            feed = self._open[conversation_id] = Feed()
        return feed
