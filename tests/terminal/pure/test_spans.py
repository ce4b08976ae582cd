import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcwidth

from maia.terminal.spans import (
    Line,
    Span,
    cell_width,
    char_width,
    chop,
    clean,
    clean_row,
    clip,
    clip_words,
    cut_cells,
    line,
    spread,
    text_of,
    width_of,
    wrap,
    wrap_text,
)

CELLS = st.text(st.sampled_from("ab é漢🙂\u0301\u202f-"), max_size=60)
LINES = st.lists(CELLS, max_size=5).map(lambda parts: line(*(Span(part, "bold") for part in parts)))


@given(LINES, st.integers(2, 40))
def test_wrapped_rows_fit_and_lose_nothing_but_spaces(row: Line, width: int) -> None:
    rows = wrap(row, width)
    assert all(width_of(piece) <= width for piece in rows)
    assert "".join(map(text_of, rows)).replace(" ", "") == text_of(row).replace(" ", "")


@given(CELLS, st.integers(2, 20), st.integers(0, 20))
def test_chopped_pieces_fit_and_lose_nothing(text: str, width: int, first: int) -> None:
    first = min(first, width)
    pieces = chop(text, width, first)
    assert "".join(pieces) == text
    assert all(cell_width(piece) <= width for piece in pieces)
    assert cell_width(pieces[0]) <= max(first, 0) or first == width


@given(LINES, st.integers(0, 40))
def test_a_clipped_line_fits_and_begins_as_the_whole(row: Line, width: int) -> None:
    cut = clip(row, width)
    assert width_of(cut) <= width
    assert text_of(row).startswith(text_of(cut).removesuffix("…").rstrip(" "))


@given(CELLS, st.integers(0, 30))
def test_a_cut_text_is_complete_with_its_rest(text: str, cells: int) -> None:
    head, rest = cut_cells(text, cells)
    assert head + rest == text
    assert cell_width(head) <= cells


@given(st.characters(exclude_categories=("Cc", "Cs", "Cn")))
def test_widths_agree_with_the_terminal_tables(char: str) -> None:
    if char != "\ufe0f":
        assert char_width(char) == max(0, wcwidth(char))


@given(st.text(max_size=200))
def test_clean_text_cannot_act_on_the_screen(text: str) -> None:
    shown = clean(text)
    assert not any(ord(char) < 32 and char != "\n" for char in shown)
    assert not any(0x7F <= ord(char) < 0xA0 for char in shown)
    shown.encode("utf-8")
    assert "\n" not in clean_row(text)


def test_controls_and_direction_marks_are_visible() -> None:
    assert clean("a\x1b[31mb\x07") == "a␛[31mb␇"
    assert clean("x\u202ey") == "x<U+202E>y"
    assert clean("a\tb") == "a   b"
    assert clean_row("one\ntwo\n") == "one ⏎ two"
    assert clean("\ud800") == "?"


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("un deux trois", 8, ["un deux", "trois"]),
        ("un  deux", 3, ["un", "deu", "x"]),
        ("  retrait conservé", 12, ["  retrait", "conservé"]),
        ("mot", 3, ["mot"]),
        ("", 3, [""]),
        ("a\u202f: b", 3, ["a\u202f:", "b"]),
    ],
)
def test_text_breaks_at_words(text: str, width: int, expected: list[str]) -> None:
    assert [text_of(row) for row in wrap_text(text, width)] == expected


def test_styles_survive_a_break_inside_a_word() -> None:
    row = line(Span("abc", "bold"), Span("def", "italic"))
    assert wrap(row, 4) == [line(Span("abc", "bold"), Span("d", "italic")), line(Span("ef", "italic"))]


def test_two_ends_of_a_row_meet_the_edges() -> None:
    assert text_of(spread(line("left"), line("right"), 14)) == "left     right"
    assert text_of(spread(line("a long left side"), line("right"), 14)) == "a long…  right"
    assert text_of(spread(line("left"), line("right"), 6)) == "left"


def test_a_sentence_is_cut_at_a_word() -> None:
    assert clip_words("Assistant IA en ligne de commande", 25) == "Assistant IA en ligne de…"
    assert clip_words("Assistant", 5) == "Assi…"
    assert clip_words("Assistant", 20) == "Assistant"


@pytest.mark.parametrize("text", ["a" * 1_000_000, "漢" * 300_000, "ab " * 300_000], ids=["one word", "wide", "words"])
def test_a_line_of_a_million_characters_is_wrapped_in_linear_time(text: str) -> None:
    began = time.process_time()
    wrap_text(text, 80)
    assert time.process_time() - began < 5
