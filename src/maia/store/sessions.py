"""The sessions of a folder: named, listed by scanning the files, opened, renamed (T8.01). There is no index to lose."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from maia.core.codec import UnreadableEvent, load_event
from maia.core.errors import SessionProblem, system_words
from maia.core.events import ContextMeasured, Event, SessionStarted, UserSaid
from maia.core.jsontext import read_json
from maia.store.journal import SUFFIX, JsonlJournal, Loaded, SessionBusy, SessionExists, read_records

_HEAD_BYTES = 64 * 1024
_TAIL_BYTES = 64 * 1024
_NAME_CHARS = 100
_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\]|^\.|^-")


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One session for a list. `modified` is seconds since 1970, `tokens` the last measured context, if any.

    `conversation` and `turns` are those of `SessionStarted`.
    """

    name: str
    path: Path
    modified: float
    size: int
    title: str
    tokens: int | None
    conversation: str = ""
    turns: int = 0


@dataclass(frozen=True, slots=True)
class Resumed:
    """A session to go on with: its open file and what it holds. `is_copy`: another process writes the one asked for."""

    journal: JsonlJournal
    loaded: Loaded
    is_copy: bool


def new_name(now: datetime) -> str:
    """The name of a session that begins now: `session_YYYY-MM-DD_HH_MM_SS`."""
    return now.strftime("session_%Y-%m-%d_%H_%M_%S")


def checked_name(text: str) -> str:
    """A session name that is safe as a file name. Raises `SessionProblem` with what is wrong."""
    name = text.strip().removesuffix(SUFFIX)
    if not name:
        raise SessionProblem("session.name_empty")
    if len(name) > _NAME_CHARS or len(name.encode("utf-8", "replace")) > 200:
        raise SessionProblem("session.name_long", limit=_NAME_CHARS)
    if _UNSAFE.search(name) or not name.isprintable():
        raise SessionProblem("session.name_unsafe", name=name)
    return name


Elsewhere: TypeAlias = Callable[[str], str | None]
"""Of a name that no session here has: the name of the session that was made for it from somewhere else, or None."""


def nowhere(_name: str) -> None:
    """For sessions that are files of their folder alone."""


