"""A person's own patterns: run by RE2, whose time grows with the text alone, so that none can hang a request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol, cast

from maia.privacy.kinds import Action

MAX_PATTERNS: Final = 50
MAX_PATTERN_CHARS: Final = 500
_MAX_MEMORY: Final = 1 << 20
"""Bytes that a compiled pattern may take: what repeats too much is refused."""


@dataclass(frozen=True, slots=True)
class CustomPattern:
    """What a person wants to be found beside the built-in types. `kind` is the slug that becomes its placeholder."""

    name: str
    pattern: str
    kind: str
    action: Action = "mask"

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Where it is found, in code points, never across a line. What is empty is no value."""
        if text and not text.isascii():
            text = _SURROGATES.sub("\ufffd", text)
        return (found.span() for found in _compiled(self.pattern).finditer(text) if found.end() > found.start())


class UnsafePattern(ValueError):
    """RE2 does not take the pattern: it is no expression, it looks back or around, or it repeats too much."""


def check_pattern(pattern: str) -> str:
    """The key of what is wrong with a pattern, empty when it may be used."""
    if not pattern or len(pattern) > MAX_PATTERN_CHARS:
        return "privacy.issue.pattern_length"
    try:
        matches = _compiled(pattern).finditer("")
    except UnsafePattern:
        return "privacy.issue.pattern"
    return "privacy.issue.pattern_empty" if next(iter(matches), None) is not None else ""


_SURROGATES: Final = re.compile("[\ud800-\udfff]")


class _Match(Protocol):
    def span(self) -> tuple[int, int]: ...
    def start(self) -> int: ...
    def end(self) -> int: ...


class _Pattern(Protocol):
    def finditer(self, text: str) -> Iterator[_Match]: ...


class _Engine(Protocol):
    """The part of RE2's module that is used; it has no types of its own."""

    error: type[Exception]

    def Options(self) -> Any: ...  # noqa: N802 - RE2's own name
    def compile(self, pattern: str, options: object) -> _Pattern: ...


@lru_cache(maxsize=4 * MAX_PATTERNS)
def _compiled(pattern: str) -> _Pattern:
    import re2  # pyright: ignore[reportMissingTypeStubs] - it has none; `_Engine` is the part that is used

    engine = cast(_Engine, re2)
    options = engine.Options()
    options.max_mem = _MAX_MEMORY
    options.never_nl = True
    options.log_errors = False
    try:
        return engine.compile(f"(?m){pattern}", options)
    except (engine.error, UnicodeEncodeError) as problem:
        raise UnsafePattern from problem
