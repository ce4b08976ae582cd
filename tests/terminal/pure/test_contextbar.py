import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.i18n.catalogue import Catalogue
from maia.terminal.colours import Look
from maia.terminal.contextbar import Fill, context_bar, spoken, used_tokens, window_tokens
from maia.terminal.spans import Span, text_of, width_of
from tests.terminal.pure.frames import EN, FR

FRAMES = [
    ("23 %", 80, 45_700, 200_000, "                                        ■■■■■□□□□□□□□□□□□□□□  45.7k / 200k · 23%"),
    ("40 columns are exactly enough", 40, 45_700, 200_000, "■■■■■□□□□□□□□□□□□□□□  45.7k / 200k · 23%"),
    ("65 %", 80, 130_000, 200_000, "                                       ■■■■■■■■■■■■■□□□□□□□  130.0k / 200k · 65%"),
    ("90 %", 80, 180_000, 200_000, "                                       ■■■■■■■■■■■■■■■■■■□□  180.0k / 200k · 90%"),
    (
        "unknown maximum",
        80,
        45_700,
        None,
        "                                                                    ■■■■■  45.7k",
    ),
    ("98 %", 80, 195_600, 200_000, "                                       ■■■■■■■■■■■■■■■■■■■■  195.6k / 200k · 98%"),
    ("1M", 80, 460_000, 1_000_000, "  ■■■■■■■■■■■■■■■■■■■■■■■□□□□□□□□□□□□□□□□□□□□□□□□□□□  460k / 1M · 46% (1■ = 20k)"),
    ("1M in 40 columns", 40, 460_000, 1_000_000, "■■■■■■□□□□□□  460k / 1M · 46% (1■ = 90k)"),
    ("empty", 40, 0, 200_000, "     □□□□□□□□□□□□□□□□□□□□  0 / 200k · 0%"),
    ("beyond the window", 80, 250_000, 200_000, " " * 38 + "■■■■■■■■■■■■■■■■■■■■  250.0k / 200k · 125%"),
    ("39 columns: the percentage alone", 39, 45_700, 200_000, "              ■■■■■□□□□□□□□□□□□□□□  23%"),
    ("25 columns", 25, 45_700, 200_000, "■■■■■□□□□□□□□□□□□□□□  23%"),
    ("24 columns: no squares", 24, 45_700, 200_000, "                     23%"),
    ("20 columns", 20, 45_700, 200_000, "                 23%"),
    ("unknown in 20 columns", 20, 45_700, None, "               45.7k"),
    ("no room at all", 2, 45_700, 200_000, ""),
]


@pytest.mark.parametrize(("width", "tokens", "window", "expected"), [f[1:] for f in FRAMES], ids=[f[0] for f in FRAMES])
def test_the_bar_is_drawn_as_specified(
    say: Catalogue, width: int, tokens: int, window: int | None, expected: str
) -> None:
    assert text_of(context_bar(Fill(tokens, window), Look(width=width), say)) == expected


@pytest.mark.parametrize(
    ("tokens", "style"),
    [
        (0, "bar_low"),
        (119_999, "bar_low"),
        (120_000, "bar_mid"),
        (169_999, "bar_mid"),
        (170_000, "bar_high"),
        (300_000, "bar_high"),
    ],
)
def test_the_level_changes_at_60_and_85_per_cent(tokens: int, style: str) -> None:
    assert Fill(tokens, 200_000).style == style


def test_used_squares_have_the_colour_of_the_level_and_free_ones_are_grey() -> None:
    row = context_bar(Fill(130_000, 200_000), Look(width=80), FR)
    assert row[1:] == (Span("■" * 13, "bar_mid"), Span("□" * 7, "bar_rest"), Span("  130.0k / 200k · 65%"))


def test_an_unknown_maximum_is_green_however_much_is_used() -> None:
    assert Fill(900_000).style == "bar_low"
    assert Fill(900_000).percent is None


