"""Text patterns in which `*` is any run of characters, matched in linear time.

A subject may hold unknown pieces (`ANY`, `ONE`): values that only exist once the command runs. `matches` is true when
the pattern covers the subject whatever those values are; `may_match` when some values would make it match.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

ANY: Final = "\ue000"
"""An unknown piece that may become any text, several words or none (`$x` outside quotes)."""
ONE: Final = "\ue001"
"""An unknown piece within one word (`"$x"`, a glob); it is not expected to start with a dash."""
SEP: Final = "\x00"
"""Stands between the words of a command, so that a blank inside quotes is no word boundary."""
ESCAPED_STAR: Final = "\\*"

Segments = tuple[str, ...]
"""The literal runs of a pattern; between two of them stands a `*`. One segment is an exact text."""


@lru_cache(maxsize=4096)
def segments(pattern: str) -> Segments:
    """The pattern split at its stars. `\\*` is a star as a character; any other backslash is itself."""
    if ESCAPED_STAR not in pattern:
        return tuple(pattern.split("*"))
    parts = list[str]()
    current, i = "", 0
    while i < len(pattern):
        if pattern.startswith(ESCAPED_STAR, i):
            current, i = current + "*", i + 2
        elif pattern[i] == "*":
            parts.append(current)
            current, i = "", i + 1
        else:
            current, i = current + pattern[i], i + 1
    return (*parts, current)


def escaped(text: str) -> str:
    """A pattern that matches exactly this text."""
    return text.replace("*", ESCAPED_STAR)


def matches(parts: Segments, subject: str) -> bool:
    """Whether the pattern covers the whole subject. Unknown pieces are covered by a star only."""
    if len(parts) == 1:
        return subject == parts[0]
    head, tail = parts[0], parts[-1]
    if len(subject) < len(head) + len(tail) or not subject.startswith(head) or not subject.endswith(tail):
        return False
    at, end = len(head), len(subject) - len(tail)
    for middle in parts[1:-1]:
        found = subject.find(middle, at, end)
        if found < 0:
            return False
        at = found + len(middle)
    return True


def may_match(parts: Segments, subject: str) -> bool:
    """Whether unknown pieces of the subject could take values with which the pattern matches."""
    known = _known_prefix(subject)
    if len(known) == len(subject):
        return False
    head = parts[0]
    if not (head.startswith(known) or (len(parts) > 1 and known.startswith(head))):
        return False
    return _intersects(_tokens(parts), subject)


def _known_prefix(subject: str) -> str:
    ends = [at for at in (subject.find(ANY), subject.find(ONE)) if at >= 0]
    return subject[: min(ends)] if ends else subject


_STAR = ""


def _tokens(parts: Segments) -> list[str]:
    tokens = list(parts[0])
    for part in parts[1:]:
        tokens.append(_STAR)
        tokens.extend(part)
    return tokens


def _intersects(pattern: list[str], subject: str) -> bool:
    """Whether two texts with gaps have a common value; `row[j]` is true when `pattern[:j]` fits what was read."""
    row = [True] + [False] * len(pattern)
    _spread_stars(row, pattern)
    for i, char in enumerate(subject):
        if char in (ANY, ONE):
            row = _after_unknown(row, pattern, char, at_word_start=i > 0 and subject[i - 1] == SEP)
        else:
            row = [False] + [
                (row[j] and want == char) or (want == _STAR and row[j + 1]) for j, want in enumerate(pattern)
            ]
        _spread_stars(row, pattern)
        if not any(row):
            return False
    return row[-1]


def _spread_stars(row: list[bool], pattern: list[str]) -> None:
    for j, want in enumerate(pattern):
        if want == _STAR and row[j]:
            row[j + 1] = True


def _after_unknown(row: list[bool], pattern: list[str], char: str, *, at_word_start: bool) -> list[bool]:
    """From every state that holds, an unknown piece may swallow any further part of the pattern."""
    after = list(row)
    for j, want in enumerate(pattern):
        if not after[j]:
            continue
        if char == ONE and (want == SEP or (want == "-" and at_word_start and row[j])):
            continue
        after[j + 1] = True
    return after
