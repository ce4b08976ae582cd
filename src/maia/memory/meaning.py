"""Finding by meaning: an embeddings model gives texts their vectors, now or when it answers again (C6.04)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from maia.core.endings import Failure, FailureKind
from maia.core.errors import ModelFailed
from maia.core.events import Notice
from maia.core.memories import MemoryEntry
from maia.memory.ranking import Hit
from maia.memory.store import Store
from maia.memory.vectors import PIECE_CHARS, Vector, dimensions, pieces, vector_of

BATCH: Final = 64
"""Pieces of text that are sent with one request."""

BACKLOG: Final = 16
"""Entries that are made up for with one call, where vectors are missing."""

PAUSE: Final = 60.0
"""Seconds in which a server that failed is left alone."""

_OF_THE_TEXT: Final = ("rejected", "too_long")
"""Failures that may come from one text, while others would be taken."""


class Embedder(Protocol):
    """A model that turns texts into numbers. `name` tells it from every other one."""

    @property
    def name(self) -> str: ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """As many lists of numbers as there are texts. Raises `ModelFailed`."""
        ...

    async def aclose(self) -> None: ...


class InThread(Protocol):
    """Runs blocking work of the store where it may block."""

    def __call__(self, work: Callable[[], Any], /) -> Awaitable[Any]: ...


class Meaning:
    """What a memory asks of its embeddings model. It raises nothing: where the model fails, words do.

    `tell` hears once that it failed, until it works again.
    """

    def __init__(
        self,
        embedder: Embedder,
        tell: Callable[[Notice], None] = lambda _notice: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._embedder = embedder
        self._tell = tell
        self._clock = clock
        self._silent_until = 0.0
        self._has_told = False

    async def search(
        self, store: Store, in_thread: InThread, query: str, tags: Sequence[str], limit: int
    ) -> Sequence[Hit]:
        """The entries nearest to the query; a part of the entries without vectors is made up for meanwhile."""
        vector, _ = await asyncio.gather(self._query_vector(query), self.catch_up(store, in_thread))
        if vector is None:
            return ()
        return await in_thread(lambda: store.by_meaning(self._space(vector), vector, tags, limit))

    async def catch_up(self, store: Store, in_thread: InThread, most: int = BACKLOG) -> int:
        """Give vectors to the newest entries that have none of this model; how many got them."""
        if self._clock() < self._silent_until:
            return 0
        known: str = await in_thread(store.space)
        space = known if self._is_ours(known) else ""
        waiting: Sequence[MemoryEntry] = await in_thread(lambda: store.without_vectors(space, most))
        if not waiting:
            return 0
        made = await self._made(waiting, has_worked=bool(space))
        if not made:
            return 0
        first = next((each[0] for each in made.values() if each), None)
        now = self._space(first) if first is not None else space
        await in_thread(lambda: store.put_vectors(now, made))
        return len(made)

    async def tried(self) -> int:
        """The dimensions of the model's vectors, asked for now; 0 where it gives none, and `tell` hears why."""
        vector = await self._query_vector("maia")
        return 0 if vector is None else dimensions(vector)

    async def aclose(self) -> None:
        await self._embedder.aclose()

    def _space(self, vector: Vector) -> str:
        return f"{self._embedder.name}#{dimensions(vector)}"

    def _is_ours(self, space: str) -> bool:
        return space.rpartition("#")[0] == self._embedder.name

    async def _made(self, entries: Sequence[MemoryEntry], *, has_worked: bool) -> Mapping[str, Sequence[Vector]]:
        """The vectors of each entry. One whose text the model refuses gets none, where the model takes others."""
        texts = {entry.entry_id: pieces(entry.text) for entry in entries}
        try:
            return await self._embedded(texts)
        except ModelFailed as failed:
            problem = failed
        made: dict[str, Sequence[Vector]] = {}
        for entry_id, parts in texts.items():
            if problem.failure.kind not in _OF_THE_TEXT:
                break
            try:
                made |= await self._embedded({entry_id: parts})
            except ModelFailed as failed:
                problem = failed
                if failed.failure.kind in _OF_THE_TEXT:
                    made[entry_id] = ()
        if has_worked or any(made.values()):
            return made
        self._rest(problem)
        return {}

    async def _embedded(self, texts: Mapping[str, Sequence[str]]) -> dict[str, Sequence[Vector]]:
        flat = [part for parts in texts.values() for part in parts]
        vectors: list[Vector] = []
        for start in range(0, len(flat), BATCH):
            vectors += await self._asked(flat[start : start + BATCH])
        rest = iter(vectors)
        return {entry_id: [next(rest) for _ in parts] for entry_id, parts in texts.items()}

    async def _asked(self, texts: Sequence[str]) -> list[Vector]:
        """Vectors of one size for the texts. Raises `ModelFailed`, also for an answer that is none."""
        found = [vector_of(numbers) for numbers in await self._embedder.embed(texts)]
        vectors = [vector for vector in found if vector is not None]
        if len(vectors) != len(texts) or len({dimensions(vector) for vector in vectors}) > 1:
            raise ModelFailed(Failure("not_llm", provider_text="embeddings that are no vectors of one size"))
        self._has_told = False
        return vectors

    async def _query_vector(self, query: str) -> Vector | None:
        if self._clock() < self._silent_until:
            return None
        try:
            return (await self._asked([query[:PIECE_CHARS]]))[0]
        except ModelFailed as failed:
            self._rest(failed)
            return None

    def _rest(self, failed: ModelFailed) -> None:
        """Leave the server alone for a while, and say once why entries are found by their words only."""
        self._silent_until = self._clock() + PAUSE
        if not self._has_told:
            self._has_told = True
            failure = failed.failure
            values = {"host": failure.host, "model": self._embedder.name, "status": failure.status}
            self._tell(Notice("warn", f"memory.words_only.{_CAUSES.get(failure.kind, 'silent')}", values))


_CAUSES: Final[Mapping[FailureKind, str]] = {
    "auth": "refused",
    "not_configured": "setting",
    "rejected": "answer",
    "too_long": "answer",
    "not_llm": "answer",
    "other": "answer",
}
"""Why there are no vectors, in a word of the catalogue; everything else passes."""
