import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from maia.core.errors import ToolProblem
from maia.core.reason import Reason
from maia.core.runtime import ProgramGone, ProgramStart
from maia.core.screens import Screen, Size
from maia.sandbox.places import Places
from maia.sandbox.screen import ScreenPrograms
from maia.sandbox.wall import WallFound, find_wall
from tests.sandbox.running import living

WALLS: dict[str, Callable[[str], str | None]] = {"bubblewrap": shutil.which, "landlock": lambda _name: None}
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(params=WALLS)
def wall(tmp_path: Path, request: pytest.FixtureRequest) -> WallFound:
    work, own = tmp_path / "work", tmp_path / "own"
    work.mkdir()
    own.mkdir()
    found = find_wall("auto", Places(work, tmp_path, temporary=(own,)), which=WALLS[request.param])
    if found.wall is None or found.wall.name != request.param:
        pytest.skip(f"{request.param} does not work here")
    return found


def bash(folder: Path, script: str) -> ProgramStart:
    env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    return ProgramStart(("/bin/bash", "-c", script), folder / "work", folder / "own", env)


def shown(folder: Path, wall: WallFound, script: str, play: Callable[[Screen], Awaitable[None]]) -> str:
    """What a script shows after its word `ready`, when it is played with; all of it is over when this returns."""

    async def run() -> str:
        screen = await ScreenPrograms(lambda _home: wall).start(bash(folder, f"stty -echo; {script}"), Size(91, 33))
        playing: asyncio.Future[None] | None = None
        seen = b""
        try:
            async with asyncio.timeout(60):
                while data := await screen.read():
                    seen += data
                    if playing is None and b"ready\r\n" in seen:
                        playing = asyncio.ensure_future(play(screen))
                if playing is not None:
                    await playing
        finally:
            await screen.stop()
        return seen.decode().replace("\r\n", "\n").rpartition("ready\n")[2]

    return asyncio.run(run())


async def nothing(_screen: Screen) -> None: ...


def test_a_program_has_a_terminal_of_the_size_that_was_asked_for_and_its_own_session(
    tmp_path: Path, wall: WallFound
) -> None:
    script = 'echo ready; test -t 0 && test -t 1 && test -t 2 && stty size; pwd; exec 3<>/dev/tty && echo "its own"'
    assert shown(tmp_path, wall, script, nothing) == f"33 91\n{tmp_path}/work\nits own\n"


def test_what_is_typed_arrives_and_a_new_size_is_told(tmp_path: Path, wall: WallFound) -> None:
    async def play(screen: Screen) -> None:
        await screen.write("é one\n".encode())
        screen.resize(Size(120, 9999))
        await screen.write(b"two\n")

    script = 'echo ready; read a; read b; trap : WINCH; echo "$a+$b"; stty size'
    assert shown(tmp_path, wall, script, play) == "é one+two\n300 120\n"


def test_a_program_hears_the_keys_that_end_others_and_goes_on(tmp_path: Path, wall: WallFound) -> None:
    """Each of them goes to all that is on the terminal: one on which the wall ends would take the program with it."""
    keys = {"INT": b"\x03", "QUIT": b"\x1c", "TSTP": b"\x1a"}

    async def play(screen: Screen) -> None:
        for key in keys.values():
            await screen.write(key)
            await asyncio.sleep(0.3)
        await screen.write(b"go on\n")

    traps = "; ".join(f"trap 'echo {name}' {name}" for name in keys)
    script = f'{traps}; echo ready; until read -t 60 line; do :; done; echo "$line"'
    assert shown(tmp_path, wall, script, play) == "INT\nQUIT\nTSTP\ngo on\n"


def test_ctrl_c_ends_a_program_that_does_not_listen_to_it(tmp_path: Path, wall: WallFound) -> None:
    async def play(screen: Screen) -> None:
        await screen.write(b"\x03")

    assert shown(tmp_path, wall, "echo ready; sleep 90; echo late", play) == ""
    assert shown(tmp_path, wall, "echo ready; (yes; echo $? >&2) | head -1", nothing) == "y\n141\n"


