"""What a model left in its workspace: plain files that people may want, found without following links."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_SCANNED: Final = 20_000
"""Entries that are looked at: more than that is somebody's archive, not an answer."""
_TOOLS: Final = frozenset(("node_modules", "__pycache__", "venv", "site-packages", "vendor", "target"))
"""Folders that programs fill for themselves."""


@dataclass(frozen=True, slots=True)
class Produced:
    """A file by its path in the workspace, with what tells whether it changed."""

    path: str
    size: int
    changed_ns: int


def produced(workspace: Path, known: Mapping[str, tuple[int, int]]) -> list[Produced]:
    """The files that are not `known` (path → size and moment) as they are now, in the order of their paths.

    Hidden ones are left out, and so are empty ones. Blocks; raises nothing.
    """
    found = (each for each in _walk(workspace, "", [_SCANNED]) if known.get(each.path) != (each.size, each.changed_ns))
    return sorted(found, key=lambda each: each.path)


def _walk(folder: Path, above: str, left: list[int]) -> Iterator[Produced]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            left[0] -= 1
            if left[0] < 0:
                return
            if entry.name.startswith(".") or not _is_text(entry.name):
                continue
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _TOOLS:
                        yield from _walk(folder / entry.name, f"{above}{entry.name}/", left)
                    continue
                state = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(state.st_mode) and state.st_size:
                    yield Produced(above + entry.name, state.st_size, state.st_mtime_ns)


def _is_text(name: str) -> bool:
    """Names that are no UTF-8 could be kept nowhere."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def open_produced(workspace: Path, path: str) -> int:
    """An open file's number for a path of `produced`; no part of it may be a link. Raises `OSError`."""
    *folders, name = path.split("/")
    at = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        for folder in folders:
            below = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = below
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
    finally:
        os.close(at)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError("no plain file")
    return fd
