import time

import pytest

from maia.core.results import DiffBlock
from maia.terminal.colours import Look
from maia.terminal.diff import DiffRow, FileDiff, compare, diff_lines, stat
from maia.terminal.spans import Span, line
from tests.terminal.pure.frames import EDIT, EN, FR, frame, shown


def test_the_change_is_drawn_as_specified() -> None:
    assert shown(diff_lines(EDIT, Look(), FR)) == frame("""
   119 │         brut = self.ht * self.taux
 − 120 │         return round(brut, 2)
 + 120 │         pas = self.avoir.devise.pas
 + 121 │         return brut.quantize(pas, ROUND_HALF_UP)
   122 │
""")


def test_signs_stand_there_without_colour_and_in_ascii() -> None:
    assert shown(diff_lines(DiffBlock("a", "x\n", "y\n"), Look(level="none"), FR)) == " − 1 │ x\n + 1 │ y"
    assert shown(diff_lines(DiffBlock("a", "x\n", "y\n"), Look(unicode=False), FR)) == " - 1 | x\n + 1 | y"


def test_removed_and_added_rows_have_their_colours() -> None:
    rows = diff_lines(DiffBlock("a", "x\n", "y\n"), Look(), FR)
    assert rows == [
        line(Span(" − 1 │ ", "diff_old"), Span("x", "diff_old")),
        line(Span(" + 1 │ ", "diff_new"), Span("y", "diff_new")),
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "a\nb\n", FileDiff((DiffRow("new", 1, "a"), DiffRow("new", 2, "b")), 2, 0)),
        ("a\n", "", FileDiff((DiffRow("old", 1, "a"),), 0, 1)),
        ("a\n", "a", FileDiff((), 0, 0, end_only=True)),
        ("a\r\n", "a\n", FileDiff((DiffRow("old", 1, "a\r"), DiffRow("new", 1, "a")), 1, 1)),
        (
            "a\r\nb\r\n",
            "a\r\nc\r\n",
            FileDiff((DiffRow("same", 1, "a"), DiffRow("old", 2, "b"), DiffRow("new", 2, "c")), 1, 1),
        ),
        ("a\n", "a\n", FileDiff((), 0, 0)),
        ("a\x0bb\n", "a\x0bc\n", FileDiff((DiffRow("old", 1, "a\x0bb"), DiffRow("new", 1, "a\x0bc")), 1, 1)),
    ],
    ids=["new file", "emptied", "final newline", "line ends", "CRLF stays hidden", "nothing", "only LF ends a line"],
)
def test_two_texts_are_compared(before: str, after: str, expected: FileDiff) -> None:
    assert compare(before, after) == expected


def test_distant_changes_are_parted() -> None:
    old = "".join(f"{n}\n" for n in range(1, 21))
    new = old.replace("3\n", "drei\n", 1).replace("18\n", "achtzehn\n")
    assert shown(diff_lines(DiffBlock("a", old, new), Look(), FR)) == frame("""
    2 │ 2
 −  3 │ 3
 +  3 │ drei
    4 │ 4
    ⋮
   17 │ 17
 − 18 │ 18
 + 18 │ achtzehn
   19 │ 19
""")


def test_a_long_change_stops_after_40_rows_and_says_how_much_is_left() -> None:
    block = DiffBlock("a", "", "".join(f"line {n}\n" for n in range(152)))
    rows = diff_lines(block, Look(), FR)
    assert len(rows) == 41
    assert shown(rows).endswith("… 112 lignes de plus, /diff pour tout voir")
    assert len(diff_lines(block, Look(), EN, max_rows=None)) == 152


def test_a_line_that_is_too_long_goes_on_behind_the_gutter() -> None:
    rows = diff_lines(DiffBlock("a", "", "un deux trois quatre cinq\n"), Look(width=24), FR)
    assert shown(rows, 24) == " + 1 │ un deux trois\n     │ quatre cinq"


def test_only_the_last_line_end_changed() -> None:
    rows = diff_lines(DiffBlock("a", "x", "x\n"), Look(), EN)
    assert shown(rows) == "  only the end of the last line changes"


def test_file_contents_cannot_act_on_the_screen() -> None:
    assert "\x1b" not in shown(diff_lines(DiffBlock("a", "", "\x1b[2J\n"), Look(), EN))


@pytest.mark.parametrize(("added", "removed", "expected"), [(2, 1, "+2 −1"), (3, 0, "+3"), (0, 4, "−4"), (0, 0, "+0")])
def test_a_change_is_summed_up(added: int, removed: int, expected: str) -> None:
    assert stat(added, removed) == expected


@pytest.mark.parametrize("width", [1, 2, 5, 10, 20])
def test_no_row_is_wider_than_the_screen(width: int) -> None:
    shown(diff_lines(EDIT, Look(width=width), FR), width)


def test_big_files_are_compared_in_time() -> None:
    old = "".join(f"line {n}\n" for n in range(60_000))
    new = "".join(f"ligne {n}\n" for n in range(60_000))
    began = time.process_time()
    diff = compare(old, new)
    diff_lines(DiffBlock("a", old, old.replace("line 30000\n", "x\n")), Look(), FR)
    diff_lines(DiffBlock("a", "", "x" * 1_000_000), Look(), FR)
    assert (diff.added, diff.removed) == (60_000, 60_000)
    assert time.process_time() - began < 4


def test_a_part_of_a_long_file_keeps_its_line_numbers() -> None:
    rows = compare("a\nb\nc\n", "a\nB\nc\n", first_line=41).rows
    assert [(row.kind, row.number) for row in rows] == [("same", 41), ("old", 42), ("new", 42), ("same", 43)]
