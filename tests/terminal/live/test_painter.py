"""The painter's output on a terminal emulator: what stays in the scrollback is the log, whole and in order."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maia.terminal.painter import Frame, Painter, row_cells


@dataclass
class Glass:
    """A painter and the emulator that shows it."""

    width: int = 20
    height: int = 10
    painter: Painter = field(init=False)
    screen: pyte.HistoryScreen = field(init=False)
    written: int = 0

    def __post_init__(self) -> None:
        self.painter = Painter(self.width, self.height)
        self.screen = pyte.HistoryScreen(self.width, self.height, history=100_000, ratio=0.5)
        self.stream = pyte.Stream(self.screen)
        self.stream.feed("$ before\r\n$ maia\r\n")
        self.stream.feed(self.painter.open())

    def paint(self, frame: Frame, *log: str) -> str:
        out = self.painter.paint(frame, log)
        self.written += len(out)
        self.stream.feed(out.replace("\x1b[?2026h", "").replace("\x1b[?2026l", ""))
        return out

    @property
    def rows(self) -> list[str]:
        return [row.rstrip() for row in self.screen.display]

    @property
    def past(self) -> list[str]:
        """Everything that was scrolled away and what is on the screen, without trailing blanks."""
        gone = ["".join(line[x].data for x in range(self.width)).rstrip() for line in self.screen.history.top]
        return gone + self.rows


def zone(*rows: str, tail: tuple[str, ...] = (), cover: tuple[str, ...] = ()) -> Frame:
    fixed = ["status", "----", *(rows or ("> ",)), "----", "bar"]
    return Frame(fixed, (2, 2), tail, cover)


def test_what_stood_there_before_is_kept_in_the_scrollback() -> None:
    glass = Glass()
    glass.paint(zone(), "hello")
    assert glass.past[:2] == ["$ before", "$ maia"]
    assert glass.rows == ["hello", "", "", "", "", "status", "----", ">", "----", "bar"]
    assert (glass.screen.cursor.y, glass.screen.cursor.x) == (7, 2)


def test_nothing_is_written_when_nothing_has_changed() -> None:
    glass = Glass()
    glass.paint(zone(), "hello")
    assert glass.paint(zone()) == ""


def test_only_the_row_that_changed_is_written() -> None:
    glass = Glass(width=100)
    glass.paint(zone("x" * 90))
    assert len(glass.paint(zone("y"))) < 80


def test_log_rows_scroll_up_and_the_zone_leaves_no_ghost() -> None:
    glass = Glass()
    for place in range(40):
        glass.paint(zone("> " + "x" * (place % 5)), f"row {place}")
    text = "\n".join(glass.past)
    assert [row for row in glass.past if row.startswith("row")] == [f"row {place}" for place in range(40)]
    assert text.count("bar") == text.count("status") == 1


def test_a_flood_is_poured_whole_and_in_order() -> None:
    glass = Glass()
    glass.paint(zone(), "first")
    glass.paint(zone(tail=("live",)), *(f"row {place}" for place in range(500)))
    assert [row for row in glass.past if row.startswith("row")] == [f"row {place}" for place in range(500)]
    assert glass.past.count("live") == 1
    assert glass.rows[-5:] == ["status", "----", ">", "----", "bar"]


def test_a_taller_input_pushes_the_log_up_and_the_bar_never_moves() -> None:
    glass = Glass()
    glass.paint(zone(), *(f"row {place}" for place in range(5)))
    glass.paint(zone("> a", "  b", "  c"))
    assert glass.rows[-1] == "bar"
    assert [row for row in glass.past if row.startswith("row")] == [f"row {place}" for place in range(5)]
    glass.paint(zone())
    assert glass.rows[-5:] == ["status", "----", ">", "----", "bar"]
    assert glass.past.count("bar") == 1


def test_an_open_list_covers_the_log_and_gives_it_back() -> None:
    glass = Glass()
    glass.paint(zone(), *(f"row {place}" for place in range(5)))
    glass.paint(zone(cover=("one", "two", "three")))
    assert glass.rows[:5] == ["row 0", "row 1", "one", "two", "three"]
    glass.paint(zone())
    assert glass.rows[:5] == [f"row {place}" for place in range(5)]


def test_log_rows_that_arrive_under_an_open_list_are_not_lost() -> None:
    glass = Glass()
    glass.paint(zone(), *(f"row {place}" for place in range(5)))
    for place in range(5, 30):
        glass.paint(zone(cover=("one", "two", "three", "four", "five")), f"row {place}")
    glass.paint(zone())
    assert [row for row in glass.past if row.startswith("row")] == [f"row {place}" for place in range(30)]


def test_the_tail_stands_right_under_the_log() -> None:
    glass = Glass()
    glass.paint(zone(tail=("stream",)), "asked")
    assert glass.rows[:2] == ["asked", "stream"]
    glass.paint(zone(), "answered")
    assert glass.rows[:3] == ["asked", "answered", ""]


@pytest.mark.parametrize("height", [1, 2, 3, 5, 6])
def test_a_tiny_screen_shows_the_row_with_the_cursor(height: int) -> None:
    glass = Glass(height=height)
    for place in range(6):
        glass.paint(zone("> typed", tail=("live",) * 4, cover=("menu",) * 4), f"row {place}")
    if height > 1:
        assert any("typed" in row for row in glass.rows)
        assert [row for row in glass.past if row.startswith("row")] == [f"row {place}" for place in range(6)]


def test_leaving_takes_the_zone_away_and_keeps_the_log() -> None:
    glass = Glass()
    glass.paint(zone(), "row")
    glass.stream.feed(glass.painter.close())
    assert glass.rows == ["row", *[""] * 9]
    assert (glass.screen.cursor.y, glass.screen.cursor.x) == (1, 0)


def test_full_width_rows_are_not_cut_and_do_not_wrap() -> None:
    glass = Glass()
    glass.paint(zone("x" * 20), "é" * 20, "日" * 10)
    assert glass.rows[0] == "é" * 20
    assert glass.rows[7] == "x" * 20
    glass.paint(zone("y"))
    assert glass.rows[7] == "y"


def test_another_program_on_the_screen_is_painted_over() -> None:
    glass = Glass()
    glass.paint(zone(), "row")
    glass.stream.feed("\x1b[1;1Hgarbage\x1b[9;1Hgarbage that is long")
    glass.painter.forget()
    glass.paint(zone())
    assert glass.rows == ["row", "", "", "", "", "status", "----", ">", "----", "bar"]


STEPS = st.tuples(
    st.integers(0, 14),  # log rows
    st.integers(1, 8),  # input rows
    st.integers(0, 6),  # tail rows
    st.integers(0, 7),  # covering rows
)


@settings(max_examples=150, deadline=None)
@given(st.integers(6, 16), st.lists(STEPS, min_size=1, max_size=12))
def test_whatever_is_painted_the_past_is_the_log(height: int, steps: list[tuple[int, int, int, int]]) -> None:
    glass = Glass(height=height)
    count = 0
    for log, typed, tail, cover in steps:
        rows = [f"row {count + place}" for place in range(log)]
        count += log
        inputs = [f"> {place}" for place in range(typed)]
        glass.paint(zone(*inputs, tail=("tail",) * tail, cover=("cover",) * cover), *rows)
    glass.paint(zone())
    assert [row for row in glass.past if row.startswith("row")] == [f"row {place}" for place in range(count)]
    assert "tail" not in glass.past
    assert "cover" not in glass.past
    assert glass.past.count("bar") == 1
    assert glass.rows[-1] == "bar"


@settings(max_examples=100, deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=6), st.integers(8, 30), st.integers(6, 16), st.booleans())
def test_a_resized_screen_has_one_zone_at_its_bottom(
    steps: list[tuple[int, int, int, int]], width: int, height: int, told: bool
) -> None:
    """pyte cuts rows and keeps the cursor, as xterm does; reflowing terminals are tested under tmux."""
    glass = Glass()
    for number, (log, typed, tail, cover) in enumerate(steps):
        inputs = [f"> {place}" for place in range(typed)]
        frame = zone(*inputs, tail=("tail",) * tail, cover=("cover",) * cover)
        glass.paint(frame, *(f"row {number}.{place}" for place in range(log)))
    glass.screen.resize(height, width)
    glass.width, glass.height = width, height
    row = glass.screen.cursor.y
    glass.stream.feed(glass.painter.resize(width, height, (row, glass.screen.cursor.x) if told else None))
    glass.paint(zone("> after"))
    assert glass.rows[-5:] == ["status", "----", "> after", "----", "bar"]
    if told:
        assert glass.rows.count("bar") == 1


def test_cells_of_a_row_leave_codes_out() -> None:
    assert row_cells("\x1b[1;38;2;1;2;3mab\x1b[0m日") == 4
    assert row_cells("\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\") == 4
