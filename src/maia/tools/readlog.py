"""Remembers by real path which files this session read, so that an edit of an unseen or changed one is refused."""

from __future__ import annotations

import os
from pathlib import Path

from maia.core.fileread import digest
from maia.core.jsonvalue import JsonObject
from maia.core.ports import FileState, ReadLog


class SessionReads:
    """The `ReadLog` of one session, in memory; a resumed session is told what its results said (`known_data`)."""

    def __init__(self) -> None:
        self._states: dict[str, FileState] = {}

    def note(self, path: Path, state: FileState) -> None:
        """The session knows the file as it is in `state`."""
        self._states[os.path.realpath(path)] = state

    def seen(self, path: Path) -> FileState | None:
        """The state in which the session last saw the file, under any of its names; None when never."""
        return self._states.get(os.path.realpath(path))


def known_data(path: Path, reads: ReadLog) -> JsonObject:
    """Which file a result is about and what the session knows of it, so that a resumed session still knows it."""
    state = reads.seen(path)
    return {"path": str(path), "digest": state.digest if state else ""}


def state_of(stat: os.stat_result, data: bytes | None) -> FileState:
    """What to note about a file: `data` is its whole content, None when it was too big to be read whole."""
    return FileState(stat.st_size, stat.st_mtime_ns, "" if data is None else digest(data))


def is_unchanged(noted: FileState, stat: os.stat_result, data: bytes) -> bool:
    """Whether a file still is what was noted: by content where that is known, else by size and time."""
    if noted.digest:
        return noted.digest == digest(data)
    return (noted.size, noted.mtime_ns) == (stat.st_size, stat.st_mtime_ns)
