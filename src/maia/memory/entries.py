"""What may be kept: texts within their size, tags in one spelling."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

from maia.core.text import can_be_kept, visible
from maia.memory.problems import MemoryProblem

MAX_CHARS: Final = 100_000
MAX_TAGS: Final = 20
MAX_TAG_CHARS: Final = 50


def checked_text(text: str) -> str:
    """The text as it came. Raises `MemoryProblem` where it is empty, too long, or holds what no database keeps."""
    if not text.strip():
        raise MemoryProblem("memory.empty")
    if len(text) > MAX_CHARS:
        raise MemoryProblem("memory.too_long", size=len(text), limit=MAX_CHARS)
    if not can_be_kept(text):
        raise MemoryProblem("memory.no_text")
    return text


def checked_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Tags in one spelling (lower case, single spaces), each once, in their order. Raises `MemoryProblem`."""
    found = tuple(dict.fromkeys(_checked_tag(tag) for tag in tags))
    if len(found) > MAX_TAGS:
        raise MemoryProblem("memory.too_many_tags", limit=MAX_TAGS)
    return found


def _checked_tag(tag: str) -> str:
    plain = " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFC", tag).casefold()).split())
    if not plain or len(plain) > MAX_TAG_CHARS or "," in plain or not plain.isprintable():
        raise MemoryProblem("memory.bad_tag", tag=visible(tag)[:MAX_TAG_CHARS], limit=MAX_TAG_CHARS)
    return plain
