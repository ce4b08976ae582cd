"""A program in place of OpenCode: one line typed, one thing done; `opencode` on the PATH of a test's server."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from maia.sandbox.places import Places
from maia.sandbox.wall import find_wall

PROGRAM = r"""#!{python} -IS
import fcntl, os, struct, subprocess, sys, termios
def size():
    rows, columns = struct.unpack("hhhh", fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8))[:2]
    return f"{{columns}}x{{rows}}"
print(f"\x1b[1;38;2;200;80;40mOpenCode double\x1b[0m in {{os.getcwd()}}", flush=True)
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    if word == "env": print("\n".join(f"{{n}}={{v}}" for n, v in sorted(os.environ.items())))
    elif word == "size": print("size", size())
    elif word == "touch": open(rest, "w").write("made\n"); print("touched")
    elif word == "cat":
        try: print(open(rest).read())
        except OSError as e: print("refused", e.strerror)
    elif word == "sleep": subprocess.Popen(["bash", "-c", f"exec -a {{rest}} sleep 300"]); print("asleep")
    elif word == "flood":
        for n in range(int(rest)): print(f"{{n:0199d}}")
        print("flooded")
    elif word == "exit": sys.exit(int(rest))
    else: print(f"<{{line.strip()}}>")
    sys.stdout.flush()
"""


def stand_in(folder: Path) -> str:
    """Put it there; the PATH that finds it. Skips where no sandbox works, without which no program is started."""
    if find_wall("auto", Places(folder, folder)).wall is None:
        pytest.skip("no sandbox works here")
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "opencode"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    return f"{folder}:/usr/local/bin:/usr/bin:/bin"
