"""Glob patterns as regular expressions: `*`, `?`, `**`, `[a-z]`, and `{a,b}` where asked.

Paths use `/` and are relative.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

WILD: Final = frozenset("*?[{")


@dataclass(frozen=True, slots=True)
class Glob:
    """A compiled pattern. Without a slash it is matched against the name alone, at any depth."""

    regex: re.Pattern[str]
    on_name: bool

    def matches(self, path: str) -> bool:
        """Whether the relative path `path` is meant."""
        return self.regex.fullmatch(path.rpartition("/")[2] if self.on_name else path) is not None

    def filter(self, paths: Iterable[str]) -> list[str]:
        """Those of `paths` that are meant, in their order."""
        match = self.regex.fullmatch
        if self.on_name:
            return [path for path in paths if match(path.rpartition("/")[2])]
        return [path for path in paths if match(path)]


def compile_glob(pattern: str) -> Glob:
    """A pattern as a user or a model writes it: `*.py`, `src/**/*.{ts,tsx}`, `./a/b`."""
    plain = pattern.removeprefix("./")
    while plain.startswith("**/") and "/" not in plain[3:]:
        plain = plain[3:]
    on_name = "/" not in plain and plain != "**"
    return Glob(re.compile(translate(plain.lstrip("/"), braces=True), re.DOTALL), on_name)


def split_base(pattern: str) -> tuple[str, str]:
    """The leading folders without a wildcard, and the rest: `src/core/**/*.py` is `src/core` and `**/*.py`."""
    *folders, name = pattern.split("/")
    fixed = next((n for n, part in enumerate(folders) if not WILD.isdisjoint(part) or "\\" in part), len(folders))
    base = "/".join(folders[:fixed])
    return base or ("/" if fixed else ""), "/".join((*folders[fixed:], name))


def translate(pattern: str, *, braces: bool) -> str:
    """The regular expression of a pattern, for `fullmatch`. A bracket or brace never closed stands for itself."""
    pieces: list[str] = []
    at, depth = 0, 0
    closed = braces and pattern.count("{") == pattern.count("}")
    while at < len(pattern):
        piece, at = _piece(pattern, at)
        if closed and piece == r"\{":
            piece, depth = "(?:", depth + 1
        elif depth and piece == ",":
            piece = "|"
        elif depth and piece == r"\}":
            piece, depth = ")", depth - 1
        pieces.append(piece)
    return "".join(pieces) + ")" * depth


def _piece(pattern: str, at: int) -> tuple[str, int]:
    """The regular expression of what stands at `at`, and where the next piece begins."""
    char = pattern[at]
    if char == "*":
        return _stars(pattern, at)
    if char == "?":
        return "[^/]", at + 1
    if char == "[":
        return _bracket(pattern, at)
    if char == "\\" and at + 1 < len(pattern):
        return re.escape(pattern[at + 1]), at + 2
    return re.escape(char), at + 1


def _stars(pattern: str, at: int) -> tuple[str, int]:
    end = at
    while end < len(pattern) and pattern[end] == "*":
        end += 1
    whole = end - at >= 2 and (at == 0 or pattern[at - 1] == "/")
    if whole and end == len(pattern):
        return ".+", end
    if whole and pattern[end] == "/":
        return "(?:[^/]+/)*", end + 1
    return "[^/]*", end


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    start = at + 1
    negated = pattern[start : start + 1] in ("!", "^")
    start += negated
    end = pattern.find("]", start + 1)
    if end < 0:
        return r"\[", at + 1
    body = re.sub(r"([\\\[\]^&~|])", r"\\\1", pattern[start:end])
    try:
        re.compile(f"[{body}]")
    except re.error:
        return r"\[", at + 1
    return (f"[^/{body}]" if negated else f"(?!/)[{body}]"), end + 1
