"""The live screen on an event loop: keys in, rows out, at most thirty times a second, with nothing moving while idle.

Writing is done by one thread, so that a slow or stopped terminal never holds up the keys or the agent. A resize is
followed by asking the terminal where its cursor went and how big it is (DSR 6, ECMA-48), so that only our own rows are
wiped. Terminals tell the system of a new size later than they have it (tmux up to a quarter of a second): for a while
after a resize every frame waits for the answer, and asks again whether it was drawn on the size that it was made for.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from maia.terminal.colours import Look, to_ansi
from maia.terminal.reflow import cuts_rows
from maia.terminal.writer import Writer

if TYPE_CHECKING:
    from maia.terminal.firstpaint import Prompt
    from maia.terminal.keys import Key
    from maia.terminal.painter import Painter
    from maia.terminal.spans import Line

_FRAME = 1 / 30
_SPIN = 0.12
_ESCAPE = 0.04
"""Seconds to wait for the rest of a sequence before a lone escape is the Escape key."""
_SETTLE = 0.06
_REPORT = 0.4
_WARY = 0.5
"""Seconds after a resize in which the terminal may have another size again without having said so."""
_AHEAD = 8
"""How often a terminal is asked again that has another size than the system says, before the system is believed."""
_ASK_NAME = "\x1b[>q"
_ASK_PLACE = "\x1b[6n"
_ASK_LAST = "\x1b7\x1b[9999;9999H\x1b[6n\x1b8"
"""Where the cursor is; where the last cell is, with the cursor put back."""
_SLICE = 400
"""Log rows of one write: what comes in between two slices is drawn and read."""


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
        self._asked = 0
        self._told: list[tuple[int, int]] = []
        self._mute = False
        self._before: Painter | None = None
        self._fed = 0
        self._moved = False
        self._ahead = 0
        self._wary = 0.0
        self._drained = asyncio.Event()
        self._drained.set()
        self._open = True
        self._stopped = False
        self._writer = Writer(prompt.tty.write, self._written, self._lost)
        self._loop.add_reader(prompt.tty.read_fd, self._read)
        for number, act in _SIGNALS.items():
            self._loop.add_signal_handler(number, act, self)
        if not self._fits():
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
        if not self._fits():
            self._resized()
        elif self._loop.time() < self._wary and not self._mute:
            self._ask_place()
        else:
            self._draw()

    def _draw(self, wiped: str = "", before: Painter | None = None) -> None:
        """One frame, after what `wiped` the last one where a resize made that necessary.

        With `before`, the painter as it was, the terminal is asked what the frame was drawn on; log rows wait.
        """
        self._compose()
        self._animate()
        self._dirty = False
        self._painted = self._loop.time()
        rows = [self._log.popleft() for _ in range(0 if before else min(_SLICE, len(self._log)))]
        out = wiped + self._prompt.painter.paint(self._prompt.frame(), rows)
        if out and before:
            self._before, self._fed = before, out.count("\n")
            self._ask(_ASK_PLACE + out + _ASK_LAST)
        elif out:
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
                self._report(key[1])
            elif key[0] == "terminal":
                self._prompt.painter.cuts = cuts_rows(key[1])
            elif key == ("key", "c-z"):
                self.suspend()
            elif key == ("key", "c-l"):
                self.redraw()
            elif self._open:
                self._on_key(key)
        if any(key[0] not in ("report", "terminal") for key in keys):
            self.refresh()

    # Another size

    def _fits(self) -> bool:
        """Whether the system says the size that we draw for."""
        return self._prompt.tty.size() == (self._prompt.painter.width, self._prompt.painter.height)

    def _resized(self) -> None:
        """Another size, or the same again after others: wait until it stays, then ask what has become of our rows."""
        self._moved = True
        self._wary = self._loop.time() + _WARY
        self._ahead = _AHEAD
        if self._before is None:  # else the answer to the last frame comes first
            self._later(_SETTLE, self._ask_place)

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        self._rest()
        self._resizing = self._loop.call_later(seconds, act)

    def _ask_place(self) -> None:
        unknown = self._prompt.painter.cuts is None and self._prompt.tty.has_title
        self._ask((_ASK_NAME if unknown else "") + _ASK_PLACE + _ASK_LAST)

    def _ask(self, text: str) -> None:
        """Write what asks for two places."""
        self._asked += 2
        self._told.clear()
        self._writer.put(text)
        self._later(_REPORT, self._unanswered)

    def _report(self, place: str) -> None:
        """The terminal tells a place: of its cursor, then of its last cell, for as many questions as are open."""
        if self._asked == 0:
            return
        row, column = (int(number) - 1 for number in place.split(";"))
        self._told.append((row, column))
        self._asked -= 1
        if self._asked == 0 and len(self._told) >= 2:
            self._mute = False
            self._placed(*self._told[-2:])

    def _unanswered(self) -> None:
        self._asked = 0
        self._mute = True
        self._placed(None, None)

    def _placed(self, cursor: tuple[int, int] | None, last: tuple[int, int] | None) -> None:
        """Draw what fits the size now; wait where the terminal is ahead of what the system says."""
        if self._resizing is None:
            return
        before, self._before = self._before, None
        if before is not None:
            self._drawn(before, cursor, last)
            return
        width, height = self._prompt.tty.size()
        agreed = last == (height - 1, width - 1)
        if last is not None and not agreed and self._ahead > 0:
            self._ahead -= 1
            self._later(_SETTLE, self._ask_place)
            return
        self._rest()
        before = self._prompt.painter.copy() if agreed else None
        moved, self._moved = self._moved or not self._fits() or cursor != self._prompt.painter.spot, False
        self._draw(self._prompt.resize(width, height, cursor) if moved else "", before)

    def _drawn(self, before: Painter, cursor: tuple[int, int] | None, last: tuple[int, int] | None) -> None:
        """A frame was drawn: on a screen of the size it was made for, or else all of it again."""
        self._rest()
        painter = self._prompt.painter
        if last is None or last == (painter.height - 1, painter.width - 1):
            if self._moved:
                self._later(_SETTLE, self._ask_place)
            elif self._dirty or self._log:
                self.refresh()
            return
        width, height = last[1] + 1, last[0] + 1
        scrolled = max(0, self._fed - max(0, height - painter.height))
        told = (cursor[0] - scrolled, cursor[1]) if cursor else None
        self._prompt.painter = before
        self._draw(self._prompt.resize(width, height, told, sure=False), painter)

    def _rest(self) -> None:
        if self._resizing is not None:
            self._resizing.cancel()
            self._resizing = None

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
        self._before = None
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
