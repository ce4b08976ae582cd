"""What can go wrong with a memory, as words for a person."""

from __future__ import annotations

from maia.core.errors import MaiaError


class MemoryProblem(MaiaError):
    """A memory cannot be opened, read or written, or refuses what it was given."""
