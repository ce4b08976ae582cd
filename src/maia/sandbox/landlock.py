"""Landlock, the kernel's own sandbox, by ctypes: the second choice where bubblewrap does not work.

Numbers and structures: landlock(7) and linux/landlock.h. It only ever allows, so it cannot make a part of a writable
folder read-only, and hides a folder by allowing everything around it.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from maia.sandbox.confined import Confined
from maia.sandbox.places import Places, lay_out

_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_VERSION: Final = 1
_PATH_BENEATH: Final = 1
_SET_NO_NEW_PRIVS: Final = 38

_CAPSET: Final = 0x20080522
_KEPT_CAPABILITIES: Final = sum(1 << bit for bit in (0, 1, 3, 4, 5, 6, 7))
"""CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, as behind bubblewrap: root with PERFMON or SYS_PTRACE
reads the environment of processes outside, which Landlock alone does not keep it from (capabilities(7))."""

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_READ: Final = _EXECUTE | _READ_FILE | _READ_DIR
_TRUNCATE: Final = 1 << 14
_OF_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_LAST_RIGHT: Final = {1: 12, 2: 13}
"""The highest bit of a right on files that a version knows; 14 (truncate) from version 3 on."""

_TCP: Final = 3
_SCOPES: Final = 3
"""No signal to processes outside, no abstract socket of theirs (version 6)."""

_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/shm")


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    """One system call. Raises OSError."""
    result = _libc().syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def landlock_version() -> int:
    """The version of Landlock that this kernel offers; 0 when it offers none."""
    if not sys.platform.startswith("linux"):
        return 0
    try:
        return _call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    except OSError:
        return 0


@dataclass(frozen=True, slots=True)
class LandlockWall:
    """Reads everything but secrets, writes only the folders of `places`; TCP as configured from version 4 on."""

    version: int
    places: Places
    name: Literal["landlock"] = "landlock"

    @property
    def network(self) -> bool:
        return self.places.network

    def confine(self, argv: Sequence[str], _cwd: Path, /) -> Confined:
        return Confined(argv, self._restrict)

    def _restrict(self) -> None:
        """Limit the calling thread and what it starts, for good. Raises OSError."""
        handled = (1 << (_LAST_RIGHT.get(self.version, 14) + 1)) - 1
        tcp = _TCP if self.version >= 4 and not self.places.network else 0
        scopes = _SCOPES if self.version >= 6 else 0
        wanted = struct.pack("=QQQ", handled, tcp, scopes)
        size = 24 if self.version >= 6 else 16 if self.version >= 4 else 8
        ruleset = _call(_CREATE_RULESET, ctypes.c_char_p(wanted), ctypes.c_size_t(size), ctypes.c_uint32(0))
        try:
            for path, rights in self._rules(handled):
                _allow(ruleset, path, rights & handled)
            if _libc().prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
                raise OSError(ctypes.get_errno(), "prctl")
            _drop_capabilities()
            _call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
        finally:
            os.close(ruleset)

    def _rules(self, handled: int) -> Iterator[tuple[Path, int]]:
        layout = lay_out(self.places)
        for path in _around(Path("/"), layout.hidden):
            yield path, _READ
        for path in layout.shown:
            yield path, _READ
        for root in layout.writable:
            for path in _around(root, layout.hidden):
                yield path, handled
        for device in _DEVICES:
            yield Path(os.path.realpath(device)), handled


def _drop_capabilities() -> None:
    """Keep what work on files of others needs, of the calling thread and for good: with no-new-privileges no program
    gains more than it had (execve(2)). Raises OSError."""
    if os.geteuid() != 0:
        return
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPSET, 0))
    held = ctypes.create_string_buffer(24)
    if _libc().capget(header, held) != 0:
        raise OSError(ctypes.get_errno(), "capget")
    effective, permitted, inheritable, *_ = struct.unpack("=6I", held.raw)
    kept = _KEPT_CAPABILITIES
    left = struct.pack("=6I", effective & kept, permitted & kept, inheritable & kept, 0, 0, 0)
    if _libc().capset(header, ctypes.create_string_buffer(left)) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def _around(root: Path, hidden: Sequence[Path]) -> Iterator[Path]:
    """The paths that together cover everything below `root` but what is hidden."""
    inside = [path for path in hidden if path.is_relative_to(root) and path != root]
    if not inside:
        yield root
        return
    holders = {root / path.relative_to(root).parts[0] for path in inside}
    try:
        entries = list(os.scandir(root))
    except OSError:
        return
    for entry in entries:
        path = root / entry.name
        if path not in holders:
            if not entry.is_symlink():
                yield path
        elif path not in inside:
            yield from _around(path, inside)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    """Add a rule for what stands there now. A path that has gone meanwhile needs none, nor one that became a link."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISLNK(mode):
            return
        if not stat.S_ISDIR(mode):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, handle)
        _call(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), ctypes.c_char_p(rule), ctypes.c_uint32(0))
    finally:
        os.close(handle)
