"""Contents of files, each kept once under its digest: whole or not at all, whatever happens meanwhile."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

_YOUNG_SECONDS: Final = 3600
"""What is younger may belong to somebody who is about to say so."""


class Incoming:
    """A file that is being written, beside those that are kept. Blocks; raises `OSError`."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / secrets.token_hex(16)
        self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        self._digest = sha256()
        self.size = 0

    def write(self, data: bytes) -> None:
        """More of it."""
        self._digest.update(data)
        self.size += len(data)
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view) :]

    @property
    def digest(self) -> str:
        """Of what was written so far."""
        return self._digest.hexdigest()

    @property
    def path(self) -> Path:
        return self._path

    def sync(self) -> None:
        """All of it is on the disk from here on."""
        os.fsync(self._fd)

    def drop(self) -> None:
        """Close it, and remove it unless it was kept. May be called twice."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self._path.unlink(missing_ok=True)


class Blobs:
    """The folder of one installation. Everything blocks and may raise `OSError`.

    Who keeps and who removes must not do so at the same time: the caller has them take turns.
    """

    def __init__(self, folder: Path) -> None:
        self._kept = folder / "kept"
        self._incoming = folder / "incoming"
        for each in (folder, self._kept, self._incoming):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)

    def begin(self) -> Incoming:
        """A new file, which is nobody's until it is kept."""
        return Incoming(self._incoming)

    def keep(self, incoming: Incoming) -> str:
        """Keep what was written under its digest, and only once; `sync` it before."""
        digest = incoming.digest
        place = self.path(digest)
        if not place.exists():
            if not place.parent.exists():
                place.parent.mkdir(mode=0o700, exist_ok=True)
                _sync(self._kept)
            os.replace(incoming.path, place)
            _sync(place.parent)
        incoming.drop()
        return digest

    def add(self, data: bytes) -> str:
        """Keep these bytes; their digest."""
        incoming = self.begin()
        try:
            incoming.write(data)
            incoming.sync()
            return self.keep(incoming)
        finally:
            incoming.drop()

    def path(self, digest: str) -> Path:
        """Where that content lies, if it is kept."""
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise ValueError("no digest")
        return self._kept / digest[:2] / digest[2:]

    def read(self, digest: str) -> bytes:
        """That content."""
        return self.path(digest).read_bytes()

    def remove(self, digest: str) -> None:
        """Keep it no more."""
        self.path(digest).unlink(missing_ok=True)

    def clear_incoming(self) -> int:
        """Remove what a server that died left half written; how many."""
        found = list(self._incoming.iterdir())
        for each in found:
            each.unlink(missing_ok=True)
        return len(found)

    def strays(self, now: float) -> Iterator[str]:
        """Contents that were kept more than an hour before `now` (seconds since 1970): somebody should know them."""
        for place in self._kept.glob("[0-9a-f][0-9a-f]/*"):
            with suppress(FileNotFoundError):
                if place.stat().st_mtime < now - _YOUNG_SECONDS:
                    yield place.parent.name + place.name

    def free_bytes(self) -> int:
        """What the disk has left for us."""
        stats = os.statvfs(self._kept)
        return stats.f_bavail * stats.f_frsize


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
