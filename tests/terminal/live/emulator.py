"""A terminal as a model, for what pyte does not do: scrollback, reflow, and the ways terminals take another size."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple


class Kind(NamedTuple):
    """How a terminal takes another size.

    `reflows` or cuts; `eats` rows below the cursor before it scrolls when it gets shorter; `pulls` rows back from the
    scrollback when it gets higher.
    """

    reflows: bool
    eats: bool
    pulls: bool


KINDS = {
    "tmux": Kind(reflows=True, eats=True, pulls=True),
    "kitty": Kind(reflows=True, eats=False, pulls=False),
    "alacritty": Kind(reflows=True, eats=False, pulls=True),
    "xterm": Kind(reflows=False, eats=True, pulls=True),
    "st": Kind(reflows=False, eats=False, pulls=False),
}
_CODES = re.compile(r"\x1b\[([?>]?)([\d;]*)([A-Za-z])|\x1b\][^\x1b]*\x1b\\|\x1b[78]|[\s\S]")


@dataclass
class Row:
    """Cells that were used, blank ones too, as tmux counts them; `wraps` when the next row is the rest of this one."""

    cells: list[str] = field(default_factory=list[str])
    wraps: bool = False

    @property
    def text(self) -> str:
        return "".join(self.cells).rstrip()


class Emulator:
    """Rows of scrollback and screen; every character is one cell wide."""

    def __init__(self, width: int, height: int, kind: Kind) -> None:
        self.width, self.height, self.kind = width, height, kind
        self.rows = [Row() for _ in range(height)]
        self.y: int = 0
        self.x: int = 0
        self._wrapping = True

    @property
    def top(self) -> int:
        """The first row of the screen; those before it are the scrollback."""
        return len(self.rows) - self.height

    @property
    def display(self) -> list[str]:
        return [row.text for row in self.rows[self.top :]]

    @property
    def past(self) -> list[str]:
        """Scrollback and screen, rows that were broken by a reflow in one piece."""
        whole: list[str] = []
        goes_on = False
        for row in self.rows:
            whole[len(whole) - goes_on :] = [(whole[-1] if goes_on else "") + row.text]
            goes_on = row.wraps
        return whole

    # What is written

    def write(self, text: str) -> None:
        for match in _CODES.finditer(text):
            if match[3]:
                self._control(match[1], [int(number or 0) for number in match[2].split(";")], match[3])
            elif match[0] == "\n":
                self._feed()
            elif match[0] == "\r":
                self.x = 0
            elif match[0] >= " ":
                self._put(match[0])

    def _control(self, private: str, numbers: list[int], final: str) -> None:
        match (private, final):
            case ("", "H"):
                place = numbers if len(numbers) == 2 else [1, 1]
                self.y, self.x = min(place[0], self.height) - 1, min(place[1], self.width) - 1
            case ("", "K"):
                assert numbers == [2]
                self.rows[self.top + self.y] = Row()
            case ("", "J"):
                assert self.x == 0
                self.rows[self.top + self.y :] = [Row() for _ in range(self.height - self.y)]
            case ("?", "h" | "l"):
                self._wrapping = final == "h" if numbers == [7] else self._wrapping
            case (_, "m"):
                pass
            case _:
                raise AssertionError((private, numbers, final))

    def _put(self, char: str) -> None:
        if self.x == self.width:
            self.rows[self.top + self.y].wraps = True
            self.x = 0
            self._feed()
        cells = self.rows[self.top + self.y].cells
        cells += [" "] * (self.x + 1 - len(cells))
        cells[self.x] = char
        self.x = min(self.x + 1, self.width if self._wrapping else self.width - 1)

    def _feed(self) -> None:
        if self.y == self.height - 1:
            self.rows.append(Row())
        else:
            self.y += 1

    # Another size

    def resize(self, width: int, height: int) -> None:
        self._another_height(height)
        if self.kind.reflows and width != self.width:
            self._reflow(width)
        elif not self.kind.reflows:
            for row in self.rows[self.top :]:
                del row.cells[width:]
        self.width = width
        self.x = min(self.x, width - 1)

    def _another_height(self, height: int) -> None:
        line = self.top + self.y
        shorter = self.height - height
        if shorter > 0:
            below = self.height - 1 - self.y
            eaten = min(shorter, below) if self.kind.eats else max(0, shorter - self.y)
            del self.rows[len(self.rows) - eaten :]
        else:
            pulled = min(self.top, -shorter) if self.kind.pulls else 0
            self.rows += [Row() for _ in range(-shorter - pulled)]
        self.height = height
        self.y = line - self.top

    def _reflow(self, width: int) -> None:
        line, spot = self.top + self.y, (0, 0)
        rows: list[Row] = []
        cells: list[str] = []
        at: int | None = None
        for place, row in enumerate(self.rows):
            if place == line:
                at = len(cells) + min(self.x, max(0, len(row.cells)))
            cells += row.cells
            if row.wraps and place < len(self.rows) - 1:
                continue
            pieces = [cells[start : start + width] for start in range(0, max(1, len(cells)), width)]
            if at is not None:
                inside = min(at // width, len(pieces) - 1)
                spot, at = (len(rows) + inside, at - inside * width), None
            rows += [Row(piece, place < len(pieces) - 1) for place, piece in enumerate(pieces)]
            cells = []
        rows += [Row() for _ in range(self.height - len(rows))]
        self.rows = rows
        self.y, self.x = max(0, spot[0] - self.top), spot[1]
