"""Starts a process in a session of its own, behind the limits that a wall puts on it."""

from __future__ import annotations

import asyncio
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from maia.sandbox.confined import Confined
from maia.sandbox.leash import Leash
from maia.sandbox.threshold import Threshold

_SHORT_POLL: Final = 0.005

Handle = int | None
"""An open file's number, or what `subprocess` takes in its place."""


class Begun:
    """A started process; `close` it when it has ended."""

    def __init__(self, popen: subprocess.Popen[bytes], tie: Threshold | Leash) -> None:
        self.popen: Final = popen
        self._threshold = tie if isinstance(tie, Threshold) else None
        self.contained: Final = self._threshold is not None
        self.close: Final = tie.close

    @property
    def is_behind_wall(self) -> bool:
        """Whether its wall stands; False once it has ended: what should run in it has never been started."""
        return self._threshold is None or self._threshold.is_passed

    @property
    def is_refused(self) -> bool:
        """Once it has ended and been waited for: whether the wall stood but could not execute what should run in it."""
        threshold = self._threshold
        return threshold is not None and (self.popen.returncode or 0) > 0 and not threshold.is_executed


def begin(
    confined: Confined,
    cwd: Path,
    env: Mapping[str, str],
    *,
    stdin: Handle,
    stdout: Handle,
    stderr: Handle,
    handles: tuple[int, ...] = (),
    through: Sequence[str] = (),
) -> Begun:
    """Start it without a terminal to ask on; it gets the open files `handles`. Raises OSError and ValueError.

    `through` are words in front of everything, of a program that does something outside the wall and executes the rest.

    It ends with maia, however that ends. Where nothing must be put on a thread first, the calling one starts it, which
    has to live as long as the process may: bubblewrap dies with its parent, and to the kernel that is the thread, not
    the program (prctl(2), PR_SET_PDEATHSIG).
    """
    tie = Threshold() if confined.contained else Leash()

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            (*through, *confined.argv[:1], *tie.options, *confined.argv[1:]),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=cwd,
            env=env,
            start_new_session=True,
            pass_fds=(*handles, *tie.handles),
        )

    try:
        popen = start() if confined.prepare is None else _in_thread(confined.prepare, start)
    except BaseException:
        tie.close()
        raise
    tie.fasten(popen.pid)
    return Begun(popen, tie)


async def stands(begun: Begun) -> bool:
    """Wait until the wall stands; False when it could not be put up: then what should run has not been started."""
    while begun.popen.poll() is None:
        if begun.is_behind_wall:
            return True
        await asyncio.sleep(_SHORT_POLL)
    return begun.is_behind_wall


def _in_thread(prepare: Callable[[], None], start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """Limits that a thread puts on itself end with it; what it started keeps them. So no code runs after a fork."""
    began: list[subprocess.Popen[bytes]] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            prepare()
            began.append(start())
        except (OSError, ValueError) as problem:
            failed.append(problem)

    thread = threading.Thread(target=work, name="maia-start")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return began[0]
