"""The zone at the bottom as rows: waiting lines, status, dotted borders, input, context bar; pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from maia.terminal.colours import Look, Style, to_ansi
from maia.terminal.input import Editor, is_placeholder
from maia.terminal.painter import Frame
from maia.terminal.spans import EMPTY, Line, Span, cell_width, clean, clean_row, clip, line

if TYPE_CHECKING:
    from maia.terminal.words import Words

INPUT_ROWS = 8
TAIL_ROWS = 12
QUEUE_ROWS = 3
LEAD = 6
"""Cells of the spinner and the space after it; further rows of the input are indented as much."""

ARROW3 = ("▹▹▹▹▹", "▸▹▹▹▹", "▸▸▹▹▹", "▸▸▸▹▹", "▸▸▸▸▹", "▸▸▸▸▸")
DOTS10 = ("⢄⢂", "⢂⢁", "⢁⡁", "⡁⡈", "⡈⡐", "⡐⡠", "⡠⢄")


class Zone:
    """Everything that the zone shows, as plain values; `frame` draws it. `tick` moves the spinners.

    `question` replaces the input's rows, with no cursor unless `question_cursor` says where. `note` is a sentence that
    takes the place of the hint for a while; `typing` is another editor with its hint (the search in a list). `title`
    stands in the window's frame or the tab.
    """

    def __init__(self) -> None:
        self.status: Line = EMPTY
        self.working = False
        self.thinking = False
        self.tick = 0
        self.note = ""
        self.bar: Line = EMPTY
        self.tail: Sequence[Line] = ()
        self.queue: Sequence[str] = ()
        self.menu: Sequence[Line] = ()
        self.question: Sequence[Line] | None = None
        self.question_cursor: tuple[int, int] | None = None
        self.typing: tuple[Editor, str] | None = None
        self.title = ""

    def frame(self, editor: Editor, look: Look, say: Words, height: int = 24) -> Frame:
        """The rows for this width; on a screen of few rows the input gets fewer, and border and bar stay."""
        border = line(Span(look.text("┈") * look.width, "border"))
        queue = queue_rows(self.queue, look, say)
        most = max(1, min(INPUT_ROWS, height - 5 - len(queue)))
        rows, cursor = self._input(editor, look, say, most)
        status = self.status
        if self.thinking and status:
            status = (Span(look.text(DOTS10[self.tick % len(DOTS10)]) + " ", "status"), *status)
        lines = [*queue, status, border, *rows, border, self.bar]
        tail = [*self.tail, EMPTY] if self.tail or status else []
        drawn = [[to_ansi(clip(row, look.width), look) for row in part] for part in (lines, tail, self.menu)]
        spot = (cursor[0] + 2 + len(queue), cursor[1]) if cursor else None
        return Frame(drawn[0], spot, drawn[1], drawn[2], look.text(self.title))

    def _input(self, editor: Editor, look: Look, say: Words, most: int) -> tuple[list[Line], tuple[int, int] | None]:
        if self.question is not None:
            return list(self.question), self.question_cursor
        lead = Span(look.text(ARROW3[self.tick % len(ARROW3) if self.working else 0]) + " ", "spinner")
        hint = self.note or hint_for(look, say, working=self.working)
        if self.typing is not None:
            editor, hint = self.typing
        if not editor.text:
            return [line(lead, Span(hint, "working"))], (0, LEAD)
        return typed_rows(editor, look, say, lead, most)


def hint_for(look: Look, say: Words, *, working: bool) -> str:
    """The greyed words of an empty input: whole, short, or none below 40 columns (§15 of the frames)."""
    if look.width < 40:
        return ""
    key = "screen.working" if working else "screen.hint"
    whole = look.text(say(key))
    return whole if LEAD + cell_width(whole) <= look.width else look.text(say(key + ".short"))


def typed_rows(
    editor: Editor, look: Look, say: Words, lead: Span, most: int = INPUT_ROWS
) -> tuple[list[Line], tuple[int, int]]:
    """The editor's text wrapped beside the spinner, at most `most` rows around the cursor, and where the cursor is."""
    rows, (row, column) = wrap_typed(editor, max(2, look.width - LEAD), look, say)
    first = min(max(0, row - most + 1), max(0, len(rows) - most))
    if row < first:
        first = row
    shown = rows[first : first + most]
    lines = [(lead if place == 0 else Span(" " * LEAD), *shown_row) for place, shown_row in enumerate(shown)]
    return lines, (row - first, column + LEAD)