class Sessions:
    """The session files in one folder (`./.maia/.sessions`)."""

    def __init__(self, folder: Path, elsewhere: Elsewhere = nowhere) -> None:
        self.folder = folder
        self._elsewhere = elsewhere

    def path(self, name: str) -> Path:
        """Where the session of that name is or would be. Raises `SessionProblem` for an unsafe name."""
        return self.folder / (checked_name(name) + SUFFIX)

    def free_name(self, now: datetime) -> str:
        """The name that a session begun now would get, unless another process takes it first."""
        return next(path.stem for path in self._candidates(now) if not path.exists())

    def check_free(self, name: str) -> None:
        """Raises `SessionExists` when there is a session of that name, `SessionProblem` for an unsafe name."""
        if os.path.lexists(self.path(name)):
            raise SessionExists("session.exists", name=name)

    def check_there(self, name: str) -> None:
        """Raises `SessionProblem` when there is no session of that name, with the nearest ones."""
        if not self.path(name).is_file():
            raise self._unknown(name)

    def create_named(self, name: str) -> JsonlJournal:
        """A new session file of that name. Raises `SessionExists`, and `SessionProblem` where it cannot be made."""
        path = self.path(name)
        self._make_folder(path)
        return JsonlJournal(path, new=True)

    def _make_folder(self, path: Path) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SessionProblem("session.unwritable", name=path.stem, problem=system_words(error)) from error

    def _candidates(self, now: datetime) -> Iterator[Path]:
        base = new_name(now)
        yield self.folder / f"{base}{SUFFIX}"
        yield from (self.folder / f"{base}_{number}{SUFFIX}" for number in itertools.count(2))

    def create(self, now: datetime) -> JsonlJournal:
        """A new, empty session file; sessions begun in the same second get `_2`, `_3`…

        Raises `SessionProblem` where it cannot be made.
        """
        for path in self._candidates(now):
            self._make_folder(path)
            with contextlib.suppress(SessionExists):
                return JsonlJournal(path, new=True)
        raise AssertionError("the candidates never end")

    def load(self, name: str) -> Loaded:
        """The records of a session. Raises `SessionProblem` when there is none of that name, with the nearest ones."""
        path = self.path(name)
        if not path.is_file():
            raise self._unknown(name)
        return read_records(path)

    def open(self, name: str, now: datetime) -> tuple[JsonlJournal, bool]:
        """Open a session to go on with it. When another process writes it, go on in a copy: (journal, is a copy).

        Raises `SessionProblem` when there is none of that name, here or elsewhere, with the nearest ones, and where it
        cannot be opened or copied.
        """
        path = self.path(name)
        if not path.is_file():
            made = self._elsewhere(name)
            if made is None:
                raise self._unknown(name)
            path = self.path(made)
        try:
            return JsonlJournal(path), False
        except SessionBusy:
            return self._copied(path, now), True

    def resume(self, name: str, now: datetime) -> Resumed:
        """Open a session as `open` does and read it, in this order: nobody else writes to it between the two.

        Raises `SessionProblem` as `open` and `read_records` do; then nothing stays open, and no copy stays behind.
        """
        journal, is_copy = self.open(name, now)
        try:
            return Resumed(journal, read_records(journal.path), is_copy)
        except SessionProblem:
            journal.close()
            if is_copy:
                journal.path.unlink(missing_ok=True)
            raise

    def _copied(self, path: Path, now: datetime) -> JsonlJournal:
        copy = self.create(now)
        copy.close()
        try:
            shutil.copyfile(path, copy.path)
        except OSError as error:
            copy.path.unlink(missing_ok=True)
            problem = system_words(error)
            raise SessionProblem("session.unwritable", name=copy.name, problem=problem) from error
        return JsonlJournal(copy.path)

    def list(self) -> list[SessionInfo]:
        """All sessions, the last changed first. Unreadable files are listed with an empty title."""
        found: list[SessionInfo] = []
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.endswith(SUFFIX) and not entry.name.startswith("."):
                    with contextlib.suppress(OSError):
                        if entry.is_file(follow_symlinks=False):
                            found.append(_info(Path(entry.path)))
        return sorted(found, key=lambda info: info.modified, reverse=True)

    def latest(self) -> str | None:
        """The name of the session that changed last."""
        infos = self.list()
        return infos[0].name if infos else None

    def _unknown(self, name: str) -> SessionProblem:
        import difflib

        near = difflib.get_close_matches(name, [info.name for info in self.list()], n=3, cutoff=0.4)
        if near:
            return SessionProblem("session.unknown_near", name=name, known=", ".join(near))
        return SessionProblem("session.unknown", name=name)


def _info(path: Path) -> SessionInfo:
    status = path.stat()
    title, tokens, begun = "", None, None
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
        for event in _events(head):
            if isinstance(event, SessionStarted):
                begun = event
            elif isinstance(event, UserSaid):
                title = " ".join(event.text.split())[:200]
                break
        tail = head
        if status.st_size > _HEAD_BYTES:
            file.seek(max(_HEAD_BYTES, status.st_size - _TAIL_BYTES))
            tail = file.read(_TAIL_BYTES)
        for event in _events(tail):
            if isinstance(event, ContextMeasured):
                tokens = event.tokens
    known = (begun.conversation, begun.turns) if begun is not None else ("", 0)
    return SessionInfo(path.stem, path, status.st_mtime, status.st_size, title, tokens, *known)


_LISTED = (b'"type":"UserSaid"', b'"type":"ContextMeasured"', b'"type":"SessionStarted"')


def _events(data: bytes) -> Iterator[Event]:
    """The events of these lines that a list shows; the others are not even parsed."""
    for line in data.splitlines():
        if any(mark in line for mark in _LISTED):
            with contextlib.suppress(ValueError, KeyError, TypeError, UnreadableEvent):
                event = load_event(read_json(line)["event"])
                if event is not None:
                    yield event
