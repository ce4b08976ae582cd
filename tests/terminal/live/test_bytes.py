"""The bytes that a session writes: native scrollback and selection stay, frames are whole, and not too many."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from fcntl import ioctl
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FAKE = Path(__file__).with_name("fake.py")


class Wire:
    """The prompt on a bare pty: nobody answers its reports."""

    def __init__(self, folder: Path, **more: str) -> None:
        self.master, slave = pty.openpty()
        ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
            **more,
        }
        self.process = subprocess.Popen(
            [sys.executable, str(FAKE)], stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True
        )
        os.close(slave)
        self.seen = ""

    def until(self, what: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while what not in self.seen:
            assert time.monotonic() < end, f"{what!r} did not come: {self.seen[-2000:]!r}"
            self.read(0.05)

    def read(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                try:
                    self.seen += os.read(self.master, 65_536).decode("utf-8", "replace")
                except OSError:
                    return

    def send(self, text: str) -> None:
        os.write(self.master, text.encode())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)


@pytest.fixture
def wire(tmp_path: Path):
    opened = Wire(tmp_path)
    yield opened
    opened.close()


FORBIDDEN = {
    "alternate screen": r"\x1b\[\?(1049|1047|47)h",
    "mouse": r"\x1b\[\?(9|1000|1002|1003|1005|1006|1015)h",
    "clear the screen or the scrollback": r"\x1b\[[23]J",
    "reset": r"\x1bc",
    "scroll region": r"\x1b\[\d*;\d*r",
}


def test_scrollback_selection_and_mouse_stay_the_terminals_own(wire: Wire) -> None:
    wire.until("23%")
    wire.send("hello\r")
    wire.until("46.3k")
    wire.send("\x04")
    wire.until("--resume")
    assert {name for name, pattern in FORBIDDEN.items() if re.search(pattern, wire.seen)} == set()


def test_every_frame_is_synchronised_and_whole(wire: Wire) -> None:
    wire.until("23%")
    wire.send("hello\r")
    wire.until("46.3k")
    wire.read(0.3)
    while wire.seen.count("\x1b[?2026h") > wire.seen.count("\x1b[?2026l"):  # one is still on its way
        wire.read(0.05)
    body = wire.seen.partition("\x1b[?2026h")[2]
    frames = ("\x1b[?2026h" + body).split("\x1b[?2026h")[1:]
    assert len(frames) > 3
    assert all(frame.count("\x1b[?2026l") == 1 for frame in frames)
    assert all(frame.endswith(("\x1b[?2026l",)) for frame in frames)


def test_at_most_thirty_frames_a_second(wire: Wire) -> None:
    wire.until("23%")
    wire.send("slow\r")
    wire.until("word3")
    before = wire.seen.count("\x1b[?2026h")
    began, frames = time.monotonic(), 0
    while (passed := time.monotonic() - began) < 2 or (frames < 5 and passed < 20):
        wire.send("k")
        wire.read(0.01)
        frames = wire.seen.count("\x1b[?2026h") - before
    assert 5 <= frames <= 31 * (time.monotonic() - began)


def test_nothing_at_all_is_written_while_idle(wire: Wire) -> None:
    wire.until("23%")
    for _ in range(20):  # a busy machine still draws its start
        before = len(wire.seen)
        wire.read(2)
        if len(wire.seen) == before:
            break
    assert len(wire.seen) == before


def test_modes_that_were_switched_on_are_switched_off(wire: Wire) -> None:
    wire.until("23%")
    wire.send("\x04")
    assert wire.process.wait(60) == 0
    wire.read(0.2)
    for on, off in (("\x1b[?2004h", "\x1b[?2004l"), ("\x1b[>1u", "\x1b[<u"), ("\x1b[>4;1m", "\x1b[>4m")):
        assert wire.seen.count(on) == wire.seen.count(off) == 1
    assert wire.seen.count("\x1b[22;2t") == wire.seen.count("\x1b]2;\x1b\\\x1b[23;2t") == 1
    assert wire.seen.rindex("\x1b[?25h") > wire.seen.rindex("\x1b[?25l")


def test_a_terminal_that_does_not_tell_where_its_cursor_is_still_gets_its_new_size(wire: Wire) -> None:
    wire.until("23%")
    ioctl(wire.master, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 50, 0, 0))
    wire.process.send_signal(signal.SIGWINCH)
    wire.until("\x1b[6n")
    wire.until("\x1b[38;2;74;222;128m" + "┈" * 50 + "\x1b[0m")


@pytest.mark.parametrize("keys", ["\x1b[13;2u", "\x1b[27;2;13~", "\x1b\r", "\n"], ids=["kitty", "xterm", "alt", "c-j"])
def test_shift_enter_and_its_substitutes_begin_a_new_row(wire: Wire, keys: str) -> None:
    wire.until("23%")
    wire.send(f"one{keys}two\r")
    wire.until("46.3k")
    assert "❯ one\x1b" in re.sub(r"\x1b\[[0-9;]*m", "", wire.seen)
    assert "  two\x1b" in re.sub(r"\x1b\[[0-9;]*m", "", wire.seen)


def test_a_flood_of_broken_input_does_no_harm(wire: Wire) -> None:
    wire.until("23%")
    os.write(wire.master, bytes(range(0x20, 0x7F)) + b"\xff\xfe\x1b[999;999;999~\x1b[\x1b]0;x\x07" * 200)
    wire.send("\x15\x15still here")
    wire.until("still here")
