"""Replaces several files of one folder together: after a crash at any moment, all are old or all are new (C4.03)."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import stat
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, cast

from maia.core.jsonvalue import JsonObject

PRIVATE_FILE: Final = 0o600
PRIVATE_FOLDER: Final = 0o700

JOURNAL: Final = ".maia-commit.json"
_STAGED: Final = ".maia-new"


class Locked(OSError):
    """Another process holds the folder's lock for too long."""


def make_private(folder: Path) -> None:
    """Create a folder and its missing parents, for their owner alone, and close the folder itself to others."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        with suppress(FileExistsError):
            path.mkdir(mode=PRIVATE_FOLDER)
    if stat.S_IMODE(folder.stat().st_mode) & 0o077:
        folder.chmod(PRIVATE_FOLDER)


@contextmanager
def locked(*paths: Path, timeout: float = 10.0) -> Generator[None]:
    """Hold the locks of these files, in this order, across processes. Raises `Locked` after `timeout` seconds."""
    held: list[int] = []
    try:
        for path in paths:
            held += (_lock(path, time.monotonic() + timeout),)
        yield
    finally:
        for fd in reversed(held):
            os.close(fd)


def _lock(path: Path, until: float) -> int:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return fd
            except BlockingIOError:
                if time.monotonic() > until:
                    raise Locked(errno.EAGAIN, os.strerror(errno.EAGAIN), str(path)) from None
                time.sleep(0.02)
    except BaseException:
        os.close(fd)
        raise


def replace_all(folder: Path, files: Mapping[str, bytes]) -> None:
    """Give each name its new content, mode 0600. The lock is the caller's.

    Raises `OSError`; then all are old, or all are new after `recover`.

    New contents are written beside the old ones; the journal that appears then is the moment from which on all are new,
    and `recover` finishes what a crash interrupts.
    """
    try:
        for name, data in files.items():
            _write(folder / f".{name}{_STAGED}", data)
        note = [{"name": name, "sha256": _digest(data)} for name, data in files.items()]
        _write(folder / f"{JOURNAL}{_STAGED}", json.dumps(note).encode())
        _sync(folder)
        os.replace(folder / f"{JOURNAL}{_STAGED}", folder / JOURNAL)
        _sync(folder)
    except BaseException:
        if not (folder / JOURNAL).exists():
            _clear(folder)
        raise
    recover(folder)


def recover(folder: Path) -> None:
    """Finish, or take back, what was interrupted. The lock is the caller's; does nothing where nothing was."""
    try:
        note = json.loads((folder / JOURNAL).read_bytes())
    except FileNotFoundError:
        _clear(folder)
        return
    for entry in cast("list[JsonObject]", note):
        staged = folder / f".{entry['name']}{_STAGED}"
        with suppress(FileNotFoundError):  # renamed before the crash
            if _digest(staged.read_bytes()) == entry["sha256"]:
                os.replace(staged, folder / str(entry["name"]))
    _sync(folder)
    (folder / JOURNAL).unlink()
    _clear(folder)


def _clear(folder: Path) -> None:
    for path in folder.glob(f".*{_STAGED}"):
        path.unlink(missing_ok=True)


def _write(path: Path, data: bytes) -> None:
    path.unlink(missing_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE)
    with open(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(fd)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # some network file systems refuse to sync a folder
            os.fsync(fd)
    finally:
        os.close(fd)
