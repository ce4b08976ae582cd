"""Numbers in an answer: what a server writes there is not always one that can be counted with."""

from __future__ import annotations

from typing import Final

_MOST: Final = 2**53


def tokens_of(value: object) -> int:
    """A number of tokens; 0 for what is none (text, nothing, negative, infinite, beyond any window)."""
    if isinstance(value, (int, float)) and 0 <= value < _MOST:
        return int(value)
    return 0


def usd_of(value: object) -> float | None:
    """A cost in US dollars, None for what is none."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < _MOST:
        return float(value)
    return None
