"""From whose memory it is to the name of its place, so that two identities never share one (C6.04)."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from maia.core.text import can_be_kept
from maia.memory.folding import folded
from maia.memory.problems import MemoryProblem

MAX_CHARS: Final = 1_000


def checked_identity(identity: str) -> str:
    """The identity as it came. Raises `MemoryProblem` for one that is empty, overlong or no text."""
    if not identity.strip() or len(identity) > MAX_CHARS or not can_be_kept(identity):
        raise MemoryProblem("memory.bad_identity")
    return identity


def place_name(identity: str) -> str:
    """A name of `a-z`, `0-9` and `-` only, 55 characters at most, for a folder or a schema.

    The digest is of the identity's exact characters: names that differ by case, by Unicode form or by what a file
    system cannot hold get different places, and none leads elsewhere. The words before it are for people.
    """
    words = re.sub(r"[^a-z0-9]+", "-", folded(identity))[:30].strip("-")
    return f"{words or 'memory'}-{sha256(identity.encode()).hexdigest()[:24]}"
