"""`.gitignore` files, judged entry by entry on the way down, as git and ripgrep do.

Own code and not `pathspec`, because that one also matches everything below an ignored folder: a search that is started
inside one on purpose would find nothing, where ripgrep finds the files.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Final

from maia.tools.search.globs import translate

LEFT_OUT: Final = frozenset({".git", ".hg", ".svn", ".jj"})
"""Version control's own folders (or files, in a worktree). Never listed, never searched."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Neighbouring rules of one sign. `names` and `paths` are for any entry, `folder_…` for folders only."""

    ignores: bool
    names: re.Pattern[str] | None
    paths: re.Pattern[str] | None
    folder_names: re.Pattern[str] | None
    folder_paths: re.Pattern[str] | None

    def matches(self, name: str, path: str, is_folder: bool) -> bool:
        if (self.names and self.names.fullmatch(name)) or (self.paths and self.paths.fullmatch(path)):
            return True
        if not is_folder:
            return False
        return bool(
            (self.folder_names and self.folder_names.fullmatch(name))
            or (self.folder_paths and self.folder_paths.fullmatch(path))
        )


@dataclass(frozen=True, slots=True)
class Ignore:
    """One `.gitignore`, and how its paths come from those of the search: without their first `below` characters, and
    with `above` before them, the folders from its own down to where the search starts.
    """

    groups: tuple[_Group, ...]
    above: str = ""
    below: int = 0

    def verdict(self, name: str, path: str, is_folder: bool) -> bool | None:
        """True: ignored; False: wanted again by a `!` rule; None: nothing said. The last rule that matches counts."""
        own = self.above + path[self.below :]
        for group in self.groups:
            if group.matches(name, own, is_folder):
                return group.ignores
        return None


def parse(text: str) -> tuple[_Group, ...]:
    """The rules of a file, last first."""
    rows = [row for row in map(_rule, text.removeprefix("\ufeff").split("\n")) if row]
    groups: list[_Group] = []
    while rows:
        sign = rows[-1][0]
        same: list[tuple[bool, bool, bool, str]] = []
        while rows and rows[-1][0] == sign:
            same.append(rows.pop())
        groups.append(_Group(sign, *(_joined(same, *kind) for kind in ((0, 0), (1, 0), (0, 1), (1, 1)))))
    return tuple(groups)


def read_ignore(folder: str, above: str = "", below: int = 0) -> Ignore | None:
    """The `.gitignore` of a folder, None when there is none to read."""
    try:
        path = os.path.join(folder, ".gitignore")
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n", opener=_without_waiting) as file:
            groups = parse(file.read())
    except OSError:
        return None
    return Ignore(groups, above, below) if groups else None


def _without_waiting(path: str, how: int) -> int:
    return os.open(path, how | os.O_NONBLOCK)  # a FIFO of that name must not hold up the search


def ignores_above(start: str, below: int) -> list[Ignore]:
    """The `.gitignore` files of the folders over `start`, outermost first, up to the repository that it is in.

    `below` is the length of the path of `start` in the search's relative paths.
    """
    found: list[Ignore] = []
    folder, above = start, ""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent, name = os.path.split(folder)
        if parent == folder:
            break
        folder, above = parent, f"{name}/{above}"
        if ignore := read_ignore(folder, above, below):
            found.append(ignore)
    return found[::-1]


def _rule(line: str) -> tuple[bool, bool, bool, str] | None:
    """Whether it ignores, has a slash, is for folders only, and its regular expression."""
    if line.startswith("#"):
        return None
    stripped = line.rstrip("\r")
    while stripped.endswith((" ", "\t")) and not stripped.endswith(("\\ ", "\\\t")):
        stripped = stripped[:-1]
    ignores = not stripped.startswith("!")
    pattern = stripped.removeprefix("!") if not ignores else stripped
    folder_only = pattern.endswith("/")
    pattern = pattern.rstrip("/") if folder_only else pattern
    if not pattern:
        return None
    if pattern.startswith("**/") and "/" not in pattern[3:]:
        pattern = pattern[3:]
    return ignores, "/" in pattern, folder_only, translate(pattern.removeprefix("/"), braces=False)


def _joined(rows: list[tuple[bool, bool, bool, str]], on_path: int, folder_only: int) -> re.Pattern[str] | None:
    parts = [regex for _, slash, folder, regex in rows if (slash, folder) == (bool(on_path), bool(folder_only))]
    return re.compile("|".join(f"(?:{part})" for part in parts), re.DOTALL) if parts else None
