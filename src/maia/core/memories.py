"""The port of a private memory: entries of one identity, kept and found again (C6.04)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

PERSON: Final = "person"
"""The identity of the person whose machine it is, in memories as in runs."""

FoundBy: TypeAlias = Literal["words", "meaning", "both"]


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """One thing remembered. `created` is seconds since 1970, `source` the run it comes from, empty for a person's."""

    entry_id: str
    text: str
    created: float
    tags: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A hit, best first. `score` is comparable within one answer only."""

    entry: MemoryEntry
    score: float
    by: FoundBy


class Memory(Protocol):
    """The memory of one identity, which is settled when it is opened and is no argument of any call.

    Every method raises `MaiaError` where the store cannot be used.
    """

    async def store(self, text: str, tags: Sequence[str] = (), source: str = "") -> MemoryEntry: ...

    async def search(self, query: str, limit: int = 10, tags: Sequence[str] = ()) -> Sequence[Found]:
        """The entries that fit best, by words with recency, and by meaning where an embeddings model is configured.

        Entries must have all of `tags`.
        """
        ...

    async def recent(self, limit: int = 10, tags: Sequence[str] = ()) -> Sequence[MemoryEntry]:
        """The newest entries, newest first."""
        ...

    async def forget(self, entry_id: str) -> bool:
        """Remove one entry; whether there was one."""
        ...

    async def aclose(self) -> None: ...


# Look-ups of one answer in the workspace ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Item:
    """Something that was found: a note or an earlier message. `when` is seconds since 1970, `where` its source."""

    item_id: str
    text: str
    when: float
    where: str = ""


class Lookups(Protocol):
    """What one answer may ask of the memory of its conversation, so many times (N-11.07).

    Whose it is and which part of it is open was settled before, and is asked again with each call. Every method raises
    `MaiaError`: for a conversation that is gone, and when all calls are used.
    """

    async def search(self, query: str, limit: int) -> Sequence[Item]:
        """What fits best, in short."""
        ...

    async def expand(self, ids: Sequence[str]) -> Sequence[Item]:
        """These items whole; what is not open here is left out."""
        ...

    async def keep(self, text: str, *, everywhere: bool) -> Item:
        """Keep a note for this project, or everywhere; as it was kept. It is no look-up."""
        ...
