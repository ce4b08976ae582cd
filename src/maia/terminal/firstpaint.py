"""The prompt that is there at once: frame, banner and typed keys, while everything else is still being imported.

Only the standard library and a few small modules of ours are loaded for it. Editor, key reader and painter are the very
objects that the running screen goes on with, so nothing is handed over, drawn twice or lost.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from select import select
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

from maia.terminal.banner import banner_lines
from maia.terminal.colours import look_of, to_ansi
from maia.terminal.input import Editor
from maia.terminal.keys import KeyReader
from maia.terminal.painter import Frame, Painter
from maia.terminal.tty import Tty, as_given
from maia.terminal.zones import Zone

if TYPE_CHECKING:
    from maia.terminal.keys import Key
    from maia.terminal.words import Words

T = TypeVar("T")


class Left(Exception):
    """The person left before the program was loaded. `code` is the exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Prompt:
    """A terminal with its zone, editor and painter. `open` draws the first frame; `leave` gives the terminal back."""

    def __init__(self, env: Mapping[str, str], say: Words) -> None:
        self.env = env
        self.say = say
        self.tty = Tty(env)
        width, height = self.tty.size()
        self.look = look_of(as_given(env), width)
        self.painter = Painter(width, height)
        self.keys = KeyReader()
        self.editor = Editor()
        self.zone = Zone()
        self.lines: list[str] = []
        self._interrupted = 0.0

    def frame(self) -> Frame:
        """The zone as it is now."""
        return self.zone.frame(self.editor, self.look, self.say, self.painter.height)

    def open(self, version: str) -> None:
        """Raw mode, banner and zone, in one write."""
        self.entitle("maia")
        start = self.enter()
        rows = [to_ansi(row, self.look) for row in banner_lines(self.look, self.say, version)]
        self.tty.write(start + self.painter.paint(self.frame(), [*rows, ""]))

    def entitle(self, title: str) -> None:
        """What the window is called from the next frame on, where the terminal has titles."""
        if self.tty.has_title:
            self.zone.title = title

    def enter(self, *, again: bool = False) -> str:
        """Raw mode. Returns what takes the screen; `again` shows the last rows of the log once more."""
        modes = self.tty.raw()
        width, height = self.tty.size()
        self.look = replace(self.look, width=width)
        self.painter.start(width, height, again=again)
        return modes + self.painter.open()

    def leave(self) -> None:
        """The zone goes, the log stays, the terminal is as it was found. Once is enough; quiet when it is gone."""
        if not self.tty.taken:
            return
        with suppress(OSError):
            self.tty.write(self.painter.close())
        self.tty.restore()

    def resize(self, width: int, height: int, told: tuple[int, int] | None, *, sure: bool = True) -> str:
        """Take over another size; returns what wipes the zone where it stood (see `Painter.resize`)."""
        self.look = replace(self.look, width=max(1, width))
        return self.painter.resize(width, height, told, sure=sure)

    def run(self, work: Callable[[], T]) -> T:
        """Do `work` in a thread while keys are echoed. Raises what it raises, and `Left` when the person leaves."""
        done = _Work(work)
        before = {number: signal.signal(number, _leave) for number in _SIGNALS}
        interval = sys.getswitchinterval()
        sys.setswitchinterval(0.001)  # imports hold the interpreter for long; keys must not wait for them
        try:
            while not done.over:
                ready, _, _ = select([self.tty.read_fd, done.fd], [], [], 0.04 if self.keys.waiting else None)
                if self.tty.read_fd in ready:
                    self._read()
                elif not ready:
                    self._press(self.keys.flush())
        finally:
            sys.setswitchinterval(interval)
            for number, handler in before.items():
                signal.signal(number, handler)
            done.close()
        return done.result()

    def _read(self) -> None:
        try:
            data = os.read(self.tty.read_fd, 65_536)
        except OSError:
            data = b""
        if not data:
            raise Left(129)
        self._press(self.keys.feed(data))

    def _press(self, keys: list[Key]) -> None:
        for key in keys:
            asked = self.editor.press(key)
            if asked == "submit" and self.editor.value.strip():
                self.lines.append(self.editor.take())
                self.zone.queue = self.lines
            elif asked == "interrupt":
                self._interrupt()
            elif asked == "escape" and self.lines and not self.editor.text:
                self.editor.set(self.lines.pop())
            elif asked == "eof":
                raise Left(0)
        out = self.painter.paint(self.frame())
        if out:
            self.tty.write(out)

    def _interrupt(self) -> None:
        """Ctrl+C clears the line; on an empty line twice within two seconds it leaves."""
        if self.editor.text:
            self.editor.set("")
            return
        now = monotonic()
        if now - self._interrupted < 2:
            raise Left(130)
        self._interrupted = now


class _Work(Generic[T]):
    """A function running in a daemon thread; `fd` becomes readable when it is over."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._result: list[T] = []
        self._error: BaseException | None = None
        self.over = False
        self.fd, self._end = os.pipe()
        self._thread = threading.Thread(target=self._run, args=(work,), name="start", daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[], T]) -> None:
        try:
            self._result.append(work())
        except BaseException as error:  # raised again by `result`, in the thread that waits
            self._error = error
        self.over = True
        os.write(self._end, b".")

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._result[0]

    def close(self) -> None:
        if self.over:
            self._thread.join()
            os.close(self.fd)
            os.close(self._end)


_SIGNALS = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)


def _leave(number: int, frame: object) -> None:
    del frame
    raise Left(128 + number)


def has_screen(env: Mapping[str, str]) -> bool:
    """Whether rows can be placed: a terminal on both sides that moves its cursor, and nobody who listens instead."""
    quiet = env.get("MAIA_SCREEN_READER", "") not in ("", "0", "false", "no")
    return sys.stdin.isatty() and sys.stdout.isatty() and env.get("TERM", "") not in ("", "dumb") and not quiet
