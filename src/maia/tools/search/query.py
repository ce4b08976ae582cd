"""What a search is asked, and what it found, whichever engine does it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Mode: TypeAlias = Literal["list", "files", "count", "content"]
"""`list` names all files, `files` those that match; `count` adds how many lines match, `content` the lines."""

Cut: TypeAlias = Literal["", "time", "size"]


@dataclass(frozen=True, slots=True)
class Query:
    """`root` is a real folder, and `start` the file or folder in it to look at, empty for all of it.

    `glob` limits the files, relative to `root`. `context` is lines before and after each match.
    """

    root: str
    mode: Mode
    start: str = ""
    glob: str = ""
    pattern: str = ""
    ignore_case: bool = False
    context: int = 0
    multiline: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, from 1; `matches` is False for one that is only shown around a match."""

    number: int
    text: str
    matches: bool


@dataclass(frozen=True, slots=True)
class Found:
    """Paths are relative to the query's root. `unreadable` folders or files were left out, `cut` says why it stopped.

    `lines` and `counts` have an entry a file, in the order of the paths.
    """

    engine: Literal["rg", "python"]
    paths: list[str] = field(default_factory=list[str])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    lines: dict[str, list[Line]] = field(default_factory=dict[str, list[Line]])
    unreadable: int = 0
    cut: Cut = ""
