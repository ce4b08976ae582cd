"""A bounded look through a folder, nearest folders first (R-2.334)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeVar

from maia.folders.disk import Disk, SubFolder

MAX_DEPTH = 8
MAX_FOLDERS = 2_000
SKIPPED = frozenset({".git", ".hg", ".svn", ".jj", ".bzr", ".sl", "_darcs", "cvs", "node_modules"})
"""Folders of version control and of packages, in which no person keeps notes. Compared without case."""

FoundT = TypeVar("FoundT")


def walk(root: str, disk: Disk, look: Callable[[str, SubFolder], FoundT | None]) -> FoundT | None:
    """What `look` finds first among the sub-folders of `root`, asked with the folder and the sub-folder.

    Links are looked at, never followed. Folders are listed down to the eighth level below `root`, 2,000 at most.
    """
    waiting = deque([(root, 0)])
    for _ in range(MAX_FOLDERS):
        if not waiting:
            return None
        folder, depth = waiting.popleft()
        for sub in disk.sub_folders(folder):
            if sub.name.casefold() in SKIPPED:
                continue
            if (found := look(folder, sub)) is not None:
                return found
            if not sub.is_link and depth < MAX_DEPTH:
                waiting.append((f"{folder.rstrip('/')}/{sub.name}", depth + 1))
    return None
