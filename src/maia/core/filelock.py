"""One process at a time: an advisory lock on an open file, which goes with the process however that ends (flock(2))."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_WITHOUT_LOCKS: Final = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})
"""What file systems say that have no locks: some over a network, some of FUSE."""


def lock(fd: int) -> None:
    """Wait for the lock of an open file and hold it until the file is closed. Raises `OSError`.

    Where the file system has none, nothing is held: what is written under such a lock is replaced whole in any case.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
    except OSError as problem:
        if problem.errno not in _WITHOUT_LOCKS:
            raise


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold the lock of the file at `path`, which is made for its owner alone where it is missing. Raises `OSError`.

    It is a file of its own where another is replaced under it, since a file that is replaced cannot carry the lock. A
    link is not followed: in a folder of strangers it would make an empty file wherever it leads.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        lock(fd)
        yield
    finally:
        os.close(fd)
