from __future__ import annotations

import asyncio
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from maia.core.runtime import ProgramGone, ProgramStart
from maia.core.secret import Secret
from maia.sandbox.piped import PipedPrograms
from maia.sandbox.places import Places
from maia.sandbox.wall import WallFound, find_wall
from tests.runtimes.doubles import OpenDoor
from tests.sandbox.running import needs_bubblewrap

WALLS: dict[str, Callable[[str], str | None]] = {"bubblewrap": shutil.which, "landlock": lambda _name: None}


def said(start: ProgramStart, wall: Callable[[Path], WallFound]) -> tuple[list[str], str]:
    """All lines of a program's output, and what it said beside."""

    async def run() -> tuple[list[str], str]:
        program = await PipedPrograms(wall).start(start)
        lines: list[str] = []
        while (line := await program.read_line()) is not None:
            lines.append(line)
        await program.stop()
        return lines, program.said

    return asyncio.run(run())


@pytest.mark.parametrize("name", WALLS)
def test_a_program_sees_and_writes_its_own_home_and_no_other(tmp_path: Path, name: str) -> None:
    work, own = tmp_path / "work", tmp_path / ".maia" / "runtimes" / "own"
    other = tmp_path / ".maia" / "runtimes" / "other"
    for folder in (work, own / ".claude", other):
        folder.mkdir(parents=True)
    (tmp_path / ".maia" / "settings.json").write_text("settings with keys")
    (other / "auth.json").write_text("another's key")
    found = find_wall("auto", Places(work, tmp_path, temporary=(own,)), which=WALLS[name])
    if found.wall is None or found.wall.name != name:
        pytest.skip(f"{name} does not work here")
    script = (
        f"echo own > {own}/.claude/f; cat {own}/.claude/f; echo work > f; cat f; "
        f"cat {tmp_path}/.maia/settings.json {other}/auth.json; echo x > {tmp_path}/nope"
    )
    start = ProgramStart(("/bin/sh", "-c", script), work, own, {"PATH": "/usr/bin:/bin"})
    lines, beside = said(start, lambda _home: found)
    assert lines == ["own", "work"]
    assert not (tmp_path / "nope").exists()
    assert beside.count("No such file") + beside.count("Permission denied") + beside.count("Read-only") == 3


@needs_bubblewrap
def test_a_program_outlives_whatever_started_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    popen = subprocess.Popen

    def slow(*words: Any, **options: Any) -> Any:
        try:
            return popen(*words, **options)
        finally:
            time.sleep(0.2)  # bubblewrap has tied its life to the thread that started it, which may end now

    found = find_wall("auto", Places(tmp_path, tmp_path, temporary=()))
    monkeypatch.setattr(subprocess, "Popen", slow)
    start = ProgramStart(("/bin/sh", "-c", "sleep 0.5; echo alive"), tmp_path, tmp_path, {"PATH": "/usr/bin:/bin"})
    assert said(start, lambda _home: found) == (["alive"], "")


def test_a_secret_is_named_not_shown_wherever_it_comes_back(tmp_path: Path) -> None:
    script = "echo key $K; echo key $K >&2; env -u K true"
    secrets = {"K": Secret("sk-0123456789")}
    env = {"PATH": "/usr/bin:/bin", "K": "sk-0123456789"}
    start = ProgramStart(("/bin/sh", "-c", script), tmp_path, tmp_path, env, secrets)
    assert said(start, lambda _home: WallFound(OpenDoor())) == (["key [K]"], "key [K]")
    assert "sk-0" not in repr(start)


def test_the_last_words_of_a_program_are_heard(tmp_path: Path) -> None:
    start = ProgramStart(("/bin/sh", "-c", "exec >&-; sleep 0.2; echo last >&2"), tmp_path, tmp_path, {})
    assert said(start, lambda _home: WallFound(OpenDoor())) == ([], "last")


def test_a_program_that_cannot_be_started_is_told_in_words(tmp_path: Path) -> None:
    start = ProgramStart(("/no/such/program",), tmp_path, tmp_path, {})
    with pytest.raises(ProgramGone) as caught:
        said(start, lambda _home: WallFound(OpenDoor()))
    assert caught.value.values == {"program": "/no/such/program", "problem": "No such file or directory"}


def test_the_last_line_counts_without_its_end_and_a_carriage_return_does_not(tmp_path: Path) -> None:
    start = ProgramStart(("/usr/bin/printf", "a\\r\\n\\nb"), tmp_path, tmp_path, {})
    assert said(start, lambda _home: WallFound(OpenDoor()))[0] == ["a", "", "b"]
