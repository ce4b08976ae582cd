"""The terminal's own state: raw mode and the modes we switch on, and back again whatever happens."""

from __future__ import annotations

import os
import termios
from collections.abc import Generator, Mapping
from contextlib import contextmanager

_ON = "\x1b[?2004h"
_OFF = "\x1b[?2004l"
_KEYS_ON = "\x1b[>1u\x1b[>4;1m"
_KEYS_OFF = "\x1b[>4m\x1b[<u"
_TITLE_KEPT = "\x1b[22;2t"
_TITLE_BACK = "\x1b]2;\x1b\\\x1b[23;2t"
"""Bracketed paste; kitty's key codes and xterm's modifyOtherKeys, so that Shift+Enter is told from Enter; the window's
title on xterm's stack, and an empty one for terminals that have no stack."""


class Tty:
    """One terminal device, by file descriptors. `raw` and `restore` may be called any number of times."""

    def __init__(self, env: Mapping[str, str], read_fd: int = 0, write_fd: int = 1) -> None:
        self.read_fd = read_fd
        self.write_fd = write_fd
        plain = env.get("TERM", "") in ("linux", "dumb", "")
        self.has_title = not plain
        self._on = _ON if plain else _ON + _KEYS_ON + _TITLE_KEPT
        self._off = _OFF if plain else _TITLE_BACK + _KEYS_OFF + _OFF
        self._saved: list[int | list[bytes | int]] | None = None

    @property
    def taken(self) -> bool:
        """Whether the device is in our mode."""
        return self._saved is not None

    def size(self) -> tuple[int, int]:
        """Columns and rows; 80 x 24 where the device does not say."""
        try:
            columns, rows = os.get_terminal_size(self.write_fd)
        except OSError:
            return 80, 24
        return columns or 80, rows or 24

    def raw(self) -> str:
        """Every key comes as it is typed, none is echoed or turned into a signal. Returns what to write."""
        if self._saved is None:
            self._saved = termios.tcgetattr(self.read_fd)
        mode = termios.tcgetattr(self.read_fd)
        mode[0] &= ~(termios.BRKINT | termios.ICRNL | termios.INLCR | termios.IGNCR | termios.INPCK | termios.ISTRIP)
        mode[0] &= ~termios.IXON
        mode[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
        mode[6][termios.VMIN] = 1
        mode[6][termios.VTIME] = 0
        termios.tcsetattr(self.read_fd, termios.TCSADRAIN, mode)
        return self._on

    def restore(self) -> None:
        """Modes and device as they were found. Quiet when the terminal is gone."""
        if self._saved is None:
            return
        saved, self._saved = self._saved, None
        try:
            self.write(self._off)
            termios.tcsetattr(self.read_fd, termios.TCSADRAIN, saved)
        except (OSError, termios.error):
            return

    def write(self, text: str) -> None:
        """Write all of it, waiting for a slow terminal. Raises `OSError` when the terminal is gone."""
        data = memoryview(text.encode("utf-8", "replace"))
        while data:
            try:
                data = data[os.write(self.write_fd, data) :]
            except BlockingIOError:
                _wait_writable(self.write_fd)


def as_given(env: Mapping[str, str]) -> dict[str, str]:
    """The environment without the LC_CTYPE that Python itself sets in a C locale (PEP 538).

    With it, `LANG=C` would look like a terminal that shows UTF-8. Where the first environment cannot be read, the
    variable counts as given.
    """
    given = dict(env)
    if given.get("LC_CTYPE") in ("C.UTF-8", "C.utf8", "UTF-8"):
        try:
            with open("/proc/self/environ", "rb") as file:
                first = b"\0" + file.read()
        except OSError:
            return given
        if b"\0LC_CTYPE=" not in first:
            del given["LC_CTYPE"]
    return given


def _wait_writable(fd: int) -> None:
    from select import select

    select([], [fd], [], 1.0)


@contextmanager
def unseen(fd: int) -> Generator[None]:
    """Lines typed meanwhile are not echoed; does nothing where `fd` is no terminal."""
    try:
        saved = termios.tcgetattr(fd)
    except (termios.error, OSError):
        yield
        return
    silent = termios.tcgetattr(fd)
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(fd, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, saved)
