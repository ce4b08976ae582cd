"""The memory of one identity as others use it: texts are checked, kept at once, and found by words and by meaning."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final, TypeVar

from maia.core.memories import Found, MemoryEntry
from maia.memory.entries import checked_tags, checked_text
from maia.memory.meaning import Meaning
from maia.memory.query import terms
from maia.memory.ranking import fresh_first, joined
from maia.memory.store import Store

CANDIDATES: Final = 200
"""How many of the best by words are weighed by their age."""

MOST: Final = 100
"""How many entries one question gets at most."""

ResultT = TypeVar("ResultT")


class PrivateMemory:
    """A `core.memories.Memory`, and what its owner may do beside: give it out whole and take it in again.

    The store works in a thread of its own, so that no disk and no server holds up the event loop. `mask` takes keys
    out of a text before it is kept. All methods raise `MemoryProblem`.
    """

    def __init__(
        self,
        store: Store,
        mask: Callable[[str], str],
        meaning: Meaning | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._mask = mask
        self._meaning = meaning
        self._clock = clock
        self._thread: ThreadPoolExecutor | None = None

    async def store(self, text: str, tags: Sequence[str] = (), source: str = "") -> MemoryEntry:
        """Keep a text; the entry as it was kept. Its vectors follow, at once or when the model answers again."""
        created = round(self._clock(), 6)
        kept = checked_text(self._mask(text))
        entry = MemoryEntry(secrets.token_hex(6), kept, created, checked_tags(tags), source)
        await self._in_thread(lambda: self._store.put((entry,)))
        if self._meaning is not None:
            await self._meaning.catch_up(self._store, self._in_thread)
        return entry

    async def search(self, query: str, limit: int = 10, tags: Sequence[str] = ()) -> Sequence[Found]:
        wanted, count = checked_tags(tags), min(max(limit, 1), MOST)
        looked_for = terms(query)
        words = meaning = ()
        if self._meaning is not None and looked_for:
            meaning = await self._meaning.search(self._store, self._in_thread, query, wanted, 2 * count)
        if looked_for:
            words = await self._in_thread(lambda: self._store.by_words(looked_for, wanted, CANDIDATES))
        best = joined(fresh_first(words, self._clock()), meaning, count)
        entries = await self._in_thread(lambda: self._store.get([one.entry_id for one in best]))
        return [Found(entries[one.entry_id], one.score, one.by) for one in best if one.entry_id in entries]

    async def recent(self, limit: int = 10, tags: Sequence[str] = ()) -> Sequence[MemoryEntry]:
        wanted = checked_tags(tags)
        return await self._in_thread(lambda: self._store.recent(min(max(limit, 1), MOST), wanted))

    async def forget(self, entry_id: str) -> bool:
        return await self._in_thread(lambda: self._store.forget(entry_id))

    async def everything(self, tags: Sequence[str] = ()) -> Sequence[MemoryEntry]:
        """All entries, oldest first."""
        wanted = checked_tags(tags)
        return list(reversed(await self._in_thread(lambda: self._store.recent(None, wanted))))

    async def take_in(self, entries: Sequence[MemoryEntry]) -> int:
        """Keep entries that were given out, in place of those with the same id; how many are new. All or none."""
        kept = [
            replace(each, text=checked_text(self._mask(each.text)), tags=checked_tags(each.tags))
            for each in {entry.entry_id: entry for entry in entries}.values()
        ]
        return await self._in_thread(lambda: self._store.put(kept))

    async def embed_all(self) -> int:
        """Give vectors to every entry that has none, as long as the model answers; how many got them."""
        done = 0
        while self._meaning is not None and (made := await self._meaning.catch_up(self._store, self._in_thread)):
            done += made
        return done

    async def aclose(self) -> None:
        """Close the file or the connection. A later call opens it again."""
        await self._in_thread(self._store.close)
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.shutdown(wait=False)
        if self._meaning is not None:
            await self._meaning.aclose()

    async def _in_thread(self, work: Callable[[], ResultT]) -> ResultT:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "memory")
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)
