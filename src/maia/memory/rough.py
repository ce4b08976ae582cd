"""Vectors without a model: words and their pieces hashed into 256 numbers, made here and sent nowhere (N-11.13)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from zlib import crc32

from maia.memory.folding import tokens
from maia.memory.query import STOP
from maia.memory.vectors import Vector, vector_of

DIMENSIONS: Final = 256
_LONGEST: Final = 4_000
"""Characters of a text that are looked at."""
_PIECE: Final = 3
_WHOLE, _PART = 0.3, 0.5
"""What a whole word counts, and a piece of one: pieces find other forms of a word, and slips of the pen."""


def rough_vector(text: str) -> Vector | None:
    """The vector of a text by the feature hashing of its words; None for a text without words. Pure."""
    numbers = [0.0] * DIMENSIONS
    for feature, weight in _features(text[:_LONGEST]):
        digest = crc32(feature.encode("utf-8", "replace"))
        numbers[digest % DIMENSIONS] += weight if digest & 0x8000_0000 else -weight
    return vector_of(numbers)


def _features(text: str) -> Iterator[tuple[str, float]]:
    for word in tokens(text):
        if len(word) < _PIECE or word in STOP:
            continue
        yield word, _WHOLE
        around = f"<{word}>"
        for at in range(len(around) - _PIECE + 1):
            yield around[at : at + _PIECE], _PART
