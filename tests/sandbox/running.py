"""Runs real commands for the tests of this room."""

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from maia.core.ports import ProcessEnd
from maia.sandbox.process import Job, LocalProcesses, shell_words
from maia.sandbox.wall import WallFound


def no_wall() -> WallFound:
    return WallFound(None)


def processes(folder: Path, find_wall: Callable[[], WallFound] = no_wall, **options: Any) -> LocalProcesses:
    return LocalProcesses(folder / "saved", find_wall, **options)


def shell(
    folder: Path, command: str, *, timeout: float = 30, max_chars: int = 1000, runner: Any = None, **options: Any
) -> ProcessEnd:
    runner = runner or processes(folder)

    async def go() -> ProcessEnd:
        job = Job(shell_words(command), folder, timeout, max_chars)
        return await runner.run(replace(job, **options))

    return asyncio.run(go())


def stopped_in_time(run: Callable[[float], ProcessEnd], enough: Callable[[ProcessEnd], object]) -> ProcessEnd:
    """What `run` gives for a limit of seconds: a longer one where a busy machine had not come to `enough` by then."""
    end = run(0.5)
    for seconds in (2, 8, 30):
        if enough(end):
            break
        end = run(seconds)
    return end


def has_printed(end: ProcessEnd) -> bool:
    return bool(end.output)


def in_brief(end: ProcessEnd) -> tuple[str, int | None, str]:
    return end.state, end.exit_code, end.output


def living(word: str) -> list[str]:
    """Command lines of living processes that hold `word`; asked for until they are gone, ten seconds at most."""
    for _ in range(200):
        if not _commands(word):
            return []
        time.sleep(0.05)
    return _commands(word)


def _commands(word: str) -> list[str]:
    found: list[str] = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = Path(entry.path, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                state = Path(entry.path, "stat").read_bytes().rpartition(b") ")[2][:1]
            except OSError:
                continue
            if word in line and state != b"Z":
                found.append(line)
    return found


def _bubblewrap_works() -> bool:
    program = shutil.which("bwrap")
    if program is None:
        return False
    tried = subprocess.run(
        [program, "--ro-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "true"], capture_output=True
    )
    return tried.returncode == 0


needs_bubblewrap = pytest.mark.skipif(not _bubblewrap_works(), reason="bubblewrap is missing or does not work here")
