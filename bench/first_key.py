"""How long a person waits until the first typed key is on the screen, from the start of the process, in a pty."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness import MAIA, ROOT, Row, at_most, clean_env, modules_after

KEY = "Ж"
PAUSE = 0.02
LIMIT = 0.25
_READY = "\x1b[?2004h"
"""Bracketed paste is switched on with the first frame: only what comes after it was painted, not echoed."""
HEAVY = (
    "httpx2",
    "rich",
    "prompt_toolkit",
    "pydantic",
    "openai",
    "anthropic",
    "mcp",
    "fastapi",
    "starlette",
    "asyncio",
)
"""What must not be loaded before the first paint: SDKs, the web, big libraries, and the event loop."""


def first_key(argv: Sequence[str], env: Mapping[str, str], cwd: str) -> tuple[float, float]:
    """Wall and CPU seconds until a key, sent every 20 ms from the start on, is painted. Raises after 20 s."""
    began = time.perf_counter()
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execvpe(argv[0], list(argv), dict(env))
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    seen = b""
    next_key = began
    try:
        while time.perf_counter() - began < 20:
            if time.perf_counter() >= next_key:
                os.write(fd, KEY.encode())
                next_key += PAUSE
            if select.select([fd], [], [], max(0.0, next_key - time.perf_counter()))[0]:
                seen += os.read(fd, 65_536)
                _, ready, painted = seen.partition(_READY.encode())
                if ready and KEY.encode() in painted:
                    return time.perf_counter() - began, _cpu(pid)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(fd)
    raise RuntimeError(f"the key was not painted:\n{seen[-2000:].decode(errors='replace')}")


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def program() -> tuple[str, ...]:
    """maia, or its prompt on a fake conversation as long as there is no composition root in the checkout."""
    if (ROOT / "src/maia/app/interactive.py").exists():
        return MAIA
    return (sys.executable, "-P", str(ROOT / "tests/terminal/live/fake.py"))


def main() -> list[Row]:
    """Median and worst of nine starts, and the modules loaded before the first paint."""
    with tempfile.TemporaryDirectory(prefix="maia-bench-") as folder:
        env = clean_env(Path(folder), PYTHONPATH=f"{ROOT / 'src'}{os.pathsep}{ROOT}")
        first_key(program(), env, folder)
        runs = [first_key(program(), env, folder) for _ in range(9)]
    walls = [wall for wall, _ in runs]
    loaded = modules_after("import maia.terminal.firstpaint, maia.i18n.catalogue")
    heavy = sorted(name for name in HEAVY if name in loaded)
    return [
        at_most("first typed key painted, median wall", statistics.median(walls), "s", LIMIT),
        Row("first typed key painted, worst wall", max(walls), "s"),
        Row("first typed key painted, median CPU", statistics.median(cpu for _, cpu in runs), "s"),
        at_most("heavy modules before the first paint", len(heavy), "modules", 0, ", ".join(heavy)),
        Row("modules loaded before the first paint", len(loaded), "modules"),
    ]


if __name__ == "__main__":
    for row in main():
        print(row)
