"""The lines sent before, kept in one file for all folders; several terminals may write it at the same time.

One JSON string a line, so that a request of several lines is one entry. A line is appended whole under a lock; the file
is for its owner only. A line that cannot be read is skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_UN, flock
from pathlib import Path

from maia.core.jsontext import read_json

KEPT = 2_000
_LONGEST = 100_000
"""Characters of an entry: a longer one is not kept, since the file is read at every start."""
_FULL = 4_000_000


class History:
    """Entries of `path`, oldest first; without a path nothing outlives the session.

    A file that cannot be read or written makes no noise: history is a comfort, and the request is what matters.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._entries: list[str] | None = None

    def entries(self) -> list[str]:
        """All entries, read once; neighbours that are equal count as one."""
        if self._entries is None:
            self._entries = _without_repeats(_read(self._path) if self._path else [])
        return self._entries

    def add(self, line: str) -> None:
        """Keep a line that was sent. One that begins with a space is not kept, as in shells."""
        if not line.strip() or line[0] == " " or len(line) > _LONGEST:
            return
        entries = self.entries()
        if entries and entries[-1] == line:
            return
        entries.append(line)
        del entries[:-KEPT]
        if self._path is not None:
            try:
                _append(self._path, line)
            except OSError:
                self._path = None

    def search(self, words: str, before: int | None = None) -> int | None:
        """The place of the newest entry older than `before` that holds `words`, without regard to case."""
        entries = self.entries()
        wanted = words.lower()
        for place in range(min(before if before is not None else len(entries), len(entries)) - 1, -1, -1):
            if wanted in entries[place].lower():
                return place
        return None


def _without_repeats(entries: list[str]) -> list[str]:
    kept = [entry for place, entry in enumerate(entries) if place == 0 or entries[place - 1] != entry]
    return kept[-KEPT:]


def _read(path: Path) -> list[str]:
    try:
        if not path.is_file():
            return []
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _FULL))
            lines = file.read(_FULL).split(b"\n")
    except OSError:
        return []
    return [entry for line in lines if (entry := _entry(line)) is not None]


def _entry(line: bytes) -> str | None:
    try:
        value = read_json(line)
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def _append(path: Path, line: str) -> None:
    """One write in append mode under a lock; a file that has grown too long keeps its newest entries."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    with _locked(fd):
        os.fchmod(fd, 0o600)
        size = os.fstat(fd).st_size
        torn = b"\n" if size and os.pread(fd, 1, size - 1) != b"\n" else b""
        os.write(fd, torn + json.dumps(line).encode() + b"\n")
        if size > _FULL:
            newest = [json.dumps(entry).encode() for entry in _read(path)[-KEPT // 2 :]]
            os.ftruncate(fd, 0)
            os.write(fd, b"\n".join(newest) + b"\n")


@contextmanager
def _locked(fd: int) -> Generator[None]:
    try:
        flock(fd, LOCK_EX)
        yield
        flock(fd, LOCK_UN)
    finally:
        os.close(fd)
