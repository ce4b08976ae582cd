from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.i18n.catalogue import Catalogue
from maia.terminal.colours import Look
from maia.terminal.input import Editor
from maia.terminal.painter import row_cells
from maia.terminal.spans import Span, line, text_of
from maia.terminal.zones import Zone, wrap_typed

FR, EN = Catalogue("fr", strict=True), Catalogue("en", strict=True)


def bare(width: int) -> Look:
    return Look(width=width, level="none")


def typed(text: str, *, cursor: int | None = None) -> Editor:
    editor = Editor()
    editor.set(text, cursor)
    return editor


HINTS = [
    (80, FR, False, "▹▹▹▹▹ Écrivez une demande, / pour les commandes"),
    (40, FR, False, "▹▹▹▹▹ Écrivez une demande"),
    (39, FR, False, "▹▹▹▹▹ "),
    (80, FR, True, "▹▹▹▹▹ Traitement en cours — Ctrl+C : interrompre"),
    (40, FR, True, "▹▹▹▹▹ Ctrl+C : interrompre"),
    (80, EN, False, "▹▹▹▹▹ Write a request, / for commands"),
    (80, EN, True, "▹▹▹▹▹ Working — Ctrl+C: interrupt"),
]


@pytest.mark.parametrize(("width", "say", "working", "row"), HINTS)
def test_the_hint_fits_the_width(width: int, say: Catalogue, working: bool, row: str) -> None:
    zone = Zone()
    zone.working = working
    frame = zone.frame(Editor(), bare(width), say)
    assert [shown.replace("\u202f", " ") for shown in frame.fixed] == ["", "┈" * width, row, "┈" * width, ""]
    assert frame.cursor == (2, 6)


def test_spinners_turn_with_the_ticks_and_stand_while_idle() -> None:
    zone = Zone()
    zone.thinking = zone.working = True
    zone.status = line(Span("En réflexion…"))
    shown: list[tuple[str, str]] = []
    for zone.tick in range(3):
        frame = zone.frame(Editor(), bare(80), FR)
        shown.append((frame.fixed[0], frame.fixed[2][:5]))
    assert shown == [
        ("⢄⢂ En réflexion…", "▹▹▹▹▹"),
        ("⢂⢁ En réflexion…", "▸▹▹▹▹"),
        ("⢁⡁ En réflexion…", "▸▸▹▹▹"),
    ]
    zone.working = False
    assert zone.frame(Editor(), bare(80), FR).fixed[2].startswith("▹▹▹▹▹")


def test_the_status_row_is_there_before_it_is_needed() -> None:
    zone = Zone()
    idle = zone.frame(Editor(), bare(80), FR)
    zone.status = line(Span("En réflexion…"))
    assert len(zone.frame(Editor(), bare(80), FR).fixed) == len(idle.fixed)


CURSORS = [
    ("at the end", "abc", 3, 20, (0, 3)),
    ("after a line feed", "a\n", 2, 20, (1, 0)),
    ("on a full row it goes to the next", "abcdefghij", 10, 10, (1, 0)),
    ("in the second row", "abcdefghijkl", 11, 10, (1, 1)),
    ("wide characters", "日本語", 2, 20, (0, 4)),
    ("a wide character does not fit the last cell", "a日日", 3, 4, (1, 2)),
    ("combining mark", "e\u0301x", 2, 20, (0, 1)),
    ("tab is one cell", "\tx", 1, 20, (0, 1)),
    ("control characters are seen", "\x1bx", 1, 20, (0, 1)),
]


@pytest.mark.parametrize(
    ("text", "cursor", "width", "spot"), [case[1:] for case in CURSORS], ids=[case[0] for case in CURSORS]
)
def test_the_cursor_stands_where_its_character_is(text: str, cursor: int, width: int, spot: tuple[int, int]) -> None:
    assert wrap_typed(typed(text, cursor=cursor), width, bare(80), FR)[1] == spot


def test_eight_rows_at_most_follow_the_cursor() -> None:
    text = "\n".join(f"row {place}" for place in range(30))
    frame = Zone().frame(typed(text, cursor=0), bare(80), FR)
    assert len(frame.fixed) == 12
    assert frame.fixed[2].endswith("row 0")
    frame = Zone().frame(typed(text), bare(80), FR)
    assert frame.fixed[9].endswith("row 29")
    assert frame.cursor == (9, 12)


def test_waiting_lines_are_shown_with_how_to_take_them_back() -> None:
    zone = Zone()
    zone.queue = [f"line {place}\nsecond" for place in range(5)]
    rows = [row.replace("\u202f", " ") for row in zone.frame(Editor(), bare(80), FR).fixed[:5]]
    assert rows == [
        "  … 2 autres en attente",
        "❯ line 2 ⏎ second",
        "❯ line 3 ⏎ second",
        "❯ line 4 ⏎ second",
        "  en attente — Échap : reprendre",
    ]


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    st.integers(1, 60),
    st.integers(0, 200),
)
def test_no_row_is_wider_than_the_screen_and_the_cursor_is_in_it(text: str, width: int, cursor: int) -> None:
    editor = typed(text, cursor=min(cursor, len(text)))
    zone = Zone()
    zone.status, zone.bar = line(Span("status " * 20)), line(Span("bar" * 40))
    zone.queue, zone.tail, zone.menu = [text], [line(Span("tail" * 40))], [line(Span("menu" * 40))]
    frame = zone.frame(editor, bare(width), FR)
    rows = [*frame.fixed, *frame.tail, *frame.cover]
    assert all("\n" not in row for row in rows)
    if width >= 12:
        assert all(row_cells(row) <= width for row in rows)
    assert frame.cursor is not None
    row, column = frame.cursor
    assert 0 <= row < len(frame.fixed)
    assert column >= 0


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp"]), max_size=120), st.integers(8, 40))
def test_wrapping_keeps_every_character(text: str, width: int) -> None:
    rows, _ = wrap_typed(typed(text), width, bare(80), FR)
    assert "".join(text_of(row) for row in rows) == text
