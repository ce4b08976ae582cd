"""Tells open pages that something changed: which conversations, or what all people share. They look for themselves."""

from __future__ import annotations

import asyncio
from collections import deque

EVERYTHING = ""
"""In place of a conversation's id: stages, projects, or more than is remembered."""
_KEPT = 256


class News:
    """Numbered changes. Readers keep their own number, so a slow one holds nobody up."""

    def __init__(self) -> None:
        self.number = 0
        self.closed = False
        self._recent: deque[str] = deque(maxlen=_KEPT)
        self._told = asyncio.Event()

    def tell(self, conversation_id: str = EVERYTHING) -> None:
        """That conversation is another one now."""
        self.number += 1
        self._recent.append(conversation_id)
        self._wake()

    def close(self) -> None:
        """Readers may go: nothing more will come."""
        self.closed = True
        self._wake()

    async def after(self, number: int, patience: float) -> tuple[int, frozenset[str]]:
        """The number that was reached, and what changed since `number`; nothing after `patience` seconds without."""
        if self.number == number and not self.closed:
            try:
                async with asyncio.timeout(patience):
                    await self._told.wait()
            except TimeoutError:
                pass
        missed = self.number - number
        if missed > len(self._recent):
            return self.number, frozenset((EVERYTHING,))
        return self.number, frozenset(list(self._recent)[len(self._recent) - missed :])

    def _wake(self) -> None:
        self._told.set()
        self._told = asyncio.Event()
