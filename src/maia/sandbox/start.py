"""Starts a process in a session of its own, behind the limits that a wall puts on it."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from maia.sandbox.confined import Confined

Handle = int | None
"""An open file's number, or what `subprocess` takes in its place."""


def begin(
    confined: Confined,
    cwd: Path,
    env: Mapping[str, str],
    *,
    stdin: Handle,
    stdout: Handle,
    stderr: Handle,
    handles: tuple[int, ...] = (),
) -> subprocess.Popen[bytes]:
    """Start it without a terminal to ask on; it gets the open files `handles`. Raises OSError and ValueError.

    Where nothing must be put on a thread first, the calling one starts it, which has to live as long as the process
    may: bubblewrap dies with its parent, and to the kernel that is the thread, not the program (prctl(2),
    PR_SET_PDEATHSIG).
    """

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            confined.argv,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=cwd,
            env=env,
            start_new_session=True,
            pass_fds=handles,
        )

    return start() if confined.prepare is None else _in_thread(confined.prepare, start)


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
