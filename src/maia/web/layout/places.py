"""Places in long lists as readers bring them back: `<moment>-<id>` of the last row they saw."""

from __future__ import annotations

from maia.workspace.problems import Unusable


def place_of(cursor: str) -> tuple[int, str] | None:
    """The moment and the id, None for the beginning. Raises `Unusable`."""
    if not cursor:
        return None
    at, _, last = cursor.partition("-")
    if not (at.isascii() and at.isdigit() and len(at) < 16 and last.isascii() and last.isalnum()):
        raise Unusable("web.bad_cursor")
    return int(at), last
