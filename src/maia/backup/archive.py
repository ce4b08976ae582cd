"""The file of a backup: a compressed tar with a manifest first, and last the digest of everything before it."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import tempfile
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

from maia.backup.problems import BackupProblem
from maia.core.errors import system_words

FORMAT: Final = 1
MANIFEST, END = "manifest.json", "end.json"
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup is of. `workspaces` is where they lay then, where they are in it; `revision` that of the tables."""

    version: str
    revision: str
    created_at: int
    workspaces: str = ""
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a backup. `content` can be read while the member is the current one."""

    name: str
    mode: int
    content: IO[bytes]


class Writer:
    """Puts files into a new backup."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self._digests: dict[str, str] = {}

    def add(self, name: str, content: bytes, mode: int = 0o600) -> None:
        """A file of these bytes."""
        self._put(name, io.BytesIO(content), len(content), mode)

    def add_lines(self, name: str, content: Iterable[bytes]) -> None:
        """A file of these pieces, however many they are."""
        with tempfile.TemporaryFile() as held:
            for piece in content:
                held.write(piece)
            size = held.tell()
            held.seek(0)
            self._put(name, held, size, 0o600)

    def add_file(self, name: str, path: Path) -> bool:
        """A file of this disk as far as it goes now; False where it is no plain file, or is gone."""
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return False
        with open(fd, "rb") as file:
            state = os.fstat(fd)
            if not os.path.isfile(f"/dev/fd/{fd}"):
                return False
            self._put(name, _Steady(file, state.st_size), state.st_size, state.st_mode & 0o777)
        return True

    def end(self) -> None:
        """The digests of everything: nothing comes after them."""
        self.add(END, json.dumps(self._digests, sort_keys=True).encode())

    def _put(self, name: str, content: Any, size: int, mode: int) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mode = size, mode
        told = _Told(content)
        self._tar.addfile(info, told)  # pyright: ignore[reportArgumentType] - only `read` is used
        self._digests[name] = told.digest.hexdigest()


class _Told:
    """Reads something and knows the digest of what was read."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self.digest = sha256()

    def read(self, size: int = -1) -> bytes:
        piece = self._source.read(size)
        self.digest.update(piece)
        return piece


class _Steady:
    """A file that somebody may be writing: it gives exactly `size` bytes, zeros for those that went meanwhile."""

    def __init__(self, source: IO[bytes], size: int) -> None:
        self._source = source
        self._left = size

    def read(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        piece = self._source.read(wanted)
        self._left -= wanted
        return piece + bytes(wanted - len(piece))


@contextmanager
def writing(path: Path, manifest: Manifest) -> Generator[Writer]:
    """A new backup at `path`, which is there as a whole or not at all. Raises `BackupProblem`."""
    part = path.with_name(f".{path.name}.part")
    if path.exists():
        raise BackupProblem("backup.exists", path=str(path))
    try:
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(fd, "wb") as file:
            with tarfile.open(fileobj=file, mode="w:gz", compresslevel=5) as tar:
                writer = Writer(tar)
                writer.add(MANIFEST, json.dumps(asdict(manifest)).encode())
                yield writer
                writer.end()
            file.flush()
            os.fsync(fd)
        os.rename(part, path)
    except OSError as error:
        raise BackupProblem("backup.unwritable", path=str(path), problem=system_words(error)) from error
    finally:
        with suppress(OSError):
            part.unlink()


def checked(path: Path) -> Manifest:
    """Read a backup through, and say what it is of.

    Raises `BackupProblem` where it is none, is damaged or cut short, or was made by a newer maia.
    """
    with reading(path):
        return _checked(path)


def _checked(path: Path) -> Manifest:
    digests: dict[str, str] = {}
    manifest = given = None
    for member in members(path):
        if manifest is None and member.name != MANIFEST:
            raise BackupProblem("backup.no_backup", path=str(path))
        if member.name == END:
            given = _json(member.content.read(), path)
            continue
        digest = sha256()
        kept = bytearray()
        while piece := member.content.read(_PIECE):
            digest.update(piece)
            if member.name == MANIFEST:
                kept += piece
        digests[member.name] = digest.hexdigest()
        if member.name == MANIFEST:
            manifest = _manifest(_json(bytes(kept), path), path)
    if manifest is None or given != digests:
        raise BackupProblem("backup.damaged", path=str(path))
    return manifest


def members(path: Path) -> Iterator[Member]:
    """The files of a backup in their order. Raises as `reading` translates."""
    with gzip.open(path) as zipped:
        with tarfile.open(fileobj=zipped, mode="r|") as tar:
            for info in tar:
                content = tar.extractfile(info) if info.isreg() and is_inside(info.name) else None
                if content is None:
                    raise BackupProblem("backup.no_backup", path=str(path))
                yield Member(info.name, info.mode & 0o777, content)
        while zipped.read(_PIECE):
            pass  # what comes after the last member is only padding, but the checksum stands behind it


@contextmanager
def reading(path: Path) -> Generator[None]:
    """What goes wrong while a backup is read becomes a `BackupProblem`."""
    try:
        yield
    except FileNotFoundError:
        raise BackupProblem("backup.not_there", path=str(path)) from None
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BackupProblem("backup.damaged", path=str(path)) from error


def is_inside(name: str) -> bool:
    """Whether the name of a member stays where it is put."""
    parts = PurePosixPath(name).parts
    return bool(parts) and not name.startswith("/") and ".." not in parts and "\x00" not in name


def lines(content: Iterable[bytes]) -> Iterator[Any]:
    """The JSON values of a member, one a line."""
    return (json.loads(line) for line in content)


def _json(content: bytes, path: Path) -> Any:
    try:
        return json.loads(content)
    except ValueError as error:
        raise BackupProblem("backup.damaged", path=str(path)) from error


def _manifest(found: Any, path: Path) -> Manifest:
    if not isinstance(found, dict) or not isinstance(found.get("format"), int):  # pyright: ignore[reportUnknownMemberType]
        raise BackupProblem("backup.no_backup", path=str(path))
    if found["format"] > FORMAT:
        raise BackupProblem("backup.newer", path=str(path))
    try:
        return Manifest(**found)  # pyright: ignore[reportUnknownArgumentType] - checked by its making
    except TypeError as error:
        raise BackupProblem("backup.no_backup", path=str(path)) from error
