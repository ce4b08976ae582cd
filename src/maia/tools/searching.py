"""What Glob and Grep share: where a search begins, which files may be named, and the notes under a result."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from maia.core.errors import ToolProblem
from maia.core.permission import Need, Verdict
from maia.core.ports import Hands
from maia.tools import paths
from maia.tools.search.engine import SECONDS
from maia.tools.search.query import Found

MAX_COUNTED: Final = 2000
"""Files beyond the page that the rules are still asked about, so that not even a number tells of a denied one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a search looks: a real folder, and a file or folder in it, empty for all of it."""

    root: Path
    start: str = ""

    def shown(self, relative: str, launch: Path) -> str:
        """A found path as people and models read it."""
        return paths.shown(self.root / relative, launch)


def place_of(tool: str, text: str, hands: Hands) -> Place:
    """The folder that is searched, or the one file. Raises `ToolProblem` when it is not there."""
    path = paths.resolved(tool, text, hands)
    if os.path.isdir(path):
        return Place(path)
    if not os.path.exists(path):
        raise paths.missing(tool, text, hands)
    paths.refuse_special(path, text)
    return Place(path.parent, path.name)


@dataclass(slots=True)
class Allowed:
    """Asks the rules about each file. `denied` and `asking` count what was left out.

    With `reads` the result shows what stands in a file: then one that an ask rule names is left out as well, and a
    `Read` denied altogether counts. A rule that names no file speaks of the call itself, which was decided before.
    """

    hands: Hands
    tool: str
    reads: bool
    denied: int = 0
    asking: int = 0
    _asked: int = 0

    def __call__(self, path: Path, *, shown: bool = True) -> bool:
        """Whether a file may be part of the result. One that is only counted is taken on trust after `MAX_COUNTED`."""
        self._asked += 1
        return self._ask(str(path)) if shown or self._asked <= MAX_COUNTED else True

    def _ask(self, path: str) -> bool:
        read = self.hands.allowed(Need("Read", "path", path))
        names_files = read.rule is not None and read.rule.pattern is not None
        denied = read.verdict is Verdict.DENY and (names_files or self.reads)
        if denied or self.hands.allowed(Need(self.tool, "path", path)).verdict is Verdict.DENY:
            self.denied += 1
            return False
        if self.reads and read.verdict is Verdict.ASK and names_files:
            self.asking += 1
            return False
        return True


def newest_first(root: Path, found: Iterable[str]) -> list[str]:
    """Paths by the time of their last change; those that are gone by now are left out, ties go by name."""
    base = str(root)
    timed: list[tuple[int, str]] = []
    for path in found:
        try:
            timed.append((-os.stat(f"{base}/{path}", follow_symlinks=False).st_mtime_ns, path))
        except OSError:
            continue
    return [path for _, path in sorted(timed)]


def notes(found: Found, allowed: Allowed, hands: Hands) -> list[str]:
    """One sentence for everything that the result does not show."""
    say = hands.say
    rows = [
        (allowed.denied, "tool.search.denied"),
        (allowed.asking, "tool.search.asking"),
        (found.unreadable, "tool.search.unreadable"),
    ]
    said = [say(key, n=count) for count, key in rows if count]
    if found.cut == "time":
        said.append(say("tool.search.cut_time", n=round(SECONDS)))
    if found.cut == "size":
        said.append(say("tool.search.cut_size"))
    return said


def refuse_empty(name: str, value: str) -> None:
    """Raises `ToolProblem` for an empty pattern, which would mean everything."""
    if not value:
        raise ToolProblem("tool.search.empty_pattern", name=name)
