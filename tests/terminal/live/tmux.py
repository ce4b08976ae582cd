"""A real terminal for tests: the prompt on a fake conversation inside tmux, driven by keys and read by its screen."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
_ROOT = Path(__file__).parents[3]
_FAKE = Path(__file__).with_name("fake.py")


@dataclass(frozen=True)
class Term:
    """One tmux server with one window. Sizes are columns and rows."""

    socket: Path

    def tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self.socket), *words], capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout

    def keys(self, *names: str) -> None:
        """Press keys by tmux's names (`Enter`, `C-c`, `Up`)."""
        self.tmux("send-keys", "-t", "t", *names)

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-t", "t", "-l", text)

    def paste(self, text: str) -> None:
        """Paste as a terminal does, in brackets where the program asked for them."""
        subprocess.run(
            ["tmux", "-S", str(self.socket), "load-buffer", "-"], input=text.encode(), timeout=60, check=True
        )
        self.tmux("paste-buffer", "-t", "t", "-p", "-r")

    def resize(self, width: int, height: int) -> None:
        self.tmux("resize-window", "-t", "t", "-x", str(width), "-y", str(height))

    def rows(self, *, codes: bool = False) -> list[str]:
        """The visible screen."""
        return self._captured(*(["-e"] if codes else [])).split("\n")[:-1]

    def past(self) -> list[str]:
        """The scrollback and the screen, without trailing blank rows."""
        return self._captured("-S", "-", "-E", "-").rstrip("\n").split("\n")

    def at_rest(self) -> list[str]:
        """The scrollback and the screen, once they have stayed the same for a while: a busy machine draws late."""
        past = self.past()
        for _ in range(100):
            time.sleep(0.3)
            if past == (past := self.past()):
                return past
        raise AssertionError("it is never at rest:\n" + "\n".join(past))

    def _captured(self, *options: str) -> str:
        """No-break spaces as plain ones, so that tests are readable."""
        text = self.tmux("capture-pane", "-t", "t", "-p", *options)
        return text.replace("\u202f", " ").replace("\u00a0", " ")

    def cursor(self) -> tuple[int, int]:
        """Row and column, from 0."""
        row, column = self.tmux("display-message", "-t", "t", "-p", "#{cursor_y} #{cursor_x}").split()
        return int(row), int(column)

    def until(self, what: str | Callable[[list[str]], bool], seconds: float = 60.0) -> list[str]:
        """The screen as soon as it holds `what`; fails with the screen when that does not come."""
        end = time.monotonic() + seconds
        while True:
            rows = self.rows()
            if what in "\n".join(rows) if isinstance(what, str) else what(rows):
                return rows
            if time.monotonic() > end:
                raise AssertionError(f"{what!r} did not come:\n" + "\n".join(rows))
            time.sleep(0.03)

    def pid(self) -> int:
        """The process of the prompt."""
        shell = self.tmux("display-message", "-t", "t", "-p", "#{pane_pid}").strip()
        children = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
        return int(children[0])


@contextmanager
def terminal(folder: Path, width: int = 80, height: int = 24, **env: str) -> Generator[Term]:
    """The prompt, started from a shell, ready when its hint is there. The shell tells the exit code afterwards."""
    term = Term(folder / "tmux.sock")
    words = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "PYTHONPATH": f"{_ROOT / 'src'}{os.pathsep}{_ROOT}",
        "PS1": "$ ",
        **env,
    }
    command = ["env", "-i", *(f"{name}={value}" for name, value in words.items()), "bash", "--norc", "--noprofile"]
    conf = folder / "tmux.conf"
    conf.write_text("set -g history-limit 60000\nset -g escape-time 0\nset -g status off\n")
    base = ["tmux", "-S", str(term.socket), "-f", str(conf)]
    size = ["-x", str(width), "-y", str(height)]
    subprocess.run([*base, "new-session", "-d", "-s", "t", *size, "-c", str(folder), *command], check=True, timeout=60)
    try:
        term.until("$")
        term.type(f"echo before; {sys.executable} {_FAKE}; echo code $?")
        term.keys("Enter")
        yield term
    finally:
        subprocess.run(["tmux", "-S", str(term.socket), "kill-server"], check=False, timeout=60)
