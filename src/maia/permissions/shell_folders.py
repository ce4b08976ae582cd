"""Where a command of a script runs: what `cd` does to the folder, after success and after failure."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import Final

from maia.permissions.script import Command, Folders, Word

START: Final[Folders] = frozenset({""})
MAX_FOLDERS: Final = 4
"""More possible folders than these count as unknown."""


@dataclass(frozen=True, slots=True)
class After:
    """The folders in which what follows may run: after success and after failure."""

    ok: Folders
    failed: Folders

    @property
    def either(self) -> Folders:
        return union(self.ok, self.failed)


def union(one: Folders, other: Folders) -> Folders:
    """Either of two."""
    if one is None or other is None:
        return None
    both = one | other
    return both if len(both) <= MAX_FOLDERS else None


def path_of(word: Word) -> str:
    """A word as a path; a quoted `~` is a plain name."""
    return f"./{word.text}" if word.quoted and word.source[:1] in "'\"\\" and word.text.startswith("~") else word.text


def cd_goal(command: Command) -> str | None:
    """Where a `cd` goes as written, or None when only running it tells."""
    words = list(command.words[1:])
    physical = False
    while words and words[0].fixed and re.fullmatch(r"-[LPe@]+|--", words[0].text):
        physical = physical or "P" in words[0].text
        if words.pop(0).text == "--":
            break
    if not words:
        return "~"
    if len(words) != 1 or not words[0].fixed or words[0].text in ("-", ""):
        return None
    goal = path_of(words[0])
    return None if physical and ".." in goal.split("/") else goal


def entered(folders: Folders, goal: str) -> Folders:
    """The folders after a `cd` to `goal` that succeeded."""
    if goal.startswith(("/", "~")):
        return frozenset({goal})
    if folders is None:
        return None
    joined = {posixpath.normpath(posixpath.join(folder, goal)) for folder in folders}
    return frozenset("" if folder == "." else folder for folder in joined)
