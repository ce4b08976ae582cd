from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from maia.core.runtime import IsolationCheck, ProgramStart
from maia.runtimes.isolation import CHECKS, Trials, check_isolation, closed_folders, readable_things
from maia.sandbox.piped import PipedPrograms
from maia.sandbox.places import Places
from maia.sandbox.wall import WallFound, find_wall
from tests.runtimes.doubles import OpenDoor

WALLS: dict[str, Callable[[str], str | None]] = {"bubblewrap": shutil.which, "landlock": lambda _name: None}


class World:
    """A home with another tool's memory, maia's data, and a work folder with what a program may use."""

    def __init__(self, top: Path) -> None:
        self.home, self.work = top / "home", top / "home/work"
        self.own, self.data, self.store = top / "own", top / "home/.maia", top / "home/.claude"
        for folder in (self.work, self.own, self.data, self.store):
            folder.mkdir(parents=True)
        (self.data / "keys").write_text("secret")
        (self.store / "memory.md").write_text("private")
        self.trials = Trials(
            tuple(readable_things([str(self.store)], [self.work, self.own])),
            tuple(readable_things([str(self.data)], [self.work, self.own])),
            ("FOREIGN_API_KEY", "not a name; echo x"),
            closed_folders([self.home, self.store, top, Path("/")], [self.work, self.own]),
            os.getpid(),
            os.readlink("/proc/self/ns/net"),
        )

    def checks(self, found: WallFound, trials: Trials | None = None, **env: str) -> dict[str, IsolationCheck]:
        start = ProgramStart(("x",), self.work, self.own, {"PATH": "/usr/bin:/bin", "OWN_API_KEY": "k", **env})
        programs = PipedPrograms(lambda _home: found)
        tried = asyncio.run(check_isolation(programs.start, start, trials or self.trials))
        assert tuple(each.id for each in tried) == CHECKS
        return {each.id: each for each in tried}


@pytest.mark.parametrize("name", WALLS)
def test_behind_a_wall_every_check_passes(tmp_path: Path, name: str) -> None:
    world = World(tmp_path)
    places = Places(world.work, world.home, hidden=(world.store,), temporary=(world.own,), agent=None)
    found = find_wall("auto", places, which=WALLS[name])
    if found.wall is None or found.wall.name != name:
        pytest.skip(f"{name} does not work here")
    assert {each.id: each.found for each in world.checks(found).values() if not each.passed} == {}
    assert not list(tmp_path.rglob(".maia-isolation-*"))


def test_without_one_each_check_that_fails_names_what_could_be_reached(tmp_path: Path) -> None:
    world = World(tmp_path)
    trials = replace(world.trials, folders=(str(world.home),), network="net:[1]")
    found = world.checks(WallFound(OpenDoor()), trials, FOREIGN_API_KEY="k")
    assert [each.passed for each in found.values()] == [False] * 5
    assert found["home"].found == (str(world.store),)
    assert found["data"].found == (str(world.data),)
    assert found["keys"].found[0] == "FOREIGN_API_KEY"
    assert found["writes"].found == (str(world.home),)
    assert not list(tmp_path.rglob(".maia-isolation-*"))


def test_a_trial_that_does_not_come_to_its_end_confirms_nothing(tmp_path: Path) -> None:
    world = World(tmp_path)
    found = world.checks(WallFound(OpenDoor()), Trials(), PATH="/nowhere", ENV="/dev/null")
    assert all(each.passed for each in found.values())

    async def cut_short(start: ProgramStart) -> object:
        return await PipedPrograms(lambda _home: WallFound(OpenDoor())).start(replace(start, argv=("/bin/true",)))

    tried = asyncio.run(check_isolation(cut_short, ProgramStart(("x",), tmp_path, tmp_path, {}), Trials()))  # type: ignore[arg-type]
    assert not any(each.passed for each in tried)


def test_what_is_open_to_the_program_is_no_trial_and_the_rest_around_it_is(tmp_path: Path) -> None:
    for name in ("a/open/x", "a/shut/y", "b/empty"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a/file").write_text("x")
    (tmp_path / "a/blank").touch()
    places = [str(tmp_path / name) for name in ("a", "b/empty", "missing")]
    assert set(readable_things(places, [tmp_path / "a/open"])) == {f"{tmp_path}/a/shut", f"{tmp_path}/a/file"}
    assert set(readable_things(places, [])) == {f"{tmp_path}/a"}
    assert closed_folders([tmp_path, tmp_path / "a", tmp_path / "missing"], [tmp_path / "a"]) == (str(tmp_path),)
