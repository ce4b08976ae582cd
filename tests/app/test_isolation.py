from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from maia.app import runtimes
from maia.app.isolation import Trialist, sandbox_status
from maia.app.runtimes import Yard, patience_of, program_models
from maia.core.endings import Failure
from maia.core.errors import MaiaError
from maia.core.messages import AssistantMessage
from maia.core.reason import Reason
from maia.core.runtime import ProgramTask
from maia.folders.instance import Instance
from maia.folders.safety import Safety
from maia.launch import find_folders
from maia.runtimes.patience import Patience
from maia.runtimes.programs import named
from maia.sandbox.wall import WallFound
from maia.settings import load_settings
from maia.settings_values import Sandbox
from tests.runtimes.doubles import AGENT, OpenDoor


class Paper:
    """A desk that notes what it is told, and refuses every call."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def tell(self, event: Any) -> None:
        self.told.append(event)

    async def permit(self, call: Any) -> Any:
        raise AssertionError(call)

    def keys(self) -> list[str]:
        return [event.key for event in self.told if hasattr(event, "key")]


class World:
    """A home with maia's data and another tool's memory, and a program on the PATH that answers."""

    def __init__(self, top: Path, command: str = "qwen") -> None:
        self.home, work, programs = top / "home", top / "home/work", top / "bin"
        for folder in (work, programs, self.home / ".claude", self.home / ".maia/data"):
            folder.mkdir(parents=True)
        (self.home / ".maia/data/maia.db").write_text("rows")
        (self.home / ".claude/memory.md").write_text("private")
        self.program = programs / command
        self.program.write_text(f"#!/bin/sh\nexec {os.path.realpath('/usr/bin/env')} python3 {AGENT} acp text\n")
        self.program.chmod(0o755)
        env = {"HOME": str(self.home), "PATH": f"{programs}:{os.environ['PATH']}", "OPENAI_API_KEY": "sk-own"}
        self.instance = Instance(self.home, self.home / ".maia", self.home / ".maia/data", None)
        self.trialist = Trialist(lambda: Safety(self.instance), lambda: str(work))
        folders = replace(find_folders({**env, "MAIA_CWD": str(work)}), launch=work)
        hidden = (self.home / ".claude", self.home / ".maia/data")
        self.yard = Yard(folders, (), Sandbox(), env, hidden, guard=self.trialist.guarding)

    def answered(self, yard: Yard | None = None, name: str = "qwen", **more: Any) -> tuple[Any, Paper]:
        """One turn of the program."""
        desk = Paper()

        async def turn() -> Any:
            models = program_models(name, None, yard or self.yard)
            bound = await models.start("")
            assert bound is not None
            assert bound.runtime is not None
            try:
                return await bound.runtime.turn(ProgramTask("Hi", self.yard.folders.launch, 0, **more), desk)
            finally:
                await models.close()

        return asyncio.run(turn()), desk


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    if world.yard.wall(world.yard.home(named("qwen"))).wall is None:
        pytest.skip("no wall works here")
    return world


def without_walls(monkeypatch: pytest.MonkeyPatch, found: WallFound) -> None:
    def found_here(_mode: object, _places: object) -> WallFound:
        return found

    monkeypatch.setattr(runtimes, "find_wall", found_here)


NO_WALL = WallFound(None, Reason("sandbox.none_missing", {"reason": ""}))


def test_a_turn_begins_when_every_check_passed_and_the_next_one_asks_no_more(world: World) -> None:
    end, _ = world.answered()
    tried = world.trialist.last(named("qwen"))
    assert (end.outcome, tried and tried.failed) == ("finished", ())
    world.answered()
    assert world.trialist.last(named("qwen")) is tried


@pytest.mark.parametrize("what", ["the program", "the wall"])
def test_it_is_tried_again_when_the_program_or_its_wall_changed(world: World, what: str) -> None:
    world.answered()
    tried = world.trialist.last(named("qwen"))
    if what == "the program":
        world.program.write_text(world.program.read_text() + "# a newer version\n")
    world.answered(world.yard if what == "the program" else replace(world.yard, hidden=world.yard.hidden[:1]))
    assert world.trialist.last(named("qwen")) is not tried


def test_a_failed_check_stops_the_turn_before_the_program_starts_and_names_all(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_walls(monkeypatch, WallFound(OpenDoor()))
    end, desk = world.answered()
    failed = ["home", "data", "keys", *(["writes"] if os.access("/etc", os.W_OK) else [])]
    why = Reason("isolation.failed", {"program": "Qwen Code", "checks": failed})
    assert end.failure == Failure("isolation", "Qwen Code", code=", ".join(failed), why=why)
    assert (end.outcome, desk.told) == ("failed", [])
    tried = world.trialist.last(named("qwen"))
    assert tried is not None
    assert [check.id for check in tried.failed] == failed


def test_what_cannot_be_tried_is_not_confirmed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise MaiaError("runtime.not_started", program="x", problem="y")

    monkeypatch.setattr("maia.app.isolation.check_isolation", broken)
    end, _ = world.answered()
    assert end.failure.why.values["checks"] == ["home", "data", "keys", "writes", "network"]


def test_without_a_wall_no_program_runs_unless_the_person_said_auto(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_walls(monkeypatch, NO_WALL)
    end, desk = world.answered()
    assert (end.outcome, desk.keys()) == ("failed", ["runtime.no_wall"])
    auto = replace(world.yard, cli_sandbox="auto")
    end, desk = world.answered(auto)
    assert (end.outcome, desk.keys()) == ("finished", ["runtime.no_sandbox"])
    _, desk = world.answered(auto, history=(AssistantMessage((), "m", "qwen"),))
    assert desk.keys() == [], "told once in a conversation"


def test_a_program_that_cannot_ask_has_no_way_around_the_wall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path, "hermes-acp")
    without_walls(monkeypatch, NO_WALL)
    end, desk = world.answered(replace(world.yard, cli_sandbox="auto"), "hermes")
    assert (end.outcome, desk.keys()) == ("failed", ["runtime.no_wall"])


def test_a_program_that_is_installed_in_a_hidden_place_is_seen_all_the_same(world: World) -> None:
    local = world.home / ".claude/local"
    local.mkdir()
    world.program.rename(local / "qwen")
    yard = replace(world.yard, env={**world.yard.env, "PATH": f"{local}:{os.environ['PATH']}"})
    assert world.answered(yard)[0].outcome == "finished"


def test_what_the_kernel_offers_is_told_in_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sandbox_status(WallFound(OpenDoor())) == "active"
    monkeypatch.setattr("sys.platform", "linux")
    assert sandbox_status(NO_WALL) == "unavailable"
    monkeypatch.setattr("sys.platform", "darwin")
    assert sandbox_status(NO_WALL) == "unsupported"


def test_silence_is_bounded_by_the_settings(tmp_path: Path) -> None:
    (tmp_path / ".maia").mkdir()
    (tmp_path / ".maia/settings.json").write_text('{"model.cli.idleTimeoutMs": 1500, "model.cli.toolTimeoutMs": 9000}')
    settings = load_settings(tmp_path, tmp_path, {}, {}, folder_trusted=False)
    assert patience_of(settings) == Patience(idle=1.5, tool=9.0)
    assert (Patience().idle, Patience().tool) == (600.0, 1200.0)


@pytest.mark.parametrize(
    ("written", "expected"), [('"auto"', "auto"), ('"required"', "required"), ('"off"', None), ("1", None)]
)
def test_the_setting_has_two_words_and_no_off(tmp_path: Path, written: str, expected: object) -> None:
    (tmp_path / ".maia").mkdir()
    (tmp_path / ".maia/settings.json").write_text(f'{{"security": {{"cliSandbox": {written}}}}}')
    settings = load_settings(tmp_path, tmp_path, {}, {}, folder_trusted=False)
    assert settings.security.cli_sandbox == expected
    assert (
        load_settings(tmp_path / "x", tmp_path / "x", {}, {}, folder_trusted=False).security.cli_sandbox == "required"
    )
