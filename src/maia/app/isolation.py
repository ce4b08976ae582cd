"""The isolation of agent programs: tried before a turn when the program or its wall changed, and when a person asks."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias

from maia.app.runtimes import Yard
from maia.core.endings import Failure
from maia.core.errors import MaiaError
from maia.core.providers import PROVIDERS
from maia.core.reason import Reason
from maia.core.runtime import Desk, IsolationCheck, ProgramEnd, ProgramStart, ProgramTask, Runtime
from maia.folders.protected import Protected
from maia.folders.safety import Safety
from maia.runtimes.environment import start_of
from maia.runtimes.isolation import CHECKS, Trials, check_isolation, closed_folders, readable_things
from maia.runtimes.programs import PROGRAMS, Program, speaking
from maia.sandbox.piped import PipedPrograms
from maia.sandbox.places import OWN_SHOWN, lay_out, temporary_folders
from maia.sandbox.wall import WallFound
from maia.workspace.models.isolation import Tried

Fingerprint: TypeAlias = "tuple[object, ...]"
_TOLD_BY_ITS_START: Final = ("runtime.no_wall", "runtime.no_network")
_MOST_KNOWN: Final = 200
"""Trials that are remembered: one for each program, wall and folder."""

SECRET_ENDINGS: Final = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_CREDENTIALS")
"""Names of variables that are taken for secrets, beside the keys of all providers."""


class Trialist:
    """Tries programs and remembers how it went. `look` knows what is protected now, `nowhere` is an empty folder."""

    def __init__(self, look: Callable[[], Safety], nowhere: Callable[[], str]) -> None:
        self._look = look
        self._nowhere = nowhere
        self._known: dict[Fingerprint, Tried] = {}
        self._last: dict[str, Tried] = {}
        self._one_at_a_time = asyncio.Lock()

    def last(self, program: Program) -> Tried | None:
        """The last trial of a program."""
        return self._last.get(program.name)

    def outside(self, yard: Yard) -> Yard:
        """A yard outside any conversation: in an empty folder, with what is protected now out of sight."""
        hidden = tuple(Path(place.path) for place in self._look().places if place.kind != "sensitive")
        return replace(yard, folders=replace(yard.folders, launch=Path(self._nowhere())), hidden=hidden)

    def guarding(self, runtime: Runtime, program: Program, path: Path, yard: Yard) -> Runtime:
        """The program behind its check (`app.runtimes.Guard`)."""
        return IsolatedRuntime(runtime, program, path, yard, self)

    async def confirmed(self, program: Program, path: Path, yard: Yard, *, again: bool = False) -> Tried:
        """How it went with this program behind this wall; tried where it was not, or `again`.

        Raises `MaiaError` where there is no wall, or the program cannot be started behind it.
        """
        found = await asyncio.to_thread(yard.wall, yard.home(program), path)
        if found.wall is None:
            raise MaiaError("runtime.no_wall", reason=found.notice.values.get("reason", "") if found.notice else "")
        start = await asyncio.to_thread(_start_of, program, path, yard)  # makes its home, which is a part of its wall
        fingerprint = await asyncio.to_thread(_fingerprint, program, path, yard, found)
        async with self._one_at_a_time:
            tried = None if again else self._known.get(fingerprint)
            if tried is None:
                checks = await self._checks(program, path, yard, start)
                tried = self._known[fingerprint] = Tried(round(time.time() * 1000), checks)
                if len(self._known) > _MOST_KNOWN:
                    self._known.pop(next(iter(self._known)))
        self._last[program.name] = tried
        return tried

    async def _checks(
        self, program: Program, path: Path, yard: Yard, start: ProgramStart
    ) -> tuple[IsolationCheck, ...]:
        trials = await asyncio.to_thread(self._trials, program, path, yard)
        return await check_isolation(PipedPrograms(lambda home: yard.wall(home, path)).start, start, trials)

    def _trials(self, program: Program, path: Path, yard: Yard) -> Trials:
        """What is known to be private on this machine, and not what the wall says that it hides."""
        places = self._look().places
        shown = [yard.folders.home / ".maia" / name for name in OWN_SHOWN]
        writable = [yard.folders.launch, *yard.add_dirs, yard.home(program)]
        writable += [Path(each).expanduser() for each in yard.sandbox.writable]
        readable = [Path(each).expanduser() for each in yard.sandbox.readable]
        open_to_it = [Path(os.path.realpath(each)) for each in (*shown, *writable, *readable, *yard.shown_for(path))]
        own = [place.path for place in places if _is_ours(place)]
        others = [place.path for place in places if not _is_ours(place)]
        around = (Path("/"), Path("/etc"), Path("/usr"), yard.folders.home, yard.folders.launch.parent, path.parent)
        return Trials(
            tuple(readable_things(others, open_to_it)),
            tuple(readable_things(own, open_to_it)),
            tuple(_foreign_keys(program, {**os.environ, **yard.env})),
            closed_folders((*around, *(Path(each) for each in own)), [*writable, *temporary_folders()]),
            os.getpid(),
            _network(),
        )


def _start_of(program: Program, path: Path, yard: Yard) -> ProgramStart:
    arguments, home = speaking(program, yard.env), yard.home(program)
    return start_of(program, path, arguments, folder=yard.folders.launch, home=home, env=yard.env)


def _is_ours(place: Protected) -> bool:
    return place.pledged and place.kind in ("maiaData", "providerHome", "sensitive")


def _foreign_keys(program: Program, env: Mapping[str, str]) -> Iterator[str]:
    """Variables with keys of others. What stands here and is not given is the point; what is nowhere is no trial."""
    known = {name for each in PROVIDERS for name in each.key_vars} | {n for each in PROGRAMS for n in each.key_vars}
    own = {*program.key_vars, *program.pass_vars}
    yield from (name for name in env if name not in own and (name in known or name.upper().endswith(SECRET_ENDINGS)))


def _network() -> str:
    """The network namespace that programs are to be in: this one, since each needs its model."""
    try:
        return os.readlink("/proc/self/ns/net")
    except OSError:
        return ""


def _fingerprint(program: Program, path: Path, yard: Yard, found: WallFound) -> Fingerprint:
    """What the trial depends on: which program this is, and what its wall looks like now."""
    real = os.path.realpath(path)
    stat = os.stat(real)
    home = yard.home(program)
    layout = lay_out(yard.places(home, path))
    keys = tuple(sorted(name for name in program.key_vars if yard.env.get(name)))
    return (program.name, real, stat.st_mtime_ns, stat.st_size, found.wall and found.wall.name, layout, keys)


@dataclass(frozen=True, slots=True)
class IsolatedRuntime:
    """A program that answers only where its isolation was confirmed: else its turn fails, and goes to nobody else.

    Where no wall works, the program itself says so: its start is refused, or told (`security.cliSandbox`).
    """

    runtime: Runtime
    program: Program
    path: Path
    yard: Yard
    trialist: Trialist

    @property
    def name(self) -> str:
        return self.runtime.name

    async def turn(self, task: ProgramTask, desk: Desk) -> ProgramEnd:
        try:
            tried = await self.trialist.confirmed(self.program, self.path, self.yard)
            checks = [check.id for check in tried.failed]
        except (MaiaError, OSError) as problem:
            is_told = isinstance(problem, MaiaError) and problem.key in _TOLD_BY_ITS_START
            checks = [] if is_told else list(CHECKS)
        if not checks:
            return await self.runtime.turn(task, desk)
        why = Reason("isolation.failed", {"program": self.program.title, "checks": checks})
        return ProgramEnd("failed", failure=Failure("isolation", self.program.title, code=", ".join(checks), why=why))

    async def aclose(self) -> None:
        await self.runtime.aclose()


def sandbox_status(found: WallFound) -> Literal["active", "unavailable", "unsupported"]:
    """What the kernel offers here (N-03.09)."""
    if found.wall is not None:
        return "active"
    return "unavailable" if sys.platform == "linux" else "unsupported"
