"""Titles: the first words of the first message, until somebody gives a better one (R-2.128, R-2.131)."""

from __future__ import annotations

import re

from maia.core.text import kept_name, one_line
from maia.workspace.problems import Unusable

LONGEST_TITLE = 200
_EXCERPT = 100
_OF_MODEL = 90


def excerpt(message: str) -> str:
    """The first words of a message, cut between two of them."""
    words = one_line(message)
    if len(words) <= _EXCERPT:
        return words
    head = words[: _EXCERPT - 1]
    whole, space, _ = head.rpartition(" ")
    return (whole if space and len(whole) > _EXCERPT // 2 else head).rstrip(" ,;:.!?") + "…"


def from_model(answer: str) -> str | None:
    """The title in a model's answer, None where it is none: talk, markup, or a value that was masked for the model."""
    line = next((line for line in answer.splitlines() if line.strip()), "")
    line = re.sub(r"^[#*\s]*(?:title|titre)\s*:\s*", "", one_line(line), flags=re.IGNORECASE)
    title = line.strip(" \"'`*_#«»“”„.\u202f\u00a0")
    if not kept_name(title) or len(title) > _OF_MODEL or re.search(r"[<>]|\[[A-Z_]+\]", title):
        return None
    return title


def checked_title(title: str) -> str:
    """A title as a person gave it, on one line. Raises `Unusable` for an empty or an endless one."""
    clean = kept_name(title)
    if not clean:
        raise Unusable("workspace.title_empty")
    if len(clean) > LONGEST_TITLE:
        raise Unusable("workspace.title_long", limit=LONGEST_TITLE)
    return clean
