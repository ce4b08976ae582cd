"""One session file: append-only JSON lines of events, one writer, torn tail skipped (decisions §7).

A line is a record `{"v": 1, "n": 12, "at": "2026-11-30T10:02:11.204Z", "event": {…}}`. Deltas are gathered for a tenth
of a second; any other event is handed to the operating system before `append` returns. A full disk keeps the lines in
memory and tries them again with the next event, so nothing is lost while the program lives.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

from maia.core.codec import UnreadableEvent, dump_event, load_event
from maia.core.errors import SessionProblem, system_words
from maia.core.events import Event, ReasoningDelta, TextDelta, ToolCallDrafted, ToolOutput
from maia.core.jsontext import read_json

FORMAT = 1
SUFFIX = ".jsonl"
_GATHER_SECONDS = 0.1
_PROGRESS_ONLY = (ToolCallDrafted, ToolOutput)


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a session file. `at` is UTC in ISO 8601 with milliseconds."""

    n: int
    at: str
    event: Event


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a file held: its readable records in order, and how many lines could not be read."""

    records: tuple[Record, ...]
    skipped: int


class SessionBusy(SessionProblem):
    """Another process is writing this session."""


class SessionExists(SessionProblem):
    """There is a session of that name already."""


def read_records(path: Path) -> Loaded:
    """All readable records of a session file, whatever happened to it.

    Torn or foreign lines are skipped and counted. Raises `SessionProblem` when the file cannot be opened, or was
    written by a newer version in a format that this one does not know.
    """
    records: list[Record] = []
    skipped = 0
    for line in _lines(path):
        if not line.strip():
            continue
        try:
            data = read_json(line)
            version = data["v"]
            if isinstance(version, int) and version > FORMAT:
                raise SessionProblem("session.newer", name=path.stem, version=version)
            event = load_event(data["event"])
            if event is not None:
                records.append(Record(int(data["n"]), str(data["at"]), event))
        except (ValueError, KeyError, TypeError, OverflowError, UnreadableEvent):
            skipped += 1
    return Loaded(tuple(records), skipped)


def is_being_written(path: Path) -> bool:
    """Whether some process has the session open; False where the file cannot be asked."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False  # a file system without locks
    finally:
        os.close(fd)
    return False


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise SessionProblem("session.unreadable", name=path.stem, problem=system_words(error)) from error


@contextlib.contextmanager
def _told(path: Path) -> Generator[None]:
    """What the system refuses is told in words that name the session."""
    try:
        yield
    except FileExistsError as error:
        raise SessionExists("session.exists", name=path.stem) from error
    except OSError as error:
        raise SessionProblem("session.unwritable", name=path.stem, problem=system_words(error)) from error


class JsonlJournal:
    """Port `Journal` on a file. Holds an exclusive lock on it while open; two writers never share a file."""

    def __init__(self, path: Path, *, new: bool = False) -> None:
        """Open or create `path`; a `new` one must not be there yet.

        Raises `SessionBusy` when another process has it, `SessionExists`, and `SessionProblem` on other errors.
        """
        self.path = path
        self.problem = ""
        self._unsaved: list[bytes] = []
        self._gathered: TextDelta | ReasoningDelta | None = None
        self._timer: asyncio.TimerHandle | None = None
        how = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_EXCL if new else 0)
        with _told(path):
            self._fd = os.open(path, how, 0o600)
        try:
            self._lock()
            with _told(path):
                self._size = os.fstat(self._fd).st_size
                self._next = self._count_lines()
                if self._size and os.pread(self._fd, 1, self._size - 1) != b"\n":
                    self._unsaved.append(b"\n")  # a torn last line stays by itself
        except SessionProblem:
            os.close(self._fd)
            raise

    @property
    def name(self) -> str:
        return self.path.stem

    def append(self, event: Event, at: float | None = None) -> None:
        """Write one event; pieces of text wait up to 100 ms for the next ones (T8.01, decisions §7).

        `at` is when it happened, in seconds since 1970, where that is not now.
        """
        if isinstance(event, _PROGRESS_ONLY):
            return
        if isinstance(event, (TextDelta, ReasoningDelta)):
            self._gather(event)
            return
        self.flush()
        self._write(event, at)

    def flush(self) -> None:
        """Write what was gathered."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._gathered is not None:
            event, self._gathered = self._gathered, None
            self._write(event)

    def rename(self, path: Path) -> None:
        """Give the file another name. Raises `SessionExists`, and `SessionProblem` on other errors."""
        with _told(path):
            # The name is taken first, so that nothing is written over: not every file system has hard links.
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            try:
                os.replace(self.path, path)
            except OSError:
                os.unlink(path)
                raise
        self.path = path

    def close(self) -> None:
        """Write the rest and let the file go. May be called twice."""
        if self._fd < 0:
            return
        self.flush()
        if self.problem:
            self._save()
        fd, self._fd = self._fd, -1
        with contextlib.suppress(OSError):
            os.close(fd)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SessionBusy("session.busy", name=self.path.stem) from error
        except OSError:
            pass  # a file system without locks: the name alone keeps writers apart

    def _count_lines(self) -> int:
        count, offset = 0, 0
        while chunk := os.pread(self._fd, 1 << 20, offset):
            count += chunk.count(b"\n")
            offset += len(chunk)
        return count + 1

    def _gather(self, event: TextDelta | ReasoningDelta) -> None:
        held = self._gathered
        if held is not None and type(held) is type(event):
            self._gathered = type(event)(held.text + event.text)
            return
        self.flush()
        self._gathered = event
        try:
            self._timer = asyncio.get_running_loop().call_later(_GATHER_SECONDS, self.flush)
        except RuntimeError:
            self.flush()

    def _write(self, event: Event, happened: float | None = None) -> None:
        now = time.time() if happened is None else happened
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03d}Z"
        line = f'{{"v":{FORMAT},"n":{self._next},"at":"{at}","event":{dump_event(event)}}}\n'
        self._next += 1
        self._unsaved.append(line.encode("utf-8", "replace"))
        self._save()

    def _put_back(self) -> None:
        """Somebody deleted the file (`git clean -xdf`) while it was open: all of it goes back under its name.

        Raises `OSError`; the deleted file then stays the one that is written to until this succeeds.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        how = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        fd = os.open(self.path, how, 0o600)
        try:
            offset = 0
            while offset < self._size:
                offset += os.write(fd, os.pread(self._fd, 1 << 20, offset))
            with contextlib.suppress(OSError):  # as in `_lock`
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            os.unlink(self.path)
            raise
        os.close(self._fd)
        self._fd = fd

    def _save(self) -> None:
        """Hand all unsaved lines over in one write; after a failure the file ends where its last whole line ends."""
        if self._fd < 0:
            return
        data = b"".join(self._unsaved)
        try:
            if os.fstat(self._fd).st_nlink == 0:
                self._put_back()
            written = os.write(self._fd, data)
            if written < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self.problem = system_words(error)
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self._size)
            return
        self.problem = ""
        self._size += len(data)
        self._unsaved.clear()
