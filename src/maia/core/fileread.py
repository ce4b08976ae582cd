"""Reads a file that maia takes in by itself (settings, memory, scripts), never waiting and never beyond a bound."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """The bytes of a regular file; links are followed.

    Raises `OSError`: `EISDIR` for a folder, `EINVAL` for a FIFO, socket or device, which might never answer or never
    end, `EFBIG` beyond `max_bytes`, and what the system itself refuses.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        os.close(fd)
        raise _problem(errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL, path)
    with open(fd, "rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise _problem(errno.EFBIG, path)
    return data


def _problem(number: int, path: Path) -> OSError:
    return OSError(number, os.strerror(number), str(path))
