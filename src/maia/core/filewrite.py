"""Replaces the bytes of a file so that a crash, a full disk or a race leaves either the old file or the new one.

Used by the file tools, by undo, and for files of our own. The name stays what it was: a symbolic link keeps leading to
its target, and mode, owner and extended attributes are kept.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

_IN_PLACE: Final = frozenset({errno.EBUSY, errno.EACCES, errno.EPERM, errno.EXDEV})
"""Why a folder may refuse a new name where the file itself can be written: a bind mount, a folder that is read-only."""


class FileChanged(OSError):
    """The file, or the folder it lies in, is not the one that was looked at a moment ago."""


def replace_file(path: Path, data: bytes, expected: os.stat_result | None, mode: int | None = None) -> os.stat_result:
    """Put `data` at `path`, a real path without symbolic links, and return the new state.

    `expected` is the state of the file that is replaced, None when there must be none. `mode` is for a new file; None
    leaves it to the umask. Missing parent folders are made. Raises `FileChanged` or another `OSError`; then the old
    file is intact.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = _open_folder(path.parent)
    try:
        if expected is not None and not os.access(path.name, os.W_OK, dir_fd=folder):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        try:
            _swap(folder, path, data, expected, mode)
        except OSError as problem:
            if expected is None or isinstance(problem, FileChanged) or problem.errno not in _IN_PLACE:
                raise
            _overwrite(folder, path, data, expected)
        return os.stat(path.name, dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(folder)


def keep_private(path: Path, data: bytes) -> None:
    """Put `data` at `path`, a file of ours: one that is there keeps its mode, a new one is its owner's alone (0600).

    Where `path` is a link, what it leads to is replaced: people keep their settings elsewhere. Raises `OSError`; then
    the old file is intact.
    """
    real = Path(os.path.realpath(path))
    replace_file(real, data, os.stat(real) if real.exists() else None, 0o600)


def remove_file(path: Path) -> None:
    """Remove a file and make the removal last."""
    folder = _open_folder(path.parent)
    try:
        os.unlink(path.name, dir_fd=folder)
        _sync(folder)
    finally:
        os.close(folder)


def _open_folder(folder: Path) -> int:
    """A descriptor of the folder that was resolved: everything goes through it, so a link put there later is moot."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    if not os.path.samestat(os.fstat(fd), os.lstat(folder)) or os.path.realpath(folder) != str(folder):
        os.close(fd)
        raise FileChanged(errno.ESTALE, os.strerror(errno.ESTALE), str(folder))
    return fd


def _swap(folder: int, path: Path, data: bytes, expected: os.stat_result | None, mode: int | None) -> None:
    """Write beside the file, then rename over it."""
    spare = f".maia-{secrets.token_hex(8)}.tmp"
    fd = os.open(
        spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if expected else 0o666, dir_fd=folder
    )
    try:
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()  # before the mode: the kernel takes a set-user-ID bit away when an ordinary user writes
            _keep_attributes(fd, folder, path.name, expected, mode)
            os.fsync(fd)
        _check_unchanged(folder, path, expected)
        if expected is not None or not _link_new(folder, spare, path.name):
            os.replace(spare, path.name, src_dir_fd=folder, dst_dir_fd=folder)
            spare = ""
        _sync(folder)
    except FileExistsError:
        raise FileChanged(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
    finally:
        if spare:
            with suppress(FileNotFoundError):
                os.unlink(spare, dir_fd=folder)


def _link_new(folder: int, spare: str, name: str) -> bool:
    """Give a new file its name, which fails where the name was taken meanwhile; False where links are not known."""
    try:
        os.link(spare, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):  # file systems and systems without hard links; the caller renames instead
        return False
    return True


def _overwrite(folder: int, path: Path, data: bytes, expected: os.stat_result) -> None:
    """Write into the file itself; what was there is put back when the disk is full."""
    fd = os.open(path.name, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    with open(fd, "r+b") as file:
        _check_unchanged(folder, path, expected)
        before = file.read()
        try:
            _fill(file.fileno(), data)
        except OSError:
            _fill(file.fileno(), before)
            raise


def _fill(fd: int, data: bytes) -> None:
    os.lseek(fd, 0, os.SEEK_SET)
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.ftruncate(fd, len(data))
    os.fsync(fd)


def _check_unchanged(folder: int, path: Path, expected: os.stat_result | None) -> None:
    try:
        now = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        now = None
    if _identity(now) != _identity(expected):
        raise FileChanged(errno.ESTALE, os.strerror(errno.ESTALE), str(path))


def _identity(state: os.stat_result | None) -> tuple[int, int, int, int] | None:
    return None if state is None else (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)


def _keep_attributes(fd: int, folder: int, name: str, expected: os.stat_result | None, mode: int | None) -> None:
    if expected is None:
        if mode is not None:
            os.fchmod(fd, mode)
        return
    with suppress(OSError):  # only root may give a file away; the content matters more than its owner
        os.fchown(fd, expected.st_uid, expected.st_gid)
    if sys.platform == "linux":
        _copy_extended_attributes(fd, folder, name)
    os.fchmod(fd, stat.S_IMODE(expected.st_mode))


def _copy_extended_attributes(fd: int, folder: int, name: str) -> None:
    with suppress(OSError):  # not every file system has them, and some are root's alone
        old = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        try:
            for attribute in os.listxattr(old):
                os.setxattr(fd, attribute, os.getxattr(old, attribute))
        finally:
            os.close(old)


def _sync(folder: int) -> None:
    with suppress(OSError):  # some network file systems refuse to sync a folder
        os.fsync(folder)
