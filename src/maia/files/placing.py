"""Puts copies of kept files into a folder in which tools and agent programs work."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from maia.files.names import free_name

PLACE: Final = ".attachments"
"""The folder for them, which keeps itself out of version control."""
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def place_copies(folder: Path, files: Sequence[tuple[str, Path]]) -> list[str]:
    """Copies of `files` (name, content) under `folder`; where each is, from there on.

    A copy that is there already is not made again; another file of that name stays, and the copy gets a number. No
    link is followed. Blocks. Raises `OSError`.
    """
    within = os.open(folder, _FOLDER)
    try:
        with suppress(FileExistsError):
            os.mkdir(PLACE, 0o700, dir_fd=within)
        place = os.open(PLACE, _FOLDER, dir_fd=within)
    finally:
        os.close(within)
    try:
        _ignore_itself(place)
        return [f"{PLACE}/{_copy(place, name, content)}" for name, content in files]
    finally:
        os.close(place)


def _ignore_itself(place: int) -> None:
    with suppress(FileExistsError):
        fd = os.open(".gitignore", _NEW, 0o600, dir_fd=place)
        with open(fd, "w") as file:
            file.write("*\n")


def _copy(place: int, name: str, content: Path) -> str:
    taken = set(os.listdir(place))
    if name in taken and _is_same(place, name, content):
        return name
    name = free_name(name, taken)
    spare = f".{secrets.token_hex(8)}"
    try:
        with content.open("rb") as source, open(os.open(spare, _NEW, 0o600, dir_fd=place), "wb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
        os.rename(spare, name, src_dir_fd=place, dst_dir_fd=place)
    except OSError:
        with suppress(FileNotFoundError):
            os.unlink(spare, dir_fd=place)
        raise
    return name


def _is_same(place: int, name: str, content: Path) -> bool:
    """Whether the copy of an earlier turn is still what it was."""
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=place)
    except OSError:
        return False
    with open(fd, "rb") as copy, content.open("rb") as kept:
        if os.fstat(fd).st_size != os.fstat(kept.fileno()).st_size:
            return False
        digests = [sha256(), sha256()]
        for file, digest in zip((copy, kept), digests, strict=True):
            while part := file.read(1 << 20):
                digest.update(part)
        return digests[0].digest() == digests[1].digest()
