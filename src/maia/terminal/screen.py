"""The live screen on an event loop: keys in, rows out, at most thirty times a second, with nothing moving while idle.

Writing is done by one thread, so that a slow or stopped terminal never holds up the keys or the agent. A resize is
followed by asking the terminal where its cursor went (DSR 6, ECMA-48), so that only our own rows are wiped.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import TYPE_CHECKING

from maia.terminal.colours import Look, to_ansi

if TYPE_CHECKING:
    from maia.terminal.firstpaint import Prompt
    from maia.terminal.keys import Key
    from maia.terminal.spans import Line

_FRAME = 1 / 30
_SPIN = 0.12
_ESCAPE = 0.04
"""Seconds to wait for the rest of a sequence before a lone escape is the Escape key."""
_SETTLE = 0.06
_REPORT = 0.4
_SLICE = 400
"""Log rows of one write: what comes in between two slices is drawn and read."""


class Writer:
    """Writes from a thread of its own, one text at a time.

    On the loop, `idle` is called after each text, and `gone` once when the terminal is gone.
    """

    def __init__(self, write: Callable[[str], None], idle: Callable[[], None], gone: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._write = write
        self._idle = idle
        self._gone = gone
        self._waiting: SimpleQueue[str | None] = SimpleQueue()
        self.busy = 0
        self._thread = threading.Thread(target=self._run, name="terminal-writer", daemon=True)
        self._thread.start()

    def put(self, text: str) -> None:
        """Write `text` after what is already waiting."""
        self.busy += 1
        self._waiting.put(text)

    def close(self, patience: float = 1.0) -> None:
        """Let it write what waits, for at most `patience` seconds."""
        self._waiting.put(None)
        self._thread.join(patience)

    def _run(self) -> None:
        while (text := self._waiting.get()) is not None:
            try:
                self._write(text)
            except OSError:
                self._tell(self._gone)
                return
            self._tell(self._written)

    def _tell(self, what: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(what)
        except RuntimeError:  # the loop is closed: nobody waits for news of the screen any more
            return

    def _written(self) -> None:
        self.busy -= 1
        self._idle()


class Screen:
    """The screen of a running prompt. Owns reader, writer and timers of the terminal; knows nothing of the agent.

    `on_key` gets every key; `on_gone` is called once when the terminal went away; `compose` brings the zone up to date
    right before it is drawn.
    """

    def __init__(
        self,
        prompt: Prompt,
        *,
        on_key: Callable[[Key], None],
        on_gone: Callable[[], None],
        compose: Callable[[], None],
    ) -> None:
        self.zone = prompt.zone
        self._prompt = prompt
        self._on_key = on_key
        self._on_gone = on_gone
        self._compose = compose
        self._loop = asyncio.get_running_loop()
        self._log: deque[str] = deque()
        self._dirty = False
        self._painted = 0.0
        self._due: asyncio.TimerHandle | None = None
        self._flush_keys: asyncio.TimerHandle | None = None
        self._spin: asyncio.TimerHandle | None = None
        self._resizing: asyncio.TimerHandle | None = None
        self._drained = asyncio.Event()
        self._drained.set()
        self._open = True
        self._stopped = False
        self._writer = Writer(prompt.tty.write, self._written, self._lost)
        self._loop.add_reader(prompt.tty.read_fd, self._read)
        for number, act in _SIGNALS.items():
            self._loop.add_signal_handler(number, act, self)
        self._resized()

    @property
    def look(self) -> Look:
        """What the terminal shows, with its width now."""
        return self._prompt.look

    @property
    def rows(self) -> int:
        """Height of the screen."""
        return self._prompt.painter.height

    # Out

    def log(self, lines: Sequence[Line]) -> None:
        """Add rows above the zone, for good. They are written in slices."""
        look = self._prompt.look
        self._log.extend(to_ansi(row, look) for row in lines)
        if self._log:
            self._drained.clear()
        self.refresh()

    @property
    def behind(self) -> int:
        """Log rows that are not yet written, on a terminal that is slower than what comes."""
        return len(self._log)

    async def drain(self) -> None:
        """Wait until all rows of the log are on the screen."""
        await self._drained.wait()

    def refresh(self) -> None:
        """Draw soon: at once after a pause, else when a thirtieth of a second has passed since the last time."""
        self._dirty = True
        if self._due is None and self._open and self._resizing is None and not self._writer.busy:
            wait = self._painted + _FRAME - self._loop.time()
            self._due = self._loop.call_later(max(0.0, wait), self._paint)

    def call(self, text: str) -> None:
        """Write something that is not drawn: a bell, a notification."""
        if self._open:
            self._writer.put(text)

    def _animate(self) -> None:
        """Move the spinners while something runs, and never while nothing does or a person is waited for."""
        moving = (self.zone.working or self.zone.thinking) and self._prompt.look.animated
        if moving and self._spin is None:
            self._spin = self._loop.call_later(_SPIN, self._turn)
        elif not moving:
            self.zone.tick = 0
            if self._spin is not None:
                self._spin.cancel()
                self._spin = None

    def _turn(self) -> None:
        self.zone.tick += 1
        self._spin = self._loop.call_later(_SPIN, self._turn)
        self.refresh()

    def _paint(self) -> None:
        self._due = None
        if not self._dirty or not self._open or self._writer.busy or self._resizing is not None:
            return
        self._compose()
        self._animate()
        self._dirty = False
        self._painted = self._loop.time()
        rows = [self._log.popleft() for _ in range(min(_SLICE, len(self._log)))]
        out = self._prompt.painter.paint(self._prompt.frame(), rows)
        if out:
            self._writer.put(out)
        if self._log:
            self._dirty = True
        elif not out:
            self._drained.set()

    def _written(self) -> None:
        if self._log or self._dirty:
            self.refresh()
        if not self._log and not self._writer.busy:
            self._drained.set()

    # In

    def _read(self) -> None:
        try:
            data = os.read(self._prompt.tty.read_fd, 65_536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lost()
            return
        if self._flush_keys is not None:
            self._flush_keys.cancel()
            self._flush_keys = None
        self._hand(self._prompt.keys.feed(data))
        if self._prompt.keys.waiting:
            self._flush_keys = self._loop.call_later(_ESCAPE, self._take_waiting)

    def _take_waiting(self) -> None:
        self._flush_keys = None
        self._hand(self._prompt.keys.flush())

    def _hand(self, keys: Sequence[Key]) -> None:
        for key in keys:
            if key[0] == "report":
                self._placed(int(key[1].split(";")[0]) - 1)
            elif key == ("key", "c-z"):
                self.suspend()
            elif key == ("key", "c-l"):
                self.redraw()
            elif self._open:
                self._on_key(key)
        self.refresh()

    # Another size

    def _resized(self) -> None:
        """The size may have changed: wait until it stays the same, then ask where the cursor is."""
        if self._resizing is not None:
            self._resizing.cancel()
            self._resizing = None
        if self._prompt.tty.size() != (self._prompt.painter.width, self._prompt.painter.height):
            self._resizing = self._loop.call_later(_SETTLE, self._ask_place)

    def _ask_place(self) -> None:
        self._writer.put("\x1b[6n")
        self._resizing = self._loop.call_later(_REPORT, self._placed, None)

    def _placed(self, row: int | None) -> None:
        if self._resizing is None:
            return
        self._resizing.cancel()
        self._resizing = None
        width, height = self._prompt.tty.size()
        wiped = self._prompt.resize(width, height, row)
        self._compose()
        self._writer.put(wiped + self._prompt.painter.paint(self._prompt.frame()))
        self.refresh()

    def redraw(self) -> None:
        """Draw everything again, for a screen that something else wrote on (Ctrl+L)."""
        self._prompt.painter.forget()
        self.refresh()

    # Away and back

    def suspend(self) -> None:
        """Give the terminal back to the shell and stop (Ctrl+Z); go on here when the shell says so."""
        self._writer.close()
        self._prompt.leave()
        self._stopped = True
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(0, signal.SIGTSTP)
        self._loop.add_signal_handler(signal.SIGTSTP, Screen.suspend, self)
        self._back()

    def _continued(self) -> None:
        """Somebody stopped us from outside (SIGSTOP) and let us go on: the terminal may be as the shell had it."""
        if self._stopped:
            self._stopped = False
            return
        self._writer.close()
        self._prompt.tty.restore()
        self._back()

    def _back(self) -> None:
        self._writer = Writer(self._prompt.tty.write, self._written, self._lost)
        self._writer.put(self._prompt.enter(again=True))
        self.refresh()

    def step_aside(self) -> None:
        """Leave the terminal to another program (an editor); `step_back` takes it again."""
        self._loop.remove_reader(self._prompt.tty.read_fd)
        self._writer.close()
        self._prompt.leave()
        self._open = False

    def step_back(self) -> None:
        """Take the terminal again."""
        self._open = True
        self._loop.add_reader(self._prompt.tty.read_fd, self._read)
        self._back()

    def _lost(self) -> None:
        """The terminal is gone (EOF, EIO, SIGHUP)."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self._prompt.tty.read_fd)
            self._on_gone()

    def close(self) -> None:
        """Take the zone away and give the terminal back as it was."""
        for timer in (self._due, self._flush_keys, self._spin, self._resizing):
            if timer is not None:
                timer.cancel()
        for number in _SIGNALS:
            self._loop.remove_signal_handler(number)
        self._loop.remove_reader(self._prompt.tty.read_fd)
        was_open, self._open = self._open, False
        self._writer.close()
        if was_open:
            self._prompt.leave()
        else:
            self._prompt.tty.restore()


_SIGNALS: dict[int, Callable[[Screen], None]] = {
    signal.SIGWINCH: Screen._resized,  # pyright: ignore[reportPrivateUsage] - the table belongs to the class
    signal.SIGTSTP: Screen.suspend,
    signal.SIGCONT: Screen._continued,  # pyright: ignore[reportPrivateUsage] - the table belongs to the class
    signal.SIGHUP: Screen._lost,  # pyright: ignore[reportPrivateUsage] - the table belongs to the class
}
