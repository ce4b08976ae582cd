"""Styled text in rows that fit the screen: measured in cells, wrapped, clipped and aligned, without terminal codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import accumulate, pairwise
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
    if is_narrow(text):
        return len(text)
    return sum(map(char_width, text))


_NARROW = re.compile("[ -\u02ff\u2010-\u2027\u202f-\u205f\u2190-\u22ff\u2500-\u25fc\u2800-\u28ff]*")
"""Blocks in which every character takes one cell (a test compares them with the tables of wcwidth)."""


def is_narrow(text: str) -> bool:
    """Whether every character is known to take one cell; False where it is not known at once."""
    return text.isascii() or _NARROW.fullmatch(text) is not None


@cache
def char_width(char: str) -> int:
    """Cells of one character: 0, 1 or 2. A variation selector 16 counts 1, since it may make an emoji wide."""
    if char == "\ufe0f" or is_narrow(char):
        return 1
    from wcwidth import wcwidth  # its tables cost 0.06 s of start-up and are rarely needed

    return max(0, wcwidth(char))


def width_of(row: Line) -> int:
    """Cells of a whole line."""
    return sum(cell_width(span.text) for span in row)


def cut_cells(text: str, cells: int) -> tuple[str, str]:
    """The longest head of at most `cells` cells, and the rest. Combining characters stay with their base."""
    if is_narrow(text):
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
    if is_narrow(text):
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
    text = text_of(row)
    return list(_sliced(row, _breaks(text, width) if is_narrow(text) else _wide_breaks(text, width)))


def wrap_text(text: str, width: int, style: Style = "plain") -> list[Line]:
    """Every line of `text` (split at LF) wrapped in one style."""
    return [piece for part in text.split("\n") for piece in wrap(line(Span(part, style)), width)]


def chop_line(row: Line, width: int) -> list[Line]:
    """The line broken at the edge, never at words (code); an empty line gives one empty row."""
    ends = list(accumulate(len(piece) for piece in chop(text_of(row), max(1, width))))
    return list(_sliced(row, pairwise([0, *ends]))) if row else [EMPTY]


def _breaks(text: str, width: int) -> Iterator[tuple[int, int]]:
    """Where the rows begin and end, for text of narrow characters."""
    start = 0
    while len(text) - start > width:
        end = text.rfind(" ", start, start + width + 1)
        if end < 0 or not text[start:end].strip(" "):
            yield start, start + width
            start += width
            continue
        yield start, start + len(text[start:end].rstrip(" "))
        start = _after_blanks(text, end)
    if start < len(text):
        yield start, len(text)


def _wide_breaks(text: str, width: int) -> Iterator[tuple[int, int]]:
    """The same for text with characters of no or two cells."""
    start = used = 0
    space = -1
    place = 0
    while place < len(text):
        char = text[place]
        cells = char_width(char)
        if used + cells > width and place > start:
            if char == " ":
                space = place
            if space > start and text[start:space].strip(" "):
                yield start, start + len(text[start:space].rstrip(" "))
                start = _after_blanks(text, space)
            else:
                yield start, place
                start = place
            place, used, space = start, 0, -1
            continue
        if char == " ":
            space = place
        used += cells
        place += 1
    if start < len(text):
        yield start, len(text)


def _after_blanks(text: str, place: int) -> int:
    while place < len(text) and text[place] == " ":
        place += 1
    return place


def _sliced(row: Line, ranges: Iterable[tuple[int, int]]) -> Iterator[Line]:
    """The pieces of a line between positions of its text, in order and apart."""
    spans = iter(row)
    span, offset = next(spans), 0
    for start, end in ranges:
        pieces: list[Span] = []
        while True:
            text = span.text[max(0, start - offset) : end - offset]
            if text:
                pieces.append(span._replace(text=text))
            if end <= offset + len(span.text):
                break
            offset += len(span.text)
            span = next(spans)
        yield tuple(pieces)
