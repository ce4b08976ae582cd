from __future__ import annotations

import asyncio
import gc
import os
import shutil
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import pytest

from maia.core.ports import ProcessEnd
from maia.core.runtime import ProgramGone, ProgramStart
from maia.sandbox.confined import Confined
from maia.sandbox.piped import PipedPrograms
from maia.sandbox.places import Places
from maia.sandbox.threshold import STARTS
from maia.sandbox.wall import BubblewrapWall, WallFound
from tests.sandbox.running import in_brief, living, needs_bubblewrap, processes, shell

pytestmark = needs_bubblewrap

COMPLAINT = "bwrap: Can't mount tmpfs on /newroot/tmp/tmux-9: No such file or directory"


@dataclass
class Shifting:
    """bubblewrap over places that change after each look at them, as long as there are changes."""

    wall: BubblewrapWall
    changes: list[Callable[[], object]] = field(default_factory=list[Callable[[], object]])
    before: Callable[[], object] = lambda: None
    looks: int = 0
    name: Literal["bubblewrap"] = "bubblewrap"
    network: bool = True

    def confine(self, argv: Sequence[str], cwd: Path, /) -> Confined:
        self.looks += 1
        self.before()
        confined = self.wall.confine(argv, cwd)
        if self.changes:
            self.changes.pop(0)()
        return confined


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for folder in (".aws", ".npm", ".maia/skills", "project/.vscode"):
        (tmp_path / folder).mkdir(parents=True)
    for file in (".aws/credentials", ".netrc", "project/.idea"):
        (tmp_path / file).write_text("a secret")
    return tmp_path


@pytest.fixture
def wall(home: Path) -> Shifting:
    return Shifting(BubblewrapWall(shutil.which("bwrap") or "", Places(home / "project", home, temporary=())))