@given(st.integers(0, 3_000_000), st.none() | st.integers(1, 3_000_000), st.integers(1, 200), st.booleans())
def test_the_bar_always_fits_and_its_squares_match_its_label(
    tokens: int, window: int | None, width: int, plain: bool
) -> None:
    look = Look(width=width, level="none" if plain else "true")
    row = text_of(context_bar(Fill(tokens, window), look, FR))
    assert len(row) in (0, width)
    squares = row.count("■") + row.count("□") - row.count("(1■")
    if squares and width >= 40:
        scale = _scale(row)
        assert squares == -(-(window or tokens) // scale)
        assert row.count("■") - row.count("(1■") == min(-(-tokens // scale), squares)
        if scale > 10_000:
            label = row.lstrip().lstrip("■□")
            smaller = -(-(window or tokens) // (scale - 10_000))
            shorter = window_tokens(scale - 10_000) if scale > 20_000 else None
            spare = len(f"(1■ = {window_tokens(scale)})") - len(f"(1■ = {shorter})") if shorter else len(" (1■ = 20k)")
            assert smaller + len(label) - spare > width


def _scale(row: str) -> int:
    if "(1■ = " not in row:
        return 10_000
    word = row.partition("(1■ = ")[2].removesuffix(")")
    return round(float(word[:-1]) * (1_000_000 if word[-1] == "M" else 1_000))


@pytest.mark.parametrize(
    ("say", "tokens", "expected"),
    [
        (FR, 100_000, "100.0k / 200k · 50%"),
        (FR, 130_000, "130.0k / 200k · 65% (attention)"),
        (FR, 180_000, "180.0k / 200k · 90% (presque plein)"),
        (EN, 130_000, "130.0k / 200k · 65% (warning)"),
        (EN, 180_000, "180.0k / 200k · 90% (almost full)"),
    ],
)
def test_without_colour_a_word_says_the_level(say: Catalogue, tokens: int, expected: str) -> None:
    row = text_of(context_bar(Fill(tokens, 200_000), Look(level="none"), say))
    assert row.endswith("  " + expected)


def test_without_unicode_the_squares_are_ascii() -> None:
    row = text_of(context_bar(Fill(130_000, 200_000), Look(unicode=False), FR))
    assert row.isascii()
    assert row.strip() == "#############-------  130.0k / 200k - 65%"
    assert text_of(context_bar(Fill(460_000, 10**6), Look(unicode=False), FR)).endswith("(1# = 20k)")


@pytest.mark.parametrize(
    ("tokens", "window", "expected"),
    [
        (0, None, "0"),
        (850, None, "850"),
        (1_000, None, "1.0k"),
        (45_700, 200_000, "45.7k"),
        (195_649, 200_000, "195.6k"),
        (460_400, 1_000_000, "460k"),
        (999_949, None, "999.9k"),
        (999_950, None, "1.0M"),
        (1_234_567, 2_000_000, "1.2M"),
    ],
)
def test_used_tokens_are_short(tokens: int, window: int | None, expected: str) -> None:
    assert used_tokens(tokens, window) == expected


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [(999, "999"), (200_000, "200k"), (131_072, "131.1k"), (1_000_000, "1M"), (1_048_576, "1M"), (1_500_000, "1.5M")],
)
def test_a_window_is_written_without_a_zero_after_the_point(tokens: int, expected: str) -> None:
    assert window_tokens(tokens) == expected


def test_a_screen_reader_hears_a_sentence_and_sees_no_squares() -> None:
    assert context_bar(Fill(45_700, 200_000), Look(screen_reader=True), FR) == ()
    assert spoken(Fill(45_700, 200_000), FR) == "Contexte\u202f: 23 pour cent, 45,7\u00a0k sur 200\u00a0k."
    assert spoken(Fill(45_700, 200_000), EN) == "Context: 23 per cent, 45.7\u00a0k of 200\u00a0k."
    assert spoken(Fill(45_700), FR) == "Contexte\u202f: 45,7\u00a0k, maximum inconnu."


def test_before_the_first_count_the_row_is_empty() -> None:
    assert context_bar(None, Look(), FR) == ()
    assert width_of(context_bar(Fill(1), Look(width=1), FR)) <= 1
