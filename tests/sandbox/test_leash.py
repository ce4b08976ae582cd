from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from maia.sandbox.landlock import landlock_version
from maia.sandbox.leash import Leash
from tests.sandbox.running import in_brief, living, needs_bubblewrap, shell

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties a group to a pipe")

COMMAND = "sleep {0} & bash -c 'sleep {0}; true' & echo up; sleep {0}; true"

RUNS = """
import asyncio, pathlib, shutil, sys
from maia.core.runtime import ProgramStart
from maia.sandbox.piped import PipedPrograms
from maia.sandbox.places import Places
from maia.sandbox.process import LocalProcesses
from maia.sandbox.wall import find_wall

folder, how, wall, command = pathlib.Path(sys.argv[1]), *sys.argv[2:]
places = Places(folder, folder, temporary=())
which = shutil.which if wall == "bubblewrap" else lambda name: None
found = find_wall("off" if wall == "none" else "required", places, which=which)

async def program():
    start = ProgramStart(("/bin/bash", "-c", command), folder, folder, {"PATH": "/usr/bin:/bin"})
    running = await PipedPrograms(lambda home: found).start(start)
    print(await running.read_line(), flush=True)
    await asyncio.sleep(60)

async def shell():
    runner = LocalProcesses(folder, lambda: found)
    show = lambda text: print(text, end="", flush=True)
    await runner.shell(command, cwd=folder, timeout=60, max_chars=100, on_output=show)

asyncio.run({"program": program, "shell": shell}[how]())
"""


@pytest.mark.parametrize(
    ("how", "wall"),
    [
        ("shell", "none"),
        ("shell", "landlock"),
        ("program", "landlock"),
        pytest.param("shell", "bubblewrap", marks=needs_bubblewrap),
        pytest.param("program", "bubblewrap", marks=needs_bubblewrap),
    ],
)
def test_who_kills_maia_kills_what_it_runs(tmp_path: Path, how: str, wall: str) -> None:
    if wall == "landlock" and landlock_version() == 0:
        pytest.skip("this kernel has no Landlock")
    word = f"96{os.getpid()}"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", RUNS, str(tmp_path), how, wall, COMMAND.format(word)]
    with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, text=True) as maia:
        assert maia.stdout is not None
        assert maia.stdout.readline() == "up\n"
        maia.send_signal(signal.SIGKILL)
    assert living(f"sleep {word}") == []


def test_a_command_runs_where_nothing_can_be_tied(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (120, hard))
    try:
        assert Leash().handles == ()
        assert in_brief(shell(tmp_path, "echo runs")) == ("exited", 0, "runs\n")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_group_that_is_gone_already_is_passed_by(tmp_path: Path) -> None:
    with subprocess.Popen(["true"], start_new_session=True) as gone:
        gone.wait()
    leash = Leash()
    leash.fasten(gone.pid)
    leash.close()
    assert in_brief(shell(tmp_path, "echo runs")) == ("exited", 0, "runs\n")


def test_a_script_has_the_file_numbers_that_scripts_choose(tmp_path: Path) -> None:
    end = shell(tmp_path, "for n in $(seq 3 100) 200; do [ -e /dev/fd/$n ] && echo $n taken; done; echo on")
    assert in_brief(end) == ("exited", 0, "on\n")
