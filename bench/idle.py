"""What the prompt costs while nothing happens: CPU and wake-ups, idle and while a question waits for an answer."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import tempfile
import termios
import time
from pathlib import Path

from first_key import program
from harness import ROOT, Row, at_most, clean_env

SECONDS = 20.0
LIMIT = 0.1


def idle(argv: tuple[str, ...], folder: str) -> tuple[float, float, float]:
    """Per cent of a core, wake-ups a second, and resident MB of a prompt that nobody touches."""
    env = clean_env(Path(folder), PYTHONPATH=f"{ROOT / 'src'}{os.pathsep}{ROOT}")
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe(argv[0], list(argv), env)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    try:
        _read(fd, 5.0)
        cpu, wakes = _used(pid)
        _read(fd, SECONDS)
        after, woken = _used(pid)
        return 100 * (after - cpu) / SECONDS, (woken - wakes) / SECONDS, _resident_mb(pid)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(fd)


def _read(fd: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([fd], [], [], left)[0]:
            os.read(fd, 65_536)


def _used(pid: int) -> tuple[float, int]:
    """CPU seconds and voluntary switches of all threads. The scheduler's own count is exact to the nanosecond."""
    nanoseconds = wakes = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        nanoseconds += int((task / "schedstat").read_text().split()[0])
        rows = (task / "status").read_text().splitlines()
        wakes += next(int(row.split()[1]) for row in rows if row.startswith("voluntary"))
    return nanoseconds / 1e9, wakes


def _resident_mb(pid: int) -> float:
    rows = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(row.split()[1]) * 1024 / 1e6 for row in rows if row.startswith("VmRSS"))


def main() -> list[Row]:
    """One prompt left alone for twenty seconds."""
    with tempfile.TemporaryDirectory(prefix="maia-bench-") as folder:
        percent, wakes, resident = idle(program(), folder)
    return [
        at_most("idle prompt, CPU", percent, "% of a core", LIMIT),
        Row("idle prompt, wake-ups", wakes, "a second"),
        Row("idle prompt, resident", resident, "MB"),
    ]


if __name__ == "__main__":
    for row in main():
        print(row)
