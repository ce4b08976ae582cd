"""What Glob and Grep share: where a search begins, which files may be named, and the notes under a result."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from maia.core.errors import ToolProblem
from maia.core.ports import Hands
from maia.core.types import Need, Verdict
from maia.tools import paths
from maia.tools.search.engine import SECONDS
from maia.tools.search.query import Found


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
    """Asks the rules about each file once. `denied` and `asking` count what was left out.

    With `reads` the result shows what stands in a file: then one that a rule asks about is left out as well.
    """

    hands: Hands
    reads: bool
    denied: int = 0
    asking: int = 0
    _known: dict[str, bool] = field(default_factory=dict[str, bool])

    def __call__(self, path: Path) -> bool:
        name = str(path)
        if name not in self._known:
            self._known[name] = self._ask(name)
        return self._known[name]

    def _ask(self, path: str) -> bool:
        decision = self.hands.allowed(Need("Read", "path", path))
        if decision.verdict is Verdict.DENY:
            self.denied += 1
            return False
        if self.reads and decision.verdict is Verdict.ASK and decision.rule is not None:
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
