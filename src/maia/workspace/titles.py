"""Titles: the first words of the first message, until somebody gives a better one (R-2.128, R-2.131)."""

from __future__ import annotations

from maia.core.text import visible
from maia.workspace.problems import Unusable

LONGEST_TITLE = 200
_EXCERPT = 60


def excerpt(message: str) -> str:
    """The first words of a message, cut between two of them."""
    words = visible(" ".join(message.split()))
    if len(words) <= _EXCERPT:
        return words
    head = words[: _EXCERPT - 1]
    whole, space, _ = head.rpartition(" ")
    return (whole if space and len(whole) > _EXCERPT // 2 else head).rstrip(" ,;:.!?") + "…"


def checked_title(title: str) -> str:
    """A title as a person gave it, on one line. Raises `Unusable` for an empty or an endless one."""
    clean = visible(" ".join(title.split()))
    if not clean:
        raise Unusable("workspace.title_empty")
    if len(clean) > LONGEST_TITLE:
        raise Unusable("workspace.title_long", limit=LONGEST_TITLE)
    return clean
