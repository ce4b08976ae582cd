"""Which entries come first: good words count more when they are fresh, and two rankings become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from maia.core.memories import FoundBy

HALF_LIFE: Final = 30 * 24 * 3600.0
"""Seconds after which half of an entry's freshness is gone."""

MATCHES: Final = 15_000
"""How many entries are weighed for one question by words."""

FUSION: Final = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One entry of a ranking. `score` is higher for better ones; `created` is seconds since 1970."""

    entry_id: str
    created: float
    score: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """One entry of the answer."""

    entry_id: str
    score: float
    by: FoundBy


def affordable(counts: Sequence[int], most: int) -> list[int]:
    """Of words that match so many entries each, the places of the rarest that match no more than `most` together.

    There is always one. What frequent words add to a ranking is little, and weighing their entries takes the time.
    """
    taken: list[int] = []
    total = 0
    for place in sorted(range(len(counts)), key=counts.__getitem__):
        total += counts[place]
        if taken and total > most:
            break
        taken.append(place)
    return taken


def freshness(age: float) -> float:
    """The factor of an age in seconds: 1 for now, 3/4 after one half-life, and never below 1/2.

    What is old fades, and is found all the same where nothing fits better.
    """
    return 0.5 + 0.5 * 2.0 ** (-max(age, 0.0) / HALF_LIFE)


def fresh_first(hits: Sequence[Hit], now: float) -> list[Hit]:
    """The hits with their scores weighed by freshness, best first; of equals the newest."""
    weighed = [Hit(hit.entry_id, hit.created, hit.score * freshness(now - hit.created)) for hit in hits]
    return sorted(weighed, key=lambda hit: (-hit.score, -hit.created, hit.entry_id))


def joined(words: Sequence[Hit], meaning: Sequence[Hit], limit: int) -> list[Ranked]:
    """Both rankings as one, by reciprocal rank. Where there is only one ranking its own scores are kept."""
    if not meaning or not words:
        by: FoundBy = "words" if words else "meaning"
        return [Ranked(hit.entry_id, hit.score, by) for hit in (words or meaning)[:limit]]
    found: dict[str, Ranked] = {}
    created: dict[str, float] = {}
    rankings: tuple[tuple[FoundBy, Sequence[Hit]], ...] = (("words", words), ("meaning", meaning))
    for by_this, ranking in rankings:
        for rank, hit in enumerate(ranking, 1):
            before = found.get(hit.entry_id)
            score = 1 / (FUSION + rank) + (before.score if before else 0.0)
            found[hit.entry_id] = Ranked(hit.entry_id, score, "both" if before else by_this)
            created[hit.entry_id] = hit.created
    best = sorted(found.values(), key=lambda one: (-one.score, -created[one.entry_id], one.entry_id))
    return best[:limit]
