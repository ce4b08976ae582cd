"""Reads regular files, never waiting and never beyond a bound."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

MAX_FILE_BYTES: Final = 32 * 1024 * 1024
"""Biggest file that is edited, overwritten or kept for undo, in bytes."""


def digest(data: bytes) -> str:
    """SHA-256 in hex: how the read log and the change log name a content."""
    import hashlib  # its library takes time to load, and not every run names a content

    return hashlib.sha256(data).hexdigest()


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """The bytes of a regular file; links are followed.

    Raises `OSError`: `EISDIR` for a folder, `EINVAL` for a FIFO, socket or device, which might never answer or never
    end, `EFBIG` beyond `max_bytes`, and what the system itself refuses.
    """
    refuse_special(os.stat(path), path)
    return _read(_open(path, 0), path, max_bytes)[0]


def read_regular(path: Path, max_bytes: int = MAX_FILE_BYTES) -> tuple[bytes, os.stat_result]:
    """The bytes and the state of the regular file at a real path. Raises as `read_bounded`, and `ELOOP` for a link."""
    return _read(open_regular(path), path, max_bytes)


def open_regular(path: Path) -> int:
    """A descriptor to read from; `path` is a real path, and a link that stands there by now is not followed.

    Raises `OSError` as `read_regular`.
    """
    refuse_special(os.lstat(path), path)
    return _open(path, os.O_NOFOLLOW)


def refuse_special(state: os.stat_result, path: Path) -> None:
    """Raises `OSError` for everything that is no regular file, before it is opened."""
    if stat.S_ISLNK(state.st_mode):
        raise _refused(errno.ELOOP, path)
    if stat.S_ISDIR(state.st_mode):
        raise _refused(errno.EISDIR, path)
    if not stat.S_ISREG(state.st_mode):
        raise _refused(errno.EINVAL, path)


def _open(path: Path, how: int) -> int:
    # O_NONBLOCK: a FIFO that appears between two looks must not block for ever.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | how)
    try:
        refuse_special(os.fstat(fd), path)
    except OSError:
        os.close(fd)
        raise
    return fd


def _read(fd: int, path: Path, max_bytes: int) -> tuple[bytes, os.stat_result]:
    with open(fd, "rb") as file:
        state = os.fstat(fd)
        data = file.read(max_bytes + 1) if state.st_size <= max_bytes else b""  # files of /proc say 0 and hold more
    if state.st_size > max_bytes or len(data) > max_bytes:
        raise _refused(errno.EFBIG, path)
    return data, state


def _refused(number: int, path: Path) -> OSError:
    return OSError(number, os.strerror(number), str(path))
