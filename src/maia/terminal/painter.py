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

from maia.terminal.spans import cell_width

SYNC_ON, SYNC_OFF = "\x1b[?2026h", "\x1b[?2026l"
_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"
_REMEMBERED = 600
"""Log rows kept to put back what a list covered, and to follow a resize: more than any screen is high."""

UNKNOWN = "\x00"
"""Stands for a row that the terminal brought back from before our time: it may scroll, but is never painted over."""


_GARBAGE = "\x01"
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
    """Keeps log and zone on a screen of `width` x `height` cells. Rows are strings with SGR codes, no line ends."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._screen: list[str] = [""] * height
        self._log: deque[str] = deque(maxlen=_REMEMBERED)
        self._used = 0
        self._cursor = (0, 0)
        self._hidden = False
        self._frame = Frame([])
        self._title = ""

    @property
    def frame(self) -> Frame:
        """The zone painted last."""
        return self._frame

    def start(self, width: int, height: int, *, again: bool) -> None:
        """Begin on an empty screen of that size; `again` puts the last rows of the log on it once more."""
        if width < self.width:
            rows = [piece for text in self._log for piece in _reflow(text, width, cut=False)]
            self._log = deque(rows, maxlen=_REMEMBERED)
        self.width, self.height = width, height
        room = max(0, height - len(self._frame.fixed) - len(self._frame.tail))
        self._used = min(len(self._log), room) if again else 0
        self._screen = [""] * height
        self._cursor = _NOWHERE
        self._title = ""

    def open(self) -> str:
        """Take the screen over: what stood on it goes up into the scrollback, untouched."""
        return "\r" + "\n" * (self.height - 1) + "\x1b[H"

    def paint(self, frame: Frame, log: Sequence[str] = ()) -> str:
        """Add `log` rows above the zone and bring the screen to `frame`. Returns what to write, empty when nothing."""
        out: list[str] = []
        if frame.title != self._title:
            self._title = frame.title
            out.append(f"\x1b]2;{frame.title}\x1b\\")
        frame = self._fitting(frame)
        self._frame = frame
        room = self.height - len(frame.tail) - len(frame.fixed)
        if len(log) > room:
            self._pour(out, list(log), room)
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
        lead = "\x1b[H\x1b[2K" if self._used == 0 else ""
        back = "\x1b[H" if self._used == 0 else ""
        return f"{lead}\x1b[{first + 1};1H\x1b[J{back}{_SHOW}"

    def forget(self) -> None:
        """Something else wrote on the screen: every row of ours is painted again next time."""
        self._screen = [UNKNOWN if row == UNKNOWN else _GARBAGE for row in self._screen]
        self._cursor = _NOWHERE

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
        """Where the cursor stands; a hidden one on the last row, since a resize is understood from its place."""
        if frame.cursor is None:
            return (self.height - 1, 0)
        row, column = frame.cursor
        return (self.height - len(frame.fixed) + row, min(column, self.width - 1))

    def _write(self, out: list[str], wanted: list[str]) -> None:
        for place, (old, new) in enumerate(zip(self._screen, wanted, strict=True)):
            if old == new:
                continue
            row = "" if new == UNKNOWN else new  # what stood there was covered and cannot be put back
            cells = row_cells(row)
            clear = "\x1b[K" if cells < self.width and (old in (UNKNOWN, _GARBAGE) or row_cells(old) > cells) else ""
            first = "\x1b[2K" if _is_unsure(row) or _is_unsure(old) else ""
            out.append(f"\x1b[{place + 1};1H{first}{row}{clear}")
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

    def resize(self, width: int, height: int, cursor_row: int | None) -> str:
        """The terminal has another size, and its cursor stands on `cursor_row` (from 0; None when it does not say).

        Only the zone is wiped, wherever the terminal has moved it: log rows stay as the terminal reflowed them. A
        narrower terminal either reflows rows that are too long or cuts them; the rows below the cursor tell which.
        Where that leaves the screen mostly empty, the last log rows are shown once more.
        """
        row, column = self._cursor if self._cursor != _NOWHERE else (self.height - 1, 0)
        below = self.height - 1 - row
        heights = [max(1, -(-row_cells(text) // max(1, width))) for text in self._screen]
        reflowed_below = sum(heights[row:]) - 1 - column // max(1, width)
        reflows = width < self.width
        if cursor_row is None:
            cursor_row = height - 1 - (reflowed_below if reflows else below)
        elif reflows and reflowed_below != below and height - 1 - cursor_row == below:
            reflows = False
        cover = max(0, self._used - (self.height - len(self._frame.fixed) - len(self._frame.cover)))
        if reflows:
            above = sum(heights[self._used : row]) + column // max(1, width)
            cover = sum(heights[self._used - cover : self._used])
        else:
            above = row - self._used
        if width < self.width:
            rows = [piece for text in self._log for piece in _reflow(text, width, cut=not reflows)]
            self._log = deque(rows, maxlen=_REMEMBERED)
        self.width, self.height = width, height
        self._used = min(max(0, cursor_row - above), height - 1)
        clean = max(0, self._used - cover)
        room = height - len(self._frame.fixed) - len(self._frame.tail)
        if min(len(self._log), room) - self._used > room // 3:
            self._used, clean = min(len(self._log), room), 0
        log = list(self._log)[len(self._log) - min(self._used, len(self._log)) :]
        self._screen = ([UNKNOWN] * (self._used - len(log)) + log)[:clean] + [""] * (height - clean)
        self._cursor = _NOWHERE
        lead = "\x1b[H\x1b[2K" if clean == 0 else ""
        return f"\x1b[0m{lead}\x1b[{max(clean, 1) + 1};1H\x1b[J"


def _reflow(row: str, width: int, *, cut: bool) -> list[str]:
    """One row as a narrower terminal shows it: broken anywhere at `width` cells, or cut there; colours go on."""
    if row_cells(row) <= width:
        return [row]
    rows: list[str] = []
    current: list[str] = []
    style, used = "", 0
    for piece, is_code in _pieces(row):
        if is_code:
            current.append(piece)
            if piece.endswith("m"):
                style = "" if piece in ("\x1b[0m", "\x1b[m") else style + piece
            continue
        for char in piece:
            cells = cell_width(char)
            if used + cells > width:
                rows.append("".join(current) + "\x1b[0m")
                if cut:
                    return rows
                current, used = [style], 0
            current.append(char)
            used += cells
    return [*rows, "".join(current)]


def row_cells(row: str) -> int:
    """Cells that a row with codes takes."""
    if "\x1b" not in row:
        return 0 if row in (UNKNOWN, _GARBAGE) else cell_width(row)
    return sum(cell_width(piece) for piece, is_code in _pieces(row) if not is_code)


def _is_unsure(row: str) -> bool:
    """Whether terminals disagree about the width of this row (emoji, joined ones, East Asian): it is wiped first."""
    return not row.isascii() and any(char >= "\u2e80" or char in "\u200d\u20e3" for char in row)


def _pieces(row: str) -> list[tuple[str, bool]]:
    """Text and codes (SGR, OSC 8) of a row, in order; the second value is True for a code."""
    pieces: list[tuple[str, bool]] = []
    at = 0
    while at < len(row):
        code = row.find("\x1b", at)
        if code < 0:
            pieces.append((row[at:], False))
            break
        if code > at:
            pieces.append((row[at:code], False))
        if row[code + 1 : code + 2] == "]":
            end = row.find("\x1b\\", code)
            at = len(row) if end < 0 else end + 2
        else:
            at = code + 2
            while at < len(row) and not "@" <= row[at] <= "~":
                at += 1
            at += 1
        pieces.append((row[code:at], True))
    return pieces
