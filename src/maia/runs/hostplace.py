"""Where a host is reached: its folder with a lock that tells whether it lives, its socket and the word it wants."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
import secrets
import shutil
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from maia.core.fileread import read_bounded
from maia.core.jsontext import read_json
from maia.core.jsonvalue import JsonObject

HOSTS: Final = ".hosts"
_LOCK: Final = "lock"
_SOCKET: Final = "socket"
_CARD: Final = "host.json"
_LOG: Final = "log"
_CARD_BYTES: Final = 4 * 1024 * 1024
_MOST_PATH: Final = 100
"""Bytes of a socket's path: the system takes 108 on Linux, 104 elsewhere."""
_NAME = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Opened:
    """A host's place as its front made it: the descriptors go to the host, which holds them until it ends."""

    name: str
    listening: socket.socket
    lock: int
    word: str

    def let_go(self) -> None:
        """Close this process's ends; the host has its own."""
        self.listening.close()
        os.close(self.lock)


@dataclass(frozen=True, slots=True)
class Card:
    """What a host and its fronts read: the `word` that requests must show, and what the host was started for."""

    word: str
    wishes: JsonObject


@dataclass(frozen=True, slots=True)
class HostPlace:
    """The folder of one host, `~/.maia/runs/.hosts/<name>`, which commands behind a wall cannot see.

    Whoever talks to a host shows the word that stands in it: a socket alone can be reached from behind some walls.
    """

    folder: Path

    @property
    def log(self) -> Path:
        """What the host's standard error gets: warnings of Python and reports of defects, no content of a run."""
        return self.folder / _LOG

    def is_alive(self) -> bool:
        """Whether the host is there, stopped ones included: its lock goes with the process, however that ended."""
        if _NAME.fullmatch(self.folder.name) is None:
            return False
        try:
            fd = os.open(self.folder / _LOCK, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return _answers(self.folder)  # a file system without locks
        finally:
            os.close(fd)
        return False

    def card(self) -> Card:
        """What stands in its file. Raises `OSError`, and `ValueError` for what is none."""
        data = read_json(read_bounded(self.folder / _CARD, _CARD_BYTES))
        try:
            return Card(str(data["word"]), data["wishes"])
        except (KeyError, TypeError) as error:
            raise ValueError(str(error)) from error

    def connect(self) -> socket.socket:
        """A connection to the host. Raises `OSError`."""
        client = _new_socket()
        client.setblocking(False)  # a local one connects at once, or is refused where a stopped host's queue is full
        try:
            with _address(self.folder) as address:
                client.connect(address)
        except OSError:
            client.close()
            raise
        return client

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def open_place(hosts: Path, wishes: JsonObject) -> Opened:
    """Make a place for a new host, locked and listening; `wishes` hold no secret. Raises `OSError`."""
    hosts.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # parents that are made get no mode
    hosts.mkdir(mode=0o700, exist_ok=True)
    folder = hosts / secrets.token_hex(6)
    folder.mkdir(mode=0o700)
    lock, listening = -1, _new_socket()
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with _address(folder) as address:
            listening.bind(address)
        os.chmod(folder / _SOCKET, 0o600)
        listening.listen(64)
        listening.setblocking(False)
        word = secrets.token_urlsafe(24)
        card = os.open(folder / _CARD, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(card, "w", encoding="utf-8") as file:
            json.dump({"v": 1, "word": word, "wishes": wishes}, file)
    except OSError:
        listening.close()
        if lock >= 0:
            os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Opened(folder.name, listening, lock, word)


def is_own_user(connection: socket.socket) -> bool:
    """Whether whoever connected is this user. Where the system does not tell, the folder's mode keeps others out."""
    if not sys.platform.startswith("linux"):
        return True
    import struct

    _pid, uid, _gid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return uid == os.getuid()


def _new_socket() -> socket.socket:
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)


def _answers(folder: Path) -> bool:
    try:
        with _address(folder) as address, _new_socket() as probe:
            probe.connect(address)
    except OSError:
        return False
    return True


@contextmanager
def _address(folder: Path) -> Generator[str]:
    """A path of the socket that the system takes: a long one goes through a descriptor of its folder.

    Raises `OSError` where it is too long and the system has no such way.
    """
    plain = str(folder / _SOCKET)
    if len(os.fsencode(plain)) <= _MOST_PATH:
        yield plain
        return
    if not sys.platform.startswith("linux"):
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), plain)
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{fd}/{_SOCKET}"
    finally:
        os.close(fd)
