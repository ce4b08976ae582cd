"""How far bubblewrap came with a command, told by itself: a word that looks like its own proves nothing."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import termios
from collections.abc import Sequence
from typing import Final

STARTS: Final = 4
"""How often in all a command is put behind the wall when a place comes, goes or changes its kind meanwhile."""


class Threshold:
    """Two pipes to one bubblewrap(1), which reads the one and writes the other.

    It takes the byte of `--block-fd` once every place is mounted, just before it goes to the working folder and
    executes the command; and it tells an exit code to `--json-status-fd` only of what was really executed.
    """

    def __init__(self) -> None:
        """Raises OSError where no more files can be opened."""
        byte, self._byte = os.pipe()
        try:
            self._status, status = os.pipe()
        except OSError:
            os.close(byte)
            os.close(self._byte)
            raise
        self.handles: Final = (byte, status)
        self.options: Final[Sequence[str]] = ("--block-fd", str(byte), "--json-status-fd", str(status))
        self._ends = [byte, self._byte, self._status, status]
        self._told = b""
        self._is_passed = False
        os.write(self._byte, b"\n")
        os.set_blocking(self._status, False)

    def fasten(self, _pid: int) -> None:
        """bubblewrap has its ends now."""
        for handle in self.handles:
            os.close(handle)
            self._ends.remove(handle)

    @property
    def is_passed(self) -> bool:
        """Whether every place is mounted. False once bubblewrap has ended: the command has never been started."""
        if not self._is_passed and self._ends:
            waiting = fcntl.ioctl(self._byte, termios.FIONREAD, bytes(4))
            self._is_passed = int.from_bytes(waiting, sys.byteorder) == 0
        return self._is_passed

    @property
    def is_executed(self) -> bool:
        """Once bubblewrap has ended by itself: whether the command had been executed."""
        if self._ends:
            with contextlib.suppress(BlockingIOError):
                self._told += os.read(self._status, 4096)
        return b'"exit-code"' in self._told

    def close(self) -> None:
        """Give everything back; what is known by now stays known."""
        _ = self.is_passed, self.is_executed
        for handle in self._ends:
            os.close(handle)
        self._ends.clear()