def wrap_typed(editor: Editor, width: int, look: Look, say: Words) -> tuple[list[Line], tuple[int, int]]:
    """All rows of the text at `width` cells, and the cursor's row and column among them."""
    rows: list[Line] = []
    spot = (0, 0)
    start = 0
    for text in editor.text.split("\n"):
        end = start + len(text)
        inside = start <= editor.cursor <= end
        labels = tuple(paste_label(editor.paste_of(char), look, say) for char in text if is_placeholder(char))
        pieces = _wrapped(text, labels, width)
        if inside:
            row, column = _place(pieces, editor.cursor - start)
            if column >= width:
                pieces = [*pieces, ((), (len(text),), 0)] if row == len(pieces) - 1 else pieces
                row, column = row + 1, 0
            spot = (len(rows) + row, column)
        rows += [piece[0] for piece in pieces]
        start = end + 1
    return rows, spot


def paste_label(pasted: str, look: Look, say: Words) -> str:
    """What stands for a big paste: `[collé : 120 lignes]`."""
    lines = pasted.removesuffix("\n").count("\n") + 1
    label = say("screen.pasted", n=lines) if lines > 1 else say("screen.pasted.chars", n=len(pasted))
    return look.text(label)


_Piece = tuple[Line, tuple[int, ...], int]
"""A row, the offset in the text of each of its characters, and its cells."""


def _place(pieces: Sequence[_Piece], offset: int) -> tuple[int, int]:
    """Row and column of the character at `offset` of a wrapped line, or of its end."""
    for row, (spans, offsets, _) in enumerate(pieces):
        last = row == len(pieces) - 1
        if offset in offsets or last:
            before = offsets.index(offset) if offset in offsets else len(offsets)
            cells = [cell_width(text) for span in spans for text in _atoms(span)]
            return row, sum(cells[:before])
    return 0, 0


def _atoms(span: Span) -> Sequence[str]:
    """The pieces of a span that the cursor moves over: characters, or a placeholder as a whole."""
    return (span.text,) if span.style == "code" else span.text


@lru_cache(maxsize=256)
def _wrapped(text: str, labels: tuple[str, ...], width: int) -> list[_Piece]:
    """One line in rows. Tabs and control characters become one visible character, so that places stay simple."""
    pieces: list[_Piece] = []
    spans: list[Span] = []
    offsets: list[int] = []
    cells = 0
    pasted = iter(labels)
    for offset, char in enumerate(text):
        style: Style = "code" if is_placeholder(char) else "plain"
        shown = next(pasted)[:width] if style == "code" else _one(char)
        wide = cell_width(shown)
        if cells + wide > width:
            pieces.append((tuple(spans), tuple(offsets), cells))
            spans, offsets, cells = [], [], 0
        if spans and style == "plain" and spans[-1].style == "plain":
            spans[-1] = Span(spans[-1].text + shown)
        else:
            spans.append(Span(shown, style))
        offsets.append(offset)
        cells += wide
    pieces.append((tuple(spans), tuple(offsets), cells))
    return pieces


def _one(char: str) -> str:
    if char == "\t":
        return " "
    shown = char if " " <= char < "\x7f" else clean(char)
    return shown if len(shown) == 1 else "·"


def queue_rows(queue: Sequence[str], look: Look, say: Words) -> list[Line]:
    """What waits to be sent: a row each, the last `QUEUE_ROWS`, with how to take the last one back."""
    if not queue:
        return []
    rows: list[Line] = []
    if len(queue) > QUEUE_ROWS:
        rows.append(line(Span(look.text("  " + say("screen.queue.more", n=len(queue) - QUEUE_ROWS)), "muted")))
    shown = (look.text("❯ " + clean_row(text, 400)) for text in queue[-QUEUE_ROWS:])
    rows += [clip(line(Span(text, "muted")), look.width) for text in shown]
    hint = look.text(say("screen.queue.hint"))
    if cell_width(hint) + 2 <= look.width:
        rows.append(line(Span("  " + hint, "muted")))
    return rows
