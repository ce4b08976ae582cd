"""The banner (T2.01): the picture in half blocks, "Maia" in large letters in a rainbow, three lines."""

from __future__ import annotations

from base64 import b85decode
from typing import TYPE_CHECKING

from maia.terminal.banner_data import PIXELS_BASE85, SIZE
from maia.terminal.colours import RAINBOW, RAINBOW_BASIC, RAINBOW_BASIC_SHADOW, Look, Paint, Style
from maia.terminal.spans import EMPTY, Line, Span, clip_words, line

if TYPE_CHECKING:
    from maia.core.ports import Say

LETTERS = (
    "█▙ ▟█▖  ▟█▙▖  ▀█▀▘  ▟█▙▖",
    "█▜█▛█▌  █▄█▌   █▌   █▄█▌",
    "█▌▝ █▌  █▀█▌   █▌   █▀█▌",
    "▀▘  ▀▘  ▀ ▀▘  ▀▀▀▘  ▀ ▀▘",
)
_SHADOWS = "▌▘▖"
_LETTER_CELLS = 24
_GAP = 2
_FULL = SIZE + _GAP + _LETTER_CELLS
_COMPACT = 25
"""Columns from which there is the picture, and those from which there are the large letters."""
_SHADOW_LIGHT = 0.45


def banner_lines(look: Look, say: Say, version: str) -> list[Line]:
    """The rows of the banner for this width, colours and characters; nothing for a screen reader but one sentence.

    58 columns and truecolour: picture and letters. From 25 columns: letters. Below: the title in a double border.
    """
    if look.screen_reader:
        return [line(f"maia {version}")]
    if look.width < _COMPACT:
        return _boxed(look)
    has_picture = look.width >= _FULL and look.level == "true" and look.unicode
    letters = [_letters(row, look) for row in LETTERS]
    rows = _beside(_picture(), letters) if has_picture else letters
    return rows + _lines(look, say, version)


def _lines(look: Look, say: Say, version: str) -> list[Line]:
    """The three lines; one that does not fit is cut at a word."""
    words: tuple[tuple[str, Style], ...] = (
        (say("term.banner.tagline"), "tagline"),
        (say("term.banner.motto"), "motto"),
        (f"maia {version}", "credit"),
    )
    dots = look.text("…")
    return [line(Span(clip_words(look.text(text), look.width, dots), style)) for text, style in words]


def _boxed(look: Look) -> list[Line]:
    if look.width < 8:
        return [line(Span("Maia"[: look.width], "bold"))]
    inside = look.width - 2
    title = "Maia".center(inside)
    left = (inside - 4) // 2
    rows = ("╔" + "═" * inside + "╗", "║", "╚" + "═" * inside + "╝")
    edge = Span(look.text(rows[1]))
    middle = (edge, Span(title[:left]), Span("Maia", "bold"), Span(" " * (inside - left - 4)), edge)
    return [line(look.text(rows[0])), line(*middle), line(look.text(rows[2]))]


# Letters -----------------------------------------------------------------------------------------------------------


def _letters(row: str, look: Look) -> Line:
    if not look.unicode:
        return line("".join(" " if char in _SHADOWS else "#" if char != " " else char for char in row).rstrip())
    if look.plain:
        return line(row)
    return tuple(
        Span(char) if char == " " else Span(char, _hue(place, shadow=char in _SHADOWS))
        for place, char in enumerate(row)
    )


def _hue(column: int, *, shadow: bool) -> Paint:
    """The colour of a column of the letters; a shadow has the same hue at 45 % of its light."""
    along = column * (len(RAINBOW) - 1) / (_LETTER_CELLS - 1)
    first = min(int(along), len(RAINBOW) - 2)
    share = along - first
    light = _SHADOW_LIGHT if shadow else 1.0
    mixed = (round((a + (b - a) * share) * light) for a, b in zip(RAINBOW[first], RAINBOW[first + 1], strict=True))
    basic = (RAINBOW_BASIC_SHADOW if shadow else RAINBOW_BASIC)[round(along)]
    return Paint("#{:02X}{:02X}{:02X}".format(*mixed), basic=basic)


# Picture -----------------------------------------------------------------------------------------------------------


def _picture() -> list[Line]:
    """Two rows of pixels a row: the upper one is the foreground of ▀, the lower one its background."""
    data = b85decode(PIXELS_BASE85)
    return [
        tuple(_half_blocks(_pixel(data, x, y), _pixel(data, x, y + 1)) for x in range(SIZE)) for y in range(0, SIZE, 2)
    ]


def _pixel(data: bytes, x: int, y: int) -> str:
    """`#RRGGBB`, empty where the picture is transparent."""
    start = (y * SIZE + x) * 4
    return f"#{data[start : start + 3].hex().upper()}" if data[start + 3] >= 128 else ""


def _half_blocks(upper: str, lower: str) -> Span:
    if upper == lower:
        return Span("█", Paint(upper)) if upper else Span(" ")
    if not upper:
        return Span("▄", Paint(lower))
    return Span("▀", Paint(upper, lower))


def _beside(picture: list[Line], letters: list[Line]) -> list[Line]:
    """The letters to the right of the picture, centred on its height."""
    top = (len(picture) - len(letters)) // 2
    rows: list[Line] = []
    for place, row in enumerate(picture):
        letter = letters[place - top] if top <= place < top + len(letters) else EMPTY
        rows.append((*row, Span(" " * _GAP), *letter) if letter else row)
    return rows
