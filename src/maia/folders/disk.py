"""What is looked at on the disk, behind one port: where a path leads, what lies there, and whether two are the same."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, Protocol, TypeAlias

Identity: TypeAlias = tuple[int, int]
"""Device and inode: the same for every name of a folder, whatever its case, through links and bind mounts alike."""

State: TypeAlias = Literal["folder", "file", "missing", "unreadable"]

MAX_ENTRIES = 20_000
"""Names of one folder that are looked at; a folder with more holds machine-made files."""


@dataclass(frozen=True, slots=True)
class SubFolder:
    """A folder in a folder, or a link to one, which has no identity of its own here."""

    name: str
    is_link: bool
    identity: Identity | None = None


class Disk(Protocol):
    """Looks only; nothing here raises, since folders come and go while they are looked at."""

    def real(self, path: str) -> str:
        """The path with every link followed, as far as it exists."""
        ...

    def state(self, path: str) -> State:
        """What lies there, behind links. A folder that cannot be listed is `unreadable`."""
        ...

    def identity(self, path: str) -> Identity | None:
        """Which thing lies there, behind links; None where nothing does."""
        ...

    def sub_folders(self, path: str) -> Sequence[SubFolder]:
        """The folders directly in a folder, by name; none where it cannot be listed."""
        ...


class LocalDisk:
    """The disk of this machine."""

    def real(self, path: str) -> str:
        try:
            return os.path.realpath(path)
        except (OSError, ValueError):  # links in a circle, a name too long
            return os.path.normpath(path)

    def state(self, path: str) -> State:
        try:
            is_folder = stat.S_ISDIR(os.stat(path).st_mode)
        except (OSError, ValueError) as problem:
            return "unreadable" if isinstance(problem, PermissionError) else "missing"
        if not is_folder:
            return "file"
        return "folder" if _can_list(path) else "unreadable"

    def identity(self, path: str) -> Identity | None:
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            return None
        return found.st_dev, found.st_ino

    def sub_folders(self, path: str) -> Sequence[SubFolder]:
        try:
            with os.scandir(path) as entries:
                found = [sub for entry in islice(entries, MAX_ENTRIES) if (sub := _sub_folder(entry)) is not None]
        except (OSError, ValueError):
            return ()
        return sorted(found, key=lambda sub: sub.name)


def _can_list(path: str) -> bool:
    """Tried, since rights alone do not say it: a dead network drive, a folder of another user."""
    if not os.access(path, os.R_OK | os.X_OK):
        return False
    try:
        os.scandir(path).close()
    except OSError as problem:
        return problem.errno == errno.EMFILE  # our own want of handles says nothing of the folder
    return True


def _sub_folder(entry: os.DirEntry[str]) -> SubFolder | None:
    try:
        if entry.is_symlink():
            return SubFolder(entry.name, is_link=True) if entry.is_dir() else None
        if not entry.is_dir():
            return None
        found = os.lstat(entry.path)  # not the entry's own number: where something is mounted that is of what is below
    except OSError:
        return None
    return SubFolder(entry.name, is_link=False, identity=(found.st_dev, found.st_ino))


def lineage(path: str) -> Iterator[str]:
    """A tidy absolute path and every folder above it, itself first, the root last."""
    yield path
    while path != (parent := os.path.dirname(path)):
        path = parent
        yield path
