"""Where runs are kept: `~/.maia/runs`, one folder a run, found by name, listed newest first, old ones thrown away."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from maia.core.errors import RunProblem, system_words
from maia.core.fileread import read_bounded
from maia.core.reason import Reason
from maia.core.runs import RunInfo
from maia.core.text import cut_middle
from maia.runs.hostplace import HOSTS, HostPlace
from maia.runs.record import Record, UnreadableRecord, dump_record, load_record
from maia.runs.view import view_of

_RECORD: Final = "run.json"
_NOTES: Final = "events.jsonl"
_RESERVE: Final = "reserve"
RESERVE_BYTES: Final = 32 * 1024
"""Taken at the start, for the last words of a run whose disk is full."""
_SHORT_CHARS: Final = 1_500
_RECORD_BYTES: Final = 64 * 1024 * 1024
_ID = re.compile(r"run-\d{8}-\d{9}-[0-9a-f]{6}")
_TIME_CHARS: Final = len("run-20261130-142400123")
_LEAST_ENDING: Final = 4


def new_id(now: float) -> str:
    """The name of a run that is asked for now: the time (UTC, milliseconds), so that names sort, and six digits."""
    day = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    return f"run-{day}{int(now * 1000) % 1000:03d}-{secrets.token_hex(3)}"


class RunStore:
    """The folder of all runs of this user. Nothing is made before the first run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    # Finding

    def path(self, run_id: str) -> Path:
        """The folder of a run. Raises `RunProblem` for what is no name of one, or names none that is there."""
        path = self.folder / run_id
        if _ID.fullmatch(run_id) is None or not (path / _RECORD).is_file():
            raise RunProblem("runs.unknown", run=run_id)
        return path

    def notes(self, run_id: str) -> Path:
        """The file of the notes, which may not be there yet. Raises `RunProblem`."""
        return self.path(run_id) / _NOTES

    def ids(self) -> list[str]:
        """All names, newest first. Raises `RunProblem` where the folder cannot be read."""
        try:
            names = os.listdir(self.folder)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise RunProblem("runs.store", folder=str(self.folder), problem=system_words(error)) from error
        return sorted((name for name in names if _ID.fullmatch(name)), reverse=True)

    def named(self, text: str) -> str:
        """The name of a run as a person gives it: whole, `last`, or its ending where only one run has that.

        Raises `RunProblem` where none or several fit.
        """
        if _ID.fullmatch(text):
            return text
        ids = self.ids()
        if text == "last" and ids:
            return ids[0]
        found = [each for each in ids if len(text) >= _LEAST_ENDING and each.endswith(text)]
        if len(found) > 1:
            raise RunProblem("runs.several", run=text, known=", ".join(found[:5]))
        if not found:
            raise RunProblem("runs.unknown", run=text)
        return found[0]

    # Reading

    def record(self, run_id: str) -> Record:
        """What is kept of a run. Raises `RunProblem`."""
        try:
            return load_record(read_bounded(self.path(run_id) / _RECORD, _RECORD_BYTES))
        except OSError as error:
            raise RunProblem("runs.unreadable", run=run_id, problem=system_words(error)) from error
        except UnreadableRecord as error:
            raise RunProblem("runs.unreadable", run=run_id, problem=str(error)) from error

    def info(self, run_id: str) -> RunInfo:
        """How a run stands now: as settled at its end, else as its notes say. Raises `RunProblem`."""
        record = self.record(run_id)
        if record.is_over:
            return record.info
        is_there = self.host(record.host).is_alive()
        if not is_there and (again := self.record(run_id)).is_over:  # it ended between the two looks
            return again.info
        return self._unended(run_id, record.info, is_there=is_there)

    def _unended(self, run_id: str, settled: RunInfo, *, is_there: bool) -> RunInfo:
        try:
            info = view_of(self.notes(run_id)).info(settled)
        except OSError as error:
            raise RunProblem("runs.unreadable", run=run_id, problem=system_words(error)) from error
        if not is_there:
            why = Reason("runs.lost" if info.session else "runs.lost_early")
            return replace(info, state="lost", outcome=None, open_asks=(), problem=why)
        # Its last event may be there a moment before the record says that it ended.
        info = replace(info, outcome=None, failure=None)
        return replace(info, state="waiting") if info.open_asks else info

    def is_over(self, run_id: str) -> bool:
        """Whether nothing will be noted any more: it has ended, or whatever ran it is gone. Raises `RunProblem`."""
        record = self.record(run_id)
        return record.is_over or not self.host(record.host).is_alive()

    def listed(self, identity: str | None, limit: int) -> list[RunInfo]:
        """Newest first; of one identity where given. Runs that cannot be read are left out. Raises `RunProblem`."""
        return list(self._each(identity, limit))

    def _each(self, identity: str | None, limit: int) -> Iterator[RunInfo]:
        for run_id in self.ids():
            if limit <= 0:
                return
            with contextlib.suppress(RunProblem):
                if identity is None or self.record(run_id).info.identity == identity:
                    yield self.info(run_id)
                    limit -= 1

    # Writing

    def create(self, record: Record) -> None:
        """Make the folder of a new run. Raises `RunProblem` where it cannot be made."""
        path = self.folder / record.info.run_id
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.mkdir(mode=0o700)
            _write(path / _RESERVE, b"\0" * RESERVE_BYTES)
            self.keep(record)
        except OSError as error:
            shutil.rmtree(path, ignore_errors=True)
            raise RunProblem("runs.store", folder=str(self.folder), problem=system_words(error)) from error

    def keep(self, record: Record) -> None:
        """Put the record in the place of the one that is there: a reader sees either. Raises `OSError`.

        How a run ended is written on a full disk too, with less of its text, into the room that was kept for it.
        """
        path = self.folder / record.info.run_id
        spare = path / f".{_RECORD}"
        try:
            _write(spare, dump_record(record))
            os.replace(spare, path / _RECORD)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(spare)
            if not record.is_over:
                raise
            _write_within(path / _RESERVE, dump_record(_shortened(record)))
            os.replace(path / _RESERVE, path / _RECORD)
        if record.is_over:
            with contextlib.suppress(OSError):
                os.unlink(path / _RESERVE)

    def prune(self, now: float, *, keep: int, days: int) -> None:
        """Throw away runs that are over and older than that, and those beyond the newest `keep`.

        What is no run goes as well: a folder whose record was never written, since its host was killed just then.
        """
        with contextlib.suppress(RunProblem):
            oldest = new_id(now - days * 86_400)[:_TIME_CHARS]
            for at, run_id in enumerate(self.ids()):
                if at < keep and run_id > oldest:
                    continue
                with contextlib.suppress(RunProblem):
                    if (run_id <= oldest and self._was_never_written(run_id)) or self.is_over(run_id):
                        shutil.rmtree(self.folder / run_id, ignore_errors=True)
        self._prune_hosts(now)

    def _was_never_written(self, run_id: str) -> bool:
        return not os.path.lexists(self.folder / run_id / _RECORD)

    def _prune_hosts(self, now: float) -> None:
        """The folders of hosts that died; the runs of one that is not there are known to be lost all the same."""
        with contextlib.suppress(OSError):
            for name in os.listdir(self.folder / HOSTS):
                place = self.host(name)
                if not place.is_alive() and now - place.folder.stat().st_mtime > 86_400:
                    place.remove()

    def host(self, name: str) -> HostPlace:
        return HostPlace(self.folder / HOSTS / name)


def _shortened(record: Record) -> Record:
    """The record with so little text that it surely fits into the reserve; the whole is in the session."""
    info, wish = record.info, record.wish
    task, text = cut_middle(info.task, _SHORT_CHARS).text, cut_middle(info.text, _SHORT_CHARS).text
    return replace(record, wish=replace(wish, task=task), info=replace(info, task=task, text=text))


def _write_within(path: Path, data: bytes) -> None:
    """Write over the beginning of a file whose room is taken already, the rest filled with blanks."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        if len(data) > RESERVE_BYTES or os.write(fd, data.ljust(RESERVE_BYTES)) < RESERVE_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    finally:
        os.close(fd)


def _write(path: Path, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        view = memoryview(data)
        while view:
            written = os.write(fd, view)
            if written == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            view = view[written:]
    finally:
        os.close(fd)
