"""The runs of this user as a front sees them: where they are kept, and how a host for new ones is started."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from typing import Final

from maia.app.build import Ground
from maia.core.codec import load_value, to_json
from maia.core.errors import RunProblem, system_words
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.launch import NO_HOME
from maia.runs.client import HostedRuns
from maia.runs.control import Line
from maia.runs.host import IDLE_SECONDS
from maia.runs.hostplace import HOSTS, HostPlace, Opened, open_place
from maia.runs.store import RunStore
from maia.terminal.options import Options

HOST_PROGRAM: Final = (sys.executable, "-P", "-m", "maia.app.runhost")
"""`-P` keeps the folder that maia was started in off the import path: it may hold a stranger's `json.py`."""


def open_runs(ground: Ground, *, idle: float = IDLE_SECONDS) -> HostedRuns:
    """The port `Runs` (C6.05) for a front that was started on this ground. Costs nothing before it is used.

    Runs live in a process of their own, started with the first one, or by `warm`; it has the front's environment.
    It ends `idle` seconds after its last run ended and this front let go.
    """
    store = run_store(ground)
    return HostedRuns(store, lambda: _launch(ground, store, idle))


def run_store(ground: Ground) -> RunStore:
    return RunStore(ground.folders.config / "runs")


async def _launch(ground: Ground, store: RunStore, idle: float) -> tuple[str, Line]:
    """Start a host and connect to it: its socket listens before it is there. Raises `RunProblem`."""
    if ground.folders.home == NO_HOME:
        raise RunProblem("runs.no_home")
    try:
        opened = open_place(store.folder / HOSTS, _wishes(ground, idle))
    except OSError as error:
        raise RunProblem("runs.store", folder=str(store.folder), problem=system_words(error)) from error
    place = store.host(opened.name)
    line: Line | None = None
    try:
        line = await Line.over(place.connect(), opened.word)
        await _start(ground, opened, place)
    except BaseException as error:
        if line is not None:
            await line.aclose()
        place.remove()
        if not isinstance(error, OSError):
            raise
        raise RunProblem("runs.no_host", problem=system_words(error)) from error
    finally:
        opened.let_go()
    return opened.name, line


async def _start(ground: Ground, opened: Opened, place: HostPlace) -> None:
    """Start the process, which leaves this one's session and family: what ends us and our children spares it."""
    fds = (opened.listening.fileno(), opened.lock)
    stderr = os.open(place.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        process = await asyncio.create_subprocess_exec(
            *HOST_PROGRAM,
            *map(str, fds),
            str(place.folder),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=stderr,
            pass_fds=fds,
            start_new_session=True,
            env={**os.environ, "HOME": str(ground.folders.home)},
        )
    finally:
        os.close(stderr)
    if code := await process.wait():  # it forks at once, and this half ends
        raise OSError(0, f"exit {code}")


def _wishes(ground: Ground, idle: float) -> JsonObject:
    """What the host is told; the environment, with its keys, it has by itself."""
    options = replace(ground.options, prompt="", command=(), add_dirs=tuple(map(str, ground.add_dirs)))
    return {
        "launch": str(ground.folders.launch),
        "idle": idle,
        "lang": ground.say.lang,
        "options": to_json(options),
    }


def options_of(data: JsonValue) -> Options:
    """The options that `_wishes` wrote down."""
    return load_value(Options, data)
