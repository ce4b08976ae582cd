"""Sees to it that nothing that runs had started stays behind when their host is killed."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType
from typing import Final

_SUBREAPER: Final = 36
"""prctl(2), PR_SET_CHILD_SUBREAPER: descendants whose parent died become children of this process."""


def fork_guarded() -> bool:
    """Fork: the child goes on as the host (True), the parent waits for its end (False) and cleans up after it.

    Where the system gives orphans to nobody but its first process, there is no fork, and nothing is guarded.
    """
    if not sys.platform.startswith("linux"):
        return True
    host = os.fork()
    if host == 0:
        return True
    os.closerange(3, 256)  # above all the lock, which tells whether the host lives
    _adopt_orphans()

    def pass_on(number: int, _frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(host, number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, pass_on)
    if os.WIFSIGNALED(_end_of(host)):
        _end_children()
    return False


def _adopt_orphans() -> None:
    import ctypes  # only Linux needs it

    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _end_of(host: int) -> int:
    """The status of the host; what else ends meanwhile was somebody's orphan."""
    while True:
        pid, status = os.wait()
        if pid == host:
            return status


def _end_children() -> None:
    """Kill what is left until nothing is: the children of what dies become ours in turn."""
    while True:
        for pid in _children():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return


def _children() -> Iterator[int]:
    own = os.getpid()
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            if int(file.read().rpartition(b")")[2].split()[1]) == own:
                yield int(name)
