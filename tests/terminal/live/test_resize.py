"""Another size, on models of terminals that reflow rows and of such that cut them: one zone, every log row once."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.terminal.live.emulator import KINDS, Emulator

from maia.terminal.painter import Frame, Painter
from maia.terminal.reflow import cuts_rows, refit, row_cells, was_cut

SIZES = st.tuples(st.integers(14, 60), st.integers(9, 30))


def is_ours(row: str) -> bool:
    return bool(set(row) & set("-~=tb")) and row != "$ before"


@dataclass
class Glass:
    """A painter on a terminal; rows of the log begin with a number that is found again.

    It is `haunted` when rows of the zone were in the scrollback, where nothing can reach them.
    """

    name: str
    width: int = 40
    height: int = 16
    count: int = 0
    typed: int = 1
    hidden: bool = False
    haunted: bool = False
    painter: Painter = field(init=False)

    def __post_init__(self) -> None:
        self.glass = Emulator(self.width, self.height, KINDS[self.name])
        self.painter = Painter(self.width, self.height)
        self.painter.cuts = not KINDS[self.name].reflows
        self.glass.write("$ before\r\n" + self.painter.open())

    def frame(self, tail: int = 0, cover: int = 0) -> Frame:
        width = self.painter.width
        border = "-" * width
        rows = ["status"[:width], border, *(f"> {'t' * (width - 2)}" for _ in range(self.typed)), border, "b" * width]
        spot = None if self.hidden else (1 + self.typed, width - 1)
        return Frame(rows, spot, ["~" * width] * tail, ["=" * width] * cover)

    def paint(self, log: int = 0, tail: int = 0, cover: int = 0) -> None:
        rows: list[str] = []
        for _ in range(log):
            self.count += 1
            rows.append(f"<{self.count}>".ljust(self.count * 7 % self.painter.width, "."))
        self.glass.write(self.painter.paint(self.frame(tail, cover), rows))

    def resize(self, *sizes: tuple[int, int], told: bool = True) -> None:
        for size in sizes:
            self.glass.resize(*size)
            self.haunted |= any(is_ours(row.text) for row in self.glass.rows[: self.glass.top])
        self.glass.write(self.painter.resize(*sizes[-1], (self.glass.y, self.glass.x) if told else None))

    def check(self) -> None:
        shown = self.glass.display
        zone = [row.rstrip() for row in self.frame().fixed]
        assert shown[-len(zone) :] == zone
        above = self.glass.past[: -len(zone)]
        assert not [row for row in above if is_ours(row)], above
        numbers = [row[1 : row.index(">")] for row in above if row.startswith("<")]
        assert numbers == [str(number + 1) for number in range(self.count)]
        assert above.count("$ before") == 1


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("log", [0, 3, 60], ids=["no log", "short log", "long log"])
@pytest.mark.parametrize(
    "sizes",
    [
        [(33, 16)],
        [(14, 16)],
        [(60, 16)],
        [(40, 12)],
        [(40, 30)],
        [(20, 12)],
        [(60, 30)],
        [(20, 30)],
        [(60, 12)],
        [(30, 14), (20, 12), (50, 24)],
        [(14, 10), (40, 16)],
    ],
    ids=str,
)
def test_a_resize_leaves_one_zone_and_every_log_row(name: str, log: int, sizes: list[tuple[int, int]]) -> None:
    glass = Glass(name)
    glass.paint(log)
    glass.resize(*sizes)
    glass.paint()
    glass.check()


STEPS = st.tuples(
    st.integers(0, 9),  # log rows
    st.integers(0, 3),  # tail rows
    st.integers(0, 4),  # covering rows
    st.integers(1, 3),  # typed rows
    st.booleans(),  # a question: no cursor
    st.lists(SIZES, max_size=3),
)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(sorted(KINDS)), st.lists(STEPS, min_size=1, max_size=6))
def test_whatever_is_resized_one_zone_and_the_log_are_left(
    name: str, steps: list[tuple[int, int, int, int, bool, list[tuple[int, int]]]]
) -> None:
    glass = Glass(name)
    for log, tail, cover, glass.typed, glass.hidden, sizes in steps:
        glass.paint(log, tail, cover)
        if sizes:
            glass.resize(*sizes)
            assume(not glass.haunted)
            glass.paint(tail=tail, cover=cover)
    glass.paint()
    glass.check()


def test_a_zone_that_had_no_room_is_wiped_when_the_terminal_shows_it_again() -> None:
    glass = Glass("tmux")
    glass.typed = 6
    glass.paint(60)
    glass.resize((14, 9))
    assert glass.haunted
    glass.typed = 1
    glass.paint()
    glass.resize((40, 24))
    glass.paint()
    glass.check()


def test_log_rows_that_a_list_covers_are_there_once_after_two_resizes_under_it() -> None:
    glass = Glass("tmux", height=24)
    glass.paint(30, cover=4)
    for size in ((20, 22), (30, 24)):
        glass.resize(size)
        glass.paint(cover=3)
    glass.paint()
    glass.check()


ROWS = ["s", "-" * 40, "> draft", "-" * 40, "b" * 30]
TOLD = [
    ("reflowed, as high", (33, 16), (12, 7), 0, False),
    ("cut, as high", (33, 16), (13, 7), 0, True),
    ("reflowed, the rows below gone", (33, 12), (11, 7), 4, None),
    ("cut, and the cursor was beyond the edge", (30, 16), (13, 29), 0, True),
    ("reflowed, and the rows scrolled", (33, 12), (8, 7), 4, False),
    ("nothing that either would do", (33, 16), (3, 7), 0, None),
]


@pytest.mark.parametrize(("size", "told", "shorter", "cut"), [row[1:] for row in TOLD], ids=[row[0] for row in TOLD])
def test_what_the_cursor_tells_of_a_terminal(
    size: tuple[int, int], told: tuple[int, int], shorter: int, cut: bool | None
) -> None:
    column = 35 if told[1] == 29 else 7
    assert was_cut(ROWS, (2, column), told, size, shorter) == cut


def test_a_terminal_that_is_not_known_is_believed_what_its_cursor_tells() -> None:
    glass = Glass("xterm")
    glass.painter.cuts = None
    glass.paint(60)
    for size in ((33, 16), (25, 12), (20, 16)):
        glass.resize(size)
        glass.paint()
    glass.check()


@pytest.mark.parametrize(
    ("name", "cut"),
    [("XTerm(390)", True), ("tmux 3.3a", False), ("VTE(7600)", False), ("mintty 3.7.0", None), ("", None)],
)
def test_terminals_by_their_names(name: str, cut: bool | None) -> None:
    assert cuts_rows(name) is cut


def test_rows_broken_by_the_terminal_come_together_again_with_their_colours() -> None:
    row = "\x1b[32mgreen and long\x1b[0m and plain"
    narrow = refit([row, "short"], 10, cut=False)
    assert [row_cells(piece) for piece in narrow] == [10, 10, 4, 5]
    assert narrow[1].startswith("\x1b[32mlong\x1b[0m")
    assert refit(narrow, 10, cut=False) == narrow
    assert [row_cells(piece) for piece in refit(narrow, 40, cut=False)] == [24, 5]
    assert refit([row], 10, cut=True) == narrow[:1]