def test_a_paste_that_nobody_reads_waits_and_harms_nothing(tmp_path: Path, wall: WallFound) -> None:
    async def play(screen: Screen) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await screen.write(b"x" * 1_000_000)
        (tmp_path / "work" / "tried").touch()

    script = "stty raw opost; echo ready; until [ -e tried ]; do sleep 0.05; done"
    assert shown(tmp_path, wall, script, play) == ""


def test_a_program_whose_output_nobody_takes_waits(tmp_path: Path, wall: WallFound) -> None:
    async def run() -> int:
        counted = tmp_path / "work" / "n"
        script = f"for n in $(seq 20000); do printf '%0200d\\n' $n; echo $n > {counted}; done"
        start = ProgramStart(
            ("/bin/bash", "-c", script), tmp_path / "work", tmp_path / "own", {"PATH": "/usr/bin:/bin"}
        )
        screen = await ScreenPrograms(lambda _home: wall).start(start, Size())
        last, now = -1, 0
        while now != last or not now:
            await asyncio.sleep(0.2)
            last, now = now, int(counted.read_text() or 0) if counted.exists() else 0
        await screen.stop()
        return now

    assert 0 < asyncio.run(run()) < 1000


def test_the_whole_tree_ends_with_the_terminal(tmp_path: Path, wall: WallFound) -> None:
    word = f"tree-{os.getpid()}"
    script = (
        f"(trap '' HUP; setsid bash -c 'exec -a {word} sleep 300') & bash -c 'exec -a {word} sleep 300' & echo up; wait"
    )

    async def run() -> int | None:
        start = ProgramStart(
            ("/bin/bash", "-c", script), tmp_path / "work", tmp_path / "own", {"PATH": "/usr/bin:/bin"}
        )
        screen = await ScreenPrograms(lambda _home: wall).start(start, Size())
        assert b"up" in await screen.read()
        return await screen.stop()

    assert asyncio.run(run()) is None
    assert living(word) == []


def test_the_end_is_seen_though_something_holds_the_terminal_open(tmp_path: Path, wall: WallFound) -> None:
    assert shown(tmp_path, wall, "echo ready; (trap '' HUP; sleep 90) & echo over; exit 3", nothing) == "over\n"


KILLED = """
import asyncio, sys
from pathlib import Path
from maia.core.runtime import ProgramStart
from maia.core.screens import Size
from maia.sandbox.places import Places
from maia.sandbox.screen import ScreenPrograms
from maia.sandbox.wall import find_wall
work, word, kind = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
found = find_wall("auto", Places(work / "work", work, temporary=(work / "own",)),
                  **({} if kind == "bubblewrap" else {"which": lambda name: None}))
async def go():
    script = f"bash -c 'exec -a {word} sleep 300' & echo up; wait"
    start = ProgramStart(("/bin/bash", "-c", script), work / "work", work / "own", {"PATH": "/usr/bin:/bin"})
    screen = await ScreenPrograms(lambda home: found).start(start, Size())
    while b"up" not in await screen.read(): pass
    print("up", flush=True)
    await asyncio.sleep(60)
asyncio.run(go())
"""


def test_a_terminal_ends_with_maia_that_is_killed(tmp_path: Path, wall: WallFound) -> None:
    assert wall.wall is not None
    word = f"killed-{os.getpid()}"
    argv = [sys.executable, "-c", KILLED, str(tmp_path), word, wall.wall.name]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}) as maia:
        assert maia.stdout is not None
        assert maia.stdout.readline() == b"up\n"
        maia.send_signal(signal.SIGKILL)
    assert living(word) == []


def test_without_a_wall_nothing_starts_and_what_cannot_run_is_told(tmp_path: Path, wall: WallFound) -> None:
    start = bash(tmp_path, "true")
    none = WallFound(None, Reason("sandbox.none_broken", {"reason": "broken"}))
    with pytest.raises(ToolProblem, match="no_wall"):
        asyncio.run(ScreenPrograms(lambda _home: none).start(start, Size()))
    with pytest.raises(ProgramGone, match="not_started"):
        asyncio.run(ScreenPrograms(lambda _home: wall).start(replace(start, env={"A": "b\0c"}), Size()))