def gone(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def to_file(path: Path) -> None:
    gone(path)
    path.touch()


def to_folder(path: Path) -> None:
    gone(path)
    path.mkdir()


def to_link(path: Path) -> None:
    gone(path)
    path.symlink_to("nowhere")


@pytest.mark.parametrize(
    ("place", "change"),
    [
        pytest.param(".aws", gone, id="a hidden folder goes"),
        pytest.param(".aws", to_file, id="a hidden folder becomes a file"),
        pytest.param(".aws", to_link, id="a hidden folder becomes a link"),
        pytest.param(".netrc", to_folder, id="a hidden file becomes a folder"),
        pytest.param(".netrc", gone, id="a hidden file goes"),
        pytest.param(".npm", gone, id="a writable folder goes"),
        pytest.param(".npm", to_link, id="a writable folder becomes a link"),
        pytest.param(".maia/skills", gone, id="a shown folder goes"),
        pytest.param(".maia", gone, id="a hidden folder goes with what is shown of it"),
        pytest.param("project/.vscode", gone, id="a read-only folder goes"),
        pytest.param("project/.vscode", to_file, id="a read-only folder becomes a file"),
        pytest.param("project/.idea", to_folder, id="a read-only file becomes a folder"),
    ],
)
def test_a_place_that_changes_meanwhile_is_looked_at_again(
    home: Path, wall: Shifting, place: str, change: Callable[[Path], None]
) -> None:
    shown: list[str] = []
    wall.changes = [lambda: change(home / place)]
    runner = processes(home, lambda: WallFound(wall))
    end = shell(home / "project", "echo x >> ran; echo well", runner=runner, on_output=shown.append)
    assert in_brief(end) == ("exited", 0, "well\n")
    assert ("".join(shown), (home / "project/ran").read_text(), wall.changes) == ("well\n", "x\n", [])


@pytest.mark.parametrize("place", [".aws", ".netrc"])
def test_a_hidden_place_that_is_gone_does_not_come_into_being(home: Path, wall: Shifting, place: str) -> None:
    wall.wall = replace(wall.wall, places=Places(home, home, temporary=()))
    wall.changes = [lambda: gone(home / place)]
    end = shell(home, "echo well", runner=processes(home, lambda: WallFound(wall)))
    assert (in_brief(end), wall.looks) == (("exited", 0, "well\n"), 2)
    assert not (home / place).exists()


def test_what_never_keeps_still_is_told_and_the_command_has_not_run(home: Path, wall: Shifting) -> None:
    shown: list[str] = []
    wall.before = lambda: (home / ".aws").mkdir(exist_ok=True)
    wall.changes = [lambda: gone(home / ".aws")] * 9
    runner = processes(home, lambda: WallFound(wall))
    end = shell(home / "project", "touch ran", runner=runner, on_output=shown.append)
    assert (end.state, end.exit_code, end.output, shown) == ("not_started", None, "", [])
    assert end.problem.startswith("bwrap: ")
    assert str(home / ".aws") in end.problem
    assert wall.looks == STARTS
    assert not (home / "project/ran").exists()


def test_a_command_that_only_sounds_like_a_broken_wall_runs_once(home: Path, wall: Shifting) -> None:
    runner = processes(home, lambda: WallFound(wall))
    end = shell(home / "project", f'echo x >> ran; echo "{COMPLAINT}" >&2; exit 1', runner=runner)
    assert in_brief(end) == ("exited", 1, f"{COMPLAINT}\n")
    assert ((home / "project/ran").read_text(), wall.looks) == ("x\n", 1)


def test_a_wall_that_is_killed_is_not_put_up_again(home: Path, wall: Shifting) -> None:
    def kill(_: str) -> None:
        for entry in os.scandir("/proc"):
            if entry.name.isdigit() and f"{home}/project\0--".encode() in _command_line(entry):
                os.kill(int(entry.name), signal.SIGKILL)

    runner = processes(home, lambda: WallFound(wall))
    end = shell(home / "project", "echo x >> ran; echo up; sleep 9", runner=runner, on_output=kill)
    assert in_brief(end) == ("exited", 137, "up\n")
    assert ((home / "project/ran").read_text(), wall.looks) == ("x\n", 1)


def _command_line(entry: os.DirEntry[str]) -> bytes:
    try:
        return Path(entry.path, "cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("stopped", [False, True], ids=["timeout", "stop"])
def test_a_wall_that_is_still_put_up_can_be_stopped(home: Path, wall: Shifting, stopped: bool) -> None:
    stop = asyncio.Event()
    program = home / "slow"
    program.write_text("#!/bin/sh\necho bwrap: mounting >&2\nexec sleep 40.7\n")
    program.chmod(0o755)
    wall.wall = replace(wall.wall, program=str(program))
    if stopped:
        stop.set()
    runner = processes(home, lambda: WallFound(wall))
    end = shell(home / "project", "touch ran", runner=runner, timeout=60 if stopped else 0.3, stop=stop)
    assert (end.state, wall.looks, (home / "project/ran").exists()) == (
        "interrupted" if stopped else "timed_out",
        1,
        False,
    )
    assert living("sleep 40.7") == []


@pytest.mark.parametrize(
    ("argv", "cwd"), [(["/no/such/program"], "project"), (["/etc/passwd"], "project"), (["true"], ".aws")]
)
def test_what_the_wall_cannot_execute_was_not_started(home: Path, wall: Shifting, argv: list[str], cwd: str) -> None:
    (home / ".aws/inner").mkdir()

    async def go() -> ProcessEnd:
        runner = processes(home, lambda: WallFound(wall))
        folder = home / cwd / ("inner" if cwd == ".aws" else "")
        return await runner.program(argv, cwd=folder, timeout=30, max_chars=1000)

    end = asyncio.run(go())
    assert (end.state, end.output, wall.looks) == ("not_started", "", 1)
    assert end.problem.startswith("bwrap: ")


def test_an_agent_program_starts_although_places_change(home: Path, wall: Shifting) -> None:
    wall.changes = [lambda: gone(home / ".aws")]
    assert lines(home, wall, "echo x >> ran; echo well; echo beside >&2") == ["well"]
    assert ((home / "project/ran").read_text(), wall.looks) == ("x\n", 2)


def test_an_agent_program_that_could_not_be_started_says_why(home: Path, wall: Shifting) -> None:
    wall.before = lambda: (home / ".aws").mkdir(exist_ok=True)
    wall.changes = [lambda: gone(home / ".aws")] * 9
    with pytest.raises(ProgramGone) as caught:
        lines(home, wall, "touch ran")
    assert (caught.value.key, caught.value.values["program"]) == ("runtime.not_started", "/bin/sh")
    assert str(caught.value.values["problem"]).startswith("bwrap: ")
    assert (wall.looks, (home / "project/ran").exists()) == (STARTS, False)


def test_an_agent_program_can_be_given_up_while_its_wall_is_put_up(home: Path, wall: Shifting) -> None:
    program = home / "slow"
    program.write_text("#!/bin/sh\nexec sleep 40.8\n")
    program.chmod(0o755)
    wall.wall = replace(wall.wall, program=str(program))
    with pytest.raises(TimeoutError):
        lines(home, wall, "touch ran", seconds=0.3)
    assert living("sleep 40.8") == []


def lines(home: Path, wall: Shifting, script: str, seconds: float = 30) -> list[str]:
    """What an agent program prints to its end."""
    start = ProgramStart(("/bin/sh", "-c", script), home / "project", home, {"PATH": "/usr/bin:/bin"})

    async def run() -> list[str]:
        async with asyncio.timeout(seconds):
            program = await PipedPrograms(lambda _home: WallFound(wall)).start(start)
        found: list[str] = []
        while (line := await program.read_line()) is not None:
            found.append(line)
        await program.stop()
        return found

    return asyncio.run(run())


def test_nothing_stays_open(home: Path, wall: Shifting) -> None:
    runner = processes(home, lambda: WallFound(wall))
    shell(home / "project", "true", runner=runner)
    before = len(os.listdir("/proc/self/fd"))
    for command in ("true", "exit 3", "sleep 0.1 & true"):
        wall.changes = [lambda: gone(home / ".aws")] if (home / ".aws").exists() else []
        shell(home / "project", command, runner=processes(home, lambda: WallFound(wall)))
    lines(home, wall, "echo well")
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before
