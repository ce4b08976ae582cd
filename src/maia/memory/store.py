"""The port of a place where one identity's entries lie: SQLite and PostgreSQL are two of its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from maia.core.memories import MemoryEntry
from maia.memory.query import Term
from maia.memory.ranking import Hit
from maia.memory.vectors import Vector


class Store(Protocol):
    """The entries of one identity. Every method blocks and is called from one thread; all raise `MemoryProblem`.

    A `space` names the model that made vectors and their dimensions: vectors of two spaces are never compared, and
    writing those of a new one drops the others.
    """

    @property
    def place(self) -> str:
        """Where it lies, as a person may see it."""
        ...

    def put(self, entries: Sequence[MemoryEntry]) -> int:
        """Keep entries with different ids, in place of those with the same; how many are new. All or none."""
        ...

    def get(self, entry_ids: Sequence[str]) -> Mapping[str, MemoryEntry]: ...

    def forget(self, entry_id: str) -> bool:
        """Remove one entry with its vectors; whether there was one."""
        ...

    def recent(self, limit: int | None, tags: Sequence[str]) -> Sequence[MemoryEntry]:
        """The newest entries, newest first; all of them without a limit."""
        ...

    def by_words(self, terms: Sequence[Term], tags: Sequence[str], limit: int) -> Sequence[Hit]:
        """The entries in which the terms weigh most, best first, without regard to their age."""
        ...

    def space(self) -> str:
        """The space of the vectors that are kept; empty while there are none."""
        ...

    def without_vectors(self, space: str, limit: int) -> Sequence[MemoryEntry]:
        """Entries that have no vectors in this space yet, newest first."""
        ...

    def put_vectors(self, space: str, vectors: Mapping[str, Sequence[Vector]]) -> None:
        """Keep the vectors of entries by id, none for an entry whose text the model refuses. Unknown ids are left."""
        ...

    def by_meaning(self, space: str, vector: Vector, tags: Sequence[str], limit: int) -> Sequence[Hit]:
        """The entries nearest to the vector by cosine, best first; none where the store keeps another space."""
        ...

    def close(self) -> None: ...
