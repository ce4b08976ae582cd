"""A real host of runs over a fake model server, and a front to it in this process."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from maia.app.build import Ground, lay_ground
from maia.app.runs import open_runs
from maia.core.events import Event
from maia.core.runs import RunInfo, RunNote
from maia.i18n.catalogue import Catalogue
from maia.runs.client import HostedRuns
from maia.terminal.options import Options
from tests.fakes import FakeLlm


@dataclass
class Place:
    """A launch folder, a home, and the fronts that were opened on them."""

    base: Path
    options: Options = field(default_factory=lambda: Options(model="fake-model"))

    @classmethod
    def new(cls, base: Path) -> Place:
        place = cls(base)
        place.work.mkdir(parents=True)
        (place.home / ".maia").mkdir(parents=True)
        return place

    @property
    def work(self) -> Path:
        return self.base / "work"

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def runs_folder(self) -> Path:
        return self.home / ".maia" / "runs"

    def settings(self, server: FakeLlm, **more: Any) -> None:
        (self.home / ".maia" / "settings.json").write_text(json.dumps({"LiteLLM_URL": server.url, **more}))

    def ground(self) -> Ground:
        return lay_ground(self.options, {**os.environ, "MAIA_CWD": str(self.work)}, Catalogue("en"))

    @asynccontextmanager
    async def front(self) -> AsyncGenerator[HostedRuns]:
        runs = open_runs(self.ground(), idle=0.5)
        try:
            yield runs
        finally:
            await runs.aclose()

    def hosts(self) -> list[int]:
        """The host processes of this place that live."""
        found: list[int] = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                words = Path("/proc", name, "cmdline").read_bytes().split(b"\0")
                if b"maia.app.runhost" in words and any(w.startswith(os.fsencode(self.runs_folder)) for w in words):
                    found.append(int(name))
        return found

    def kill_hosts(self) -> None:
        for pid in self.hosts():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def log(self) -> str:
        return "".join(path.read_text("utf-8") for path in self.runs_folder.glob(".hosts/*/log"))


async def to_the_end(runs: HostedRuns, run_id: str) -> tuple[RunInfo, list[RunNote]]:
    """Follow a run until it is over."""
    notes = [note async for note in runs.follow(run_id)]
    return await runs.info(run_id), notes


async def until(runs: HostedRuns, run_id: str, kind: type[Event]) -> RunNote:
    """The first note of that kind."""
    async for note in runs.follow(run_id):
        if isinstance(note.event, kind):
            return note
    raise AssertionError(f"the run ended without {kind.__name__}")


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
