"""Which notes and messages fit a question: by words and a vector made here, age and origin (N-11.10). Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from maia.database.memories import NoteOrigin, Place, Weighable
from maia.memory.folding import tokens
from maia.memory.query import Term, terms
from maia.memory.ranking import freshness
from maia.memory.rough import rough_vector
from maia.memory.vectors import Cosine

_WEIGHT: Final[Mapping[NoteOrigin, float]] = {"person": 1.0, "agent": 1.0, "tool": 0.6, "import": 0.6, "channel": 0.3}
_IMPORTANT, _SAME_CONVERSATION, _SAME_PROJECT = 1.25, 1.1, 1.1
_TELLING: Final = 0.3
"""How much of the weight of one rare word must be found: sharing only usual words is no fit."""
_NEAR: Final = 0.4
"""The cosine from which a text fits without sharing a whole word."""
_CLOSENESS: Final = 0.5
"""What the vector adds to the words."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may be recalled. `factor` is what speaks for it beside its words; `age` is in seconds."""

    id: str
    words: str
    age: float
    vector: bytes | None = None
    factor: float = 1.0


def folded_words(text: str) -> str:
    """The words of a text as they are kept: folded, each between spaces."""
    return f" {' '.join(tokens(text))} "


def candidate_of(note: Weighable, now_ms: int, place: Place | None = None) -> Candidate:
    """A note, with what its origin and its place count for a conversation."""
    factor = _WEIGHT[note.origin]
    factor *= _IMPORTANT if note.is_important else 1.0
    if place is not None:
        factor *= _SAME_PROJECT if note.scope == "project" else 1.0
        factor *= _SAME_CONVERSATION if note.conversation_id == place.conversation_id else 1.0
    return Candidate(note.id, note.words, (now_ms - note.changed_at) / 1000, note.vector, factor)


def best(query: str, among: Sequence[Candidate]) -> list[str]:
    """The ids of what fits the query, best first."""
    asked = terms(query)
    if not asked or not among:
        return []
    vector = rough_vector(query)
    near = Cosine(vector) if vector is not None else None
    matches = [[_matches(term, each.words) for each in among] for term in asked]
    weights = [math.log(1 + len(among) / (sum(found) + 0.5)) for found in matches]
    rare = math.log(1 + 2 * max(len(among), 2))
    scored: list[tuple[float, str]] = []
    for n, each in enumerate(among):
        told = sum(weight for weight, found in zip(weights, matches, strict=True) if found[n]) / rare
        cosine = near.to(each.vector) if near is not None and each.vector else 0.0
        if told < _TELLING and cosine < _NEAR:
            continue
        relevance = told / (told + 1) + _CLOSENESS * max(0.0, cosine)
        scored.append((relevance * freshness(each.age) * each.factor, each.id))
    return [found for _, found in sorted(scored, reverse=True)]


def _matches(term: Term, words: str) -> bool:
    end = "" if term.is_start else " "
    return any(f" {form}{end}" in words for form in term.forms)
