"""Styled text in rows that fit the screen: measured in cells, wrapped, clipped and aligned, without terminal codes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple, TypeAlias

from maia.core.text import visible
from maia.terminal.colours import Style

TAB_CELLS = 4


class Span(NamedTuple):
    """A run of text in one style; `href` is the address it leads to, for terminals that have links."""

    text: str
    style: Style = "plain"
    href: str = ""


Line: TypeAlias = tuple[Span, ...]
"""One row of the screen, without line end."""

EMPTY: Line = ()


def line(*parts: Span | str) -> Line:
    """A line from spans and plain strings; empty pieces are left out."""
    spans = (Span(part) if isinstance(part, str) else part for part in parts)
    return tuple(span for span in spans if span.text)


def text_of(row: Line) -> str:
    """The text of a line without its styles."""
    return "".join(span.text for span in row)


def clean(text: str) -> str:
    """Foreign text that can only be read: controls and direction marks visible, tabs as spaces, no lone surrogate."""
    shown = visible(text)
    if "\t" in shown:
        shown = shown.expandtabs(TAB_CELLS)
    return shown if shown.isascii() else shown.encode("utf-8", "replace").decode("utf-8")


def clean_row(text: str, limit: int = 2_000) -> str:
    """Foreign text on one row: line ends become ⏎, and only the first `limit` characters are looked at."""
    cut = text if len(text) <= limit else text[:limit] + "…"
    return " ⏎ ".join(part.strip() for part in clean(cut).strip("\n").split("\n"))


# Widths ------------------------------------------------------------------------------------------------------------


def cell_width(text: str) -> int:
    """How many cells `text` takes; no control characters are expected (see `clean`)."""
    if text.isascii():
        return len(text)
    return sum(map(char_width, text))


@cache
def char_width(char: str) -> int:
    """Cells of one character: 0, 1 or 2. A variation selector 16 counts 1, since it may make an emoji wide."""
    code = ord(char)
    if code < 0x300 or 0x2010 <= code < 0x2028 or code == 0x202F or 0x2030 <= code < 0x2060:
        return 1
    if 0x2190 <= code < 0x2300 or 0x2500 <= code < 0x25FD or 0x2800 <= code < 0x2900:
        return 1
    if code == 0xFE0F:
        return 1
    from wcwidth import wcwidth  # its tables cost 0.06 s of start-up and are rarely needed

    return max(0, wcwidth(char))


def width_of(row: Line) -> int:
    """Cells of a whole line."""
    return sum(cell_width(span.text) for span in row)


def cut_cells(text: str, cells: int) -> tuple[str, str]:
    """The longest head of at most `cells` cells, and the rest. Combining characters stay with their base."""
    if text.isascii():
        return text[:cells], text[cells:]
    used = 0
    for place, char in enumerate(text):
        used += char_width(char)
        if used > cells:
            return text[:place], text[place:]
    return text, ""


def chop(text: str, width: int, first: int | None = None) -> list[str]:
    """The text in pieces of at most `width` cells, the first of at most `first` (it may be empty); in linear time."""
    room = width if first is None else first
    if text.isascii():
        starts = [0, *range(room, len(text), width)] if len(text) > room else [0]
        return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    pieces: list[str] = []
    start = used = 0
    for place, char in enumerate(text):
        cells = char_width(char)
        if used + cells > room and (place > start or room < width):
            pieces.append(text[start:place])
            start, used, room = place, 0, width
        used += cells
    return [*pieces, text[start:]]


# Shapes ------------------------------------------------------------------------------------------------------------


def clip(row: Line, width: int, ellipsis: str = "…") -> Line:
    """The line cut to `width` cells, ending in `ellipsis` when something was left out."""
    if width_of(row) <= width:
        return row
    room = max(0, width - cell_width(ellipsis))
    kept: list[Span] = []
    for span in row:
        head, rest = cut_cells(span.text, room)
        room -= cell_width(head)
        if head:
            kept.append(span._replace(text=head))
        if rest:
            break
    if kept:
        kept[-1] = kept[-1]._replace(text=kept[-1].text.rstrip() + ellipsis[:width])
    elif width > 0:
        kept.append(Span(cut_cells(ellipsis, width)[0]))
    return tuple(kept)


def clip_words(text: str, width: int, ellipsis: str = "…") -> str:
    """`text` cut at a word where one fits, ending in `ellipsis` when something was left out."""
    if cell_width(text) <= width:
        return text
    head, rest = cut_cells(text, max(0, width - cell_width(ellipsis)))
    if not rest[:1].isspace() and " " in head.strip():
        head = head[: head.rindex(" ")]
    return (head.rstrip(" ,;:") + ellipsis) if width >= cell_width(ellipsis) else ""


def spread(left: Line, right: Line, width: int, gap: int = 2) -> Line:
    """`left` and `right` on one row, the right one ending on the last column. The left one is clipped to make room."""
    if not right:
        return clip(left, width)
    room = width - width_of(right)
    if room < gap + 1:
        return clip(left, width)
    head = clip(left, room - gap)
    return (*head, Span(" " * (room - width_of(head))), *right)


def prefix(rows: Iterable[Line], first: Line, rest: Line) -> list[Line]:
    """Rows with something in front: `first` before the first one, `rest` before the others."""
    return [((first if place == 0 else rest) + row) if row else row for place, row in enumerate(rows)]


def wrap(row: Line, width: int) -> list[Line]:
    """The line broken at spaces into rows of at most `width` cells; a word that is longer is broken anywhere.

    An empty line gives one empty row. Spaces at a break are dropped; those at the beginning are kept.
    """
    width = max(1, width)
    if width_of(row) <= width:
        return [row]
    rows: list[Line] = []
    current: list[Span] = []
    used = 0
    for word in _words(row):
        cells = width_of(word)
        if current and used + cells > width:
            rows.append(_without_trailing_space(current))
            current, used = [], 0
            if not text_of(word).strip(" "):
                continue
        if cells > width:
            *full, word = _broken(word, width)
            rows += full
            cells = width_of(word)
        current.extend(word)
        used += cells
    if current:
        rows.append(_without_trailing_space(current))
    return rows or [EMPTY]


def wrap_text(text: str, width: int, style: Style = "plain") -> list[Line]:
    """Every line of `text` (split at LF) wrapped in one style."""
    return [piece for part in text.split("\n") for piece in wrap(line(Span(part, style)), width)]


def _words(row: Line) -> Iterable[Line]:
    """Alternating runs of spaces and of other characters, which may cross spans."""
    current: list[Span] = []
    blank: bool | None = None
    for span in row:
        for piece, is_blank in _runs(span.text):
            if blank is not None and is_blank != blank:
                yield tuple(current)
                current = []
            current.append(span._replace(text=piece))
            blank = is_blank
    if current:
        yield tuple(current)


def _runs(text: str) -> Iterable[tuple[str, bool]]:
    start = 0
    while start < len(text):
        blank = text[start] == " "
        if blank:
            end = start + 1
            while end < len(text) and text[end] == " ":
                end += 1
        else:
            end = text.find(" ", start)
            end = len(text) if end < 0 else end
        yield text[start:end], blank
        start = end


def _broken(word: Line, width: int) -> list[Line]:
    """A word that is wider than a row, in pieces that fit; each holds at least one character."""
    rows: list[Line] = []
    current: list[Span] = []
    used = 0
    for span in word:
        for place, piece in enumerate(chop(span.text, width, width - used)):
            if place or (current and cell_width(piece) > width - used):
                rows.append(tuple(current))
                current, used = [], 0
            if piece:
                current.append(span._replace(text=piece))
                used += cell_width(piece)
    return [*rows, tuple(current)]


def _without_trailing_space(spans: list[Span]) -> Line:
    kept = list(spans)
    while kept and not kept[-1].text.strip(" "):
        kept.pop()
    if kept and kept[-1].text.endswith(" "):
        kept[-1] = kept[-1]._replace(text=kept[-1].text.rstrip(" "))
    return tuple(kept)
