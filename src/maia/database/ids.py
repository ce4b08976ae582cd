"""Identifiers of rows and their time: random, and sorted by the moment in which they were made."""

from __future__ import annotations

import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32 in lower case: no letter can be taken for another."""
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
ID_CHARS = 26


def new_id() -> str:
    """A new identifier: 48 bits of milliseconds and 80 random bits, as in a ULID (github.com/ulid/spec)."""
    number = (now_ms() << 80) | secrets.randbits(80)
    return "".join([_PAIRS[(number >> shift) & 1023] for shift in range(120, -1, -10)])


def now_ms() -> int:
    """Now, in milliseconds since 1970, UTC: what every `…_at` column holds."""
    return time.time_ns() // 1_000_000
