"""Ties the life of a command to maia's where no wall does: who kills maia kills what it runs."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
from collections.abc import Sequence
from typing import Final

_FIRST: Final = 130
"""Commands get this open file too, out of the way of the numbers that scripts choose for their own."""


class Leash:
    """A pipe whose one end only maia holds: when that closes, however maia ended, the kernel kills the command's group.

    The other end, which the command and whatever it starts hold, asks for it (fcntl(2), F_SETOWN and F_SETSIG). So it
    needs no process that watches and no code between fork and exec, and a group's number given to another is never hit.
    Who left the group or closed the file goes on. Linux only: elsewhere, or where it cannot be had, nothing is tied.
    """

    options: Final[Sequence[str]] = ()

    def __init__(self) -> None:
        self._ours: list[int] = []
        self._theirs: list[int] = []
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                theirs, ours = os.pipe()
                self._ours = [theirs, ours]
                self._theirs = [fcntl.fcntl(theirs, fcntl.F_DUPFD_CLOEXEC, _FIRST)]

    @property
    def handles(self) -> tuple[int, ...]:
        """The open file that the command needs."""
        return tuple(self._theirs)

    def fasten(self, group: int) -> None:
        """From now on the group ends with maia."""
        with contextlib.suppress(OSError):  # already over, and waited for by somebody else
            for theirs in self._theirs:
                fcntl.fcntl(theirs, fcntl.F_SETOWN, -group)
                fcntl.fcntl(theirs, fcntl.F_SETSIG, signal.SIGKILL)
                fcntl.fcntl(theirs, fcntl.F_SETFL, os.O_ASYNC)

    def close(self) -> None:
        """What is left of the group goes on without maia."""
        for theirs in self._theirs:
            fcntl.fcntl(theirs, fcntl.F_SETFL, 0)
        for handle in (*self._theirs, *self._ours):
            os.close(handle)
        self._theirs, self._ours = [], []
