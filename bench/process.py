"""Measures running commands: what one call costs over the bare program, and that much output stays within memory."""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from harness import Row, at_most, clean_env, run

from maia.sandbox.places import Places
from maia.sandbox.process import LocalProcesses
from maia.sandbox.wall import WallFound, find_wall

OVERHEAD_MS = 10.0
GROWTH_MB = 20.0
CALLS = 30


def bare() -> float:
    """Best wall milliseconds of the same shell without maia."""
    times: list[float] = []
    for _ in range(CALLS):
        began = time.perf_counter()
        subprocess.run(["/bin/bash", "-c", "true"], capture_output=True, check=True)
        times.append(time.perf_counter() - began)
    return min(times) * 1000


async def best_of(call: Callable[[], Awaitable[object]]) -> float:
    await call()
    times: list[float] = []
    for _ in range(CALLS):
        began = time.perf_counter()
        await call()
        times.append(time.perf_counter() - began)
    return min(times) * 1000


async def overhead(folder: Path, find: Callable[[], WallFound]) -> float:
    runner = LocalProcesses(folder / "saved", find)
    return await best_of(lambda: runner.shell("true", cwd=folder, timeout=10, max_chars=30_000)) - bare()


async def output(folder: Path, command: str) -> tuple[float, float, int]:
    """Wall seconds, growth of this process in MB, and characters counted, of one command that prints a great deal."""
    runner = LocalProcesses(folder / "saved", lambda: WallFound(None))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    shown: list[str] = []
    end = await runner.shell(command, cwd=folder, timeout=60, max_chars=30_000, on_output=shown.append)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
    return time.perf_counter() - began, grown, end.total_chars


def import_cost() -> float:
    """CPU milliseconds of this room's import over what the engine needs anyway."""

    def cpu(statement: str) -> float:
        return min(run((sys.executable, "-P", "-c", statement), env=clean_env()).cpu for _ in range(7))

    engine = "import asyncio, maia.core.tool, maia.core.text, maia.tools.arguments"
    return (cpu(f"{engine}, maia.sandbox.process, maia.tools.bash") - cpu(engine)) * 1000


def main() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="maia-bench-") as name:
        folder = Path(name)
        places = Places(folder, Path.home())
        found = find_wall("auto", places)
        wall = found.wall.name if found.wall else "no wall here"
        few_s, few_mb, few = asyncio.run(output(folder, "seq -f %07g 25000"))
        many_s, many_mb, many = asyncio.run(output(folder, "yes abcdefghi | head -c 100000000"))
        return [
            at_most(
                "a command, over the bare shell",
                asyncio.run(overhead(folder, lambda: WallFound(None))),
                "ms",
                OVERHEAD_MS,
            ),
            at_most(
                f"the same behind the wall ({wall})",
                asyncio.run(overhead(folder, lambda: found)),
                "ms",
                2 * OVERHEAD_MS,
            ),
            at_most(f"{few:,} characters of output", few_s, "s", 0.5),
            at_most("memory they take", few_mb, "MB", GROWTH_MB),
            at_most(f"{many:,} characters of output", many_s, "s", 5),
            at_most("memory they take", many_mb, "MB", GROWTH_MB),
            at_most("import of the room", import_cost(), "ms CPU", 30),
        ]
