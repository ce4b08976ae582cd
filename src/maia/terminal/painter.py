"""What stands on the screen, row by row: log rows go up into the terminal's scrollback, the zone stays at the bottom.

The painter owns every row of the visible screen and remembers what is on it; painting writes only rows that differ.
Log rows leave the screen by ordinary scrolling, so the terminal keeps them; the zone below is never scrolled off, so no
ghost of it can stay behind. Nothing here reads the terminal: it returns the characters to write.

Not prompt_toolkit: its first paint costs 0.08 s of import alone, it leaves a ghost frame at the first flush and rows
behind after shrinking, both measured.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from copy import copy

from maia.terminal.reflow import Ghost, Rest, around, as_ghosts, refit, row_cells, was_cut, without_ghosts

SYNC_ON, SYNC_OFF = "\x1b[?2026h", "\x1b[?2026l"
_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"
_WIPE = "\x1b[2K"
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"
_REMEMBERED = 600
"""Log rows kept to put back what a list covered, and to follow a resize: more than any screen is high."""

UNKNOWN = "\x00"
"""Stands for a row that the terminal brought back from before our time: it may scroll, but is never painted over."""


_NOWHERE = (-1, -1)


class Frame:
    """The zone at the bottom, as rows already fitting the width.

    `tail` follows the log and may still change, `fixed` stands on the last rows; both take room from the log. `cover`
    (a list that is open) stands above `fixed` and only covers what is there for a while.
    `cursor` is a row of `fixed` and a column, None to hide it. `title` is for the window, empty to leave that alone.
    """

    __slots__ = ("cover", "cursor", "fixed", "tail", "title")

    def __init__(
        self,
        fixed: Sequence[str],
        cursor: tuple[int, int] | None = None,
        tail: Sequence[str] = (),
        cover: Sequence[str] = (),
        title: str = "",
    ) -> None:
        self.fixed = list(fixed)
        self.cursor = cursor
        self.tail = list(tail)
        self.cover = list(cover)
        self.title = title


class Painter:
    """Keeps log and zone on a screen of `width` x `height` cells. Rows are strings with SGR codes, no line ends.

    `cuts` says whether the terminal cuts rows at a resize, None where nobody knows (see `maia.terminal.reflow`).
    """

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._screen: list[str] = [""] * height
        self._log: deque[str] = deque(maxlen=_REMEMBERED)
        self._again: list[str] = []
        self._used = 0
        self.cuts: bool | None = None
        self._cut_before = False
        self._unsure = False
        self._cursor = (0, 0)
        self._hidden = False
        self._frame = Frame([])
        self._title = ""

    @property
    def frame(self) -> Frame:
        """The zone painted last."""
        return self._frame

    @property
    def spot(self) -> tuple[int, int]:
        """Row and column, from 0, where the last frame left the cursor."""
        return self._cursor

    def copy(self) -> Painter:
        """The same as it is now, to go back to when a frame turns out to have been drawn in vain."""
        twin = copy(self)
        twin._screen, twin._log = self._screen.copy(), self._log.copy()
        return twin

    def start(self, width: int, height: int, *, again: bool) -> None:
        """Begin on an empty screen of that size; `again` puts the last rows of the log on it once more."""
        rows = refit(without_ghosts(self._log), width, cut=False)
        self._log = deque((str(row) for row in rows), maxlen=_REMEMBERED)
        self.width, self.height = width, height
        room = max(0, height - len(self._frame.fixed) - len(self._frame.tail))
        self._used = min(len(self._log), room) if again else 0
        self._screen = [""] * height
        self._cursor = (0, 0)
        self._title = ""

    def open(self) -> str:
        """Take the screen over: what stood on it goes up into the scrollback, untouched."""
        return "\r" + "\n" * (self.height - 1) + "\x1b[H"

    def paint(self, frame: Frame, log: Sequence[str] = ()) -> str:
        """Add `log` rows above the zone and bring the screen to `frame`. Returns what to write, empty when nothing."""
        out: list[str] = []
        log, self._again = [*self._again, *log], []
        if frame.title != self._title:
            self._title = frame.title
            out.append(f"\x1b]2;{frame.title}\x1b\\")
        frame = self._fitting(frame)
        self._frame = frame
        room = self.height - len(frame.tail) - len(frame.fixed)
        if len(log) > room:
            self._pour(out, log, room)
        else:
            self._log.extend(log)
            self._scroll(out, self._used + len(log) - room, len(log))
            self._used += len(log)
        self._write(out, self._wanted(frame))
        spot, hidden = self._spot(frame), frame.cursor is None
        if not out and (spot, hidden) == (self._cursor, self._hidden):
            return ""
        self._cursor, self._hidden = spot, hidden
        end = f"\x1b[{spot[0] + 1};{spot[1] + 1}H" + ("" if hidden else _SHOW)
        return f"{SYNC_ON}{_HIDE}{_NO_WRAP}{''.join(out)}{_WRAP}{end}{SYNC_OFF}"

    def close(self) -> str:
        """Take the zone away; the cursor stands on the free row after the log."""
        first = max(1, min(self._used, self.height - 1))
        lead = f"\x1b[H{_WIPE}" if self._used == 0 else ""
        back = "\x1b[H" if self._used == 0 else ""
        return f"{lead}\x1b[{first + 1};1H\x1b[J{back}{_SHOW}"

    def forget(self) -> None:
        """Something else wrote on the screen: every row of ours is painted again next time."""
        self._unsure = True

    # Painting

    def _fitting(self, frame: Frame) -> Frame:
        """The frame as far as the screen has rows: first the open list gives way, then the tail, then the input."""
        room = self.height - 1
        fixed, cursor = frame.fixed, frame.cursor
        if len(fixed) > room:
            keep = max(1, room)
            first = min(max(0, cursor[0] - keep + 1), len(fixed) - keep) if cursor else len(fixed) - keep
            fixed = fixed[first : first + keep]
            cursor = (cursor[0] - first, cursor[1]) if cursor else None
        tail = frame.tail[len(frame.tail) - max(0, min(len(frame.tail), room - len(fixed))) :]
        most = max(0, room - len(fixed))
        return Frame(fixed, cursor, tail, frame.cover[:most])

    def _wanted(self, frame: Frame) -> list[str]:
        log = list(self._log)[len(self._log) - min(self._used, len(self._log)) :]
        rows = [UNKNOWN] * (self._used - len(log)) + log
        rows += frame.tail
        rows += [""] * (self.height - len(frame.fixed) - len(rows))
        return rows[: len(rows) - len(frame.cover)] + frame.cover + frame.fixed

    def _spot(self, frame: Frame) -> tuple[int, int]:
        """Where the cursor stands; a hidden one on the first row at the bottom.

        A resize is understood from its place, and a terminal that gets shorter gives up the rows below it first.
        """
        if frame.cursor is None:
            return (self.height - len(frame.fixed), 0)
        row, column = frame.cursor
        return (self.height - len(frame.fixed) + row, min(column, self.width - 1))

    def _own(self, frame: Frame) -> int:
        """The first row of the screen that does not show the log."""
        return max(0, min(self._used, self.height - len(frame.fixed) - len(frame.cover)))

    def _write(self, out: list[str], wanted: list[str]) -> None:
        """Write the rows that differ. A row that gets shorter is wiped whole before, never its end alone: tmux would
        count the cells wiped there when it reflows, and the zone would be higher than we know."""
        unsure, self._unsure = self._unsure, False
        for place, (old, new) in enumerate(zip(self._screen, wanted, strict=True)):
            if old == new and not (unsure and new != UNKNOWN):
                continue
            row = "" if new == UNKNOWN else new  # what stood there was covered and cannot be put back
            wipe = unsure or old == UNKNOWN or row_cells(old) > row_cells(row) or _is_unsure(row) or _is_unsure(old)
            out.append(f"\x1b[{place + 1};1H{_WIPE if wipe else ''}{row}")
            self._screen[place] = new

    def _scroll(self, out: list[str], rows: int, fresh: int) -> None:
        """Move the screen up by `rows`; what leaves it are log rows, shown as they are before they go."""
        if rows <= 0:
            return
        leaving = min(rows, self._used)
        remembered = list(self._log)[: len(self._log) - fresh] if fresh else list(self._log)
        shown = remembered[len(remembered) - min(self._used, len(remembered)) :]
        shown = [UNKNOWN] * (self._used - len(shown)) + shown
        self._write(out, shown[:leaving] + self._screen[leaving:])
        out.append(f"\x1b[{self.height};1H" + "\n" * rows)
        self._screen = self._screen[rows:] + [""] * rows
        self._used -= leaving

    def _pour(self, out: list[str], log: list[str], room: int) -> None:
        """More rows than the screen holds: print them as a program would, the terminal scrolls by itself."""
        self._scroll(out, self._used - room, 0)
        shown = list(self._log)[len(self._log) - min(self._used, len(self._log)) :]
        shown = [UNKNOWN] * (self._used - len(shown)) + shown
        self._write(out, shown + [""] * (self.height - len(shown)))
        self._log.extend(log)
        out.append(f"\x1b[{self._used + 1};1H" + "\r\n".join(log) + "\r\n" * (self.height - room))
        lines = list(self._log)
        self._screen = lines[max(0, len(lines) - room) :] + [""] * (self.height - room)
        self._used = room

    # Another size

    def resize(self, width: int, height: int, told: tuple[int, int] | None, *, sure: bool = True) -> str:
        """The terminal has another size, and its cursor stands at `told` (row and column from 0; None when it is mute).

        Only our own rows are wiped, wherever the terminal has moved them: what is left of the log stays as the terminal
        made it, and log rows that a list covered are painted again with the next frame. So is the whole screen where it
        is not `sure` that nothing of ours was written on it since.
        """
        log = list(self._log)
        first = self._own(self._frame)
        shown = max(0, len(log) - (self._used - first))
        rows, row, column = self._screen[first:], max(0, self._cursor[0] - first), self._cursor[1]
        while shown < len(log) and isinstance(log[shown], Rest) and first:
            # the terminal broke this row and takes what covers its end for the end: both are one row to it
            shown, first = shown - 1, first - 1
            rows[0] = self._screen[first] + rows[0]
            column += 0 if row else row_cells(self._screen[first])
        cut = width < self.width and self._is_cut(rows, (row, column), told, width, height)
        above, below, _ = around(rows, row, column, width, cut=cut)
        clean = min(told[0] if told else height - 1 - below, height - 1) - above
        lost = refit(rows, width, cut=cut)[: max(0, -clean)]
        known = [*refit(log[:shown], width, cut=cut), *as_ghosts(lost)]
        covered = refit(log[shown:], width, cut=False)
        self.width, self.height = width, height
        wiped = self._wipe(max(0, clean), known, covered)
        self._unsure = not sure
        return wiped

    def _wipe(self, clean: int, known: list[str], covered: list[str]) -> str:
        """Wipe all but the first `clean` rows, the last of `known`, and from the first row on that is none of the log;
        what is left of the log there is painted again, with what was `covered`."""
        seen = known[len(known) - min(clean, len(known)) :]
        ghost = next((place for place, row in enumerate(seen) if isinstance(row, Ghost)), len(seen))
        clean -= len(seen) - ghost
        self._again = [str(row) for row in (*without_ghosts(seen[ghost:]), *covered)]
        self._log = deque(known[: len(known) - len(seen) + ghost], maxlen=_REMEMBERED)
        self._screen = [UNKNOWN] * (clean - ghost) + seen[:ghost] + [""] * (self.height - clean)
        self._used, self._cursor = clean, _NOWHERE
        lead = f"\x1b[H{_WIPE}" if clean == 0 else ""
        return f"\x1b[0m{lead}\x1b[{max(clean, 1) + 1};1H\x1b[J"

    def _is_cut(
        self, rows: Sequence[str], spot: tuple[int, int], told: tuple[int, int] | None, width: int, height: int
    ) -> bool:
        if self.cuts is not None:
            return self.cuts
        seen = was_cut(rows, spot, told, (width, height), self.height - height) if told else None
        self._cut_before = self._cut_before if seen is None else seen
        return self._cut_before


def _is_unsure(row: str) -> bool:
    """Whether terminals disagree about the width of this row (emoji, joined ones, East Asian): it is wiped first."""
    return not row.isascii() and any(char >= "\u2e80" or char in "\u200d\u20e3" for char in row)
