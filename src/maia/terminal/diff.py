"""A change of a file as rows: numbered lines with their sign, one line of context around each change (§9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Literal

from maia.terminal.colours import Look, Style
from maia.terminal.spans import Line, Span, clean, line, prefix, wrap

if TYPE_CHECKING:
    from maia.core.results import DiffBlock
    from maia.terminal.words import Words

MAX_ROWS = 40
_CONTEXT = 1
_MAX_LINE = 2_000
_MAX_COMPARED = 4_000_000
"""Pairs of lines that are compared at most; beyond it the changed middle counts as replaced whole."""


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One line of a diff. `number` is its line in the new text, or in the old one when it was removed."""

    kind: Literal["same", "old", "new", "gap"]
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class FileDiff:
    """All rows of a change with its totals. `end_only` says that only the end of the last line changed."""

    rows: tuple[DiffRow, ...]
    added: int
    removed: int
    end_only: bool = False


def compare(before: str, after: str, context: int = _CONTEXT, first_line: int = 1) -> FileDiff:
    """The rows between two texts that begin at `first_line` of the file.

    Only LF ends a line; a CR before it is not shown unless it is the change.
    """
    old, new = _lines(before), _lines(after)
    rows: list[DiffRow] = []
    added = removed = 0
    for place, hunk in enumerate(_hunks(old, new, context)):
        if place:
            rows.append(DiffRow("gap", 0, ""))
        for tag, old_from, old_to, new_from, new_to in hunk:
            taken, given = _shown(old[old_from:old_to], new[new_from:new_to])
            if tag == "equal":
                rows += [DiffRow("same", new_from + n + first_line, text) for n, text in enumerate(given)]
                continue
            rows += [DiffRow("old", old_from + n + first_line, text) for n, text in enumerate(taken)]
            rows += [DiffRow("new", new_from + n + first_line, text) for n, text in enumerate(given)]
            removed += len(taken)
            added += len(given)
    return FileDiff(tuple(rows), added, removed, end_only=not rows and before != after)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _shown(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    bare_old, bare_new = [text.removesuffix("\r") for text in old], [text.removesuffix("\r") for text in new]
    return (old, new) if bare_old == bare_new and old != new else (bare_old, bare_new)


_Opcode = tuple[str, int, int, int, int]


def _hunks(old: list[str], new: list[str], context: int) -> Iterator[list[_Opcode]]:
    """Groups of changes with their context. Equal heads and tails are skipped first: edits are small, files are not."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    start, end = max(0, head - context), max(0, tail - context)
    if head == len(old) == len(new):
        return
    middle_old, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    for group in _grouped(middle_old, middle_new, head - start, tail - end, context):
        yield [(tag, i + start, j + start, k + start, m + start) for tag, i, j, k, m in group]


def _grouped(old: list[str], new: list[str], head: int, tail: int, context: int) -> list[list[_Opcode]]:
    if (len(old) + 1) * (len(new) + 1) <= _MAX_COMPARED:
        return [list(group) for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(context)]
    n, m = len(old) - tail, len(new) - tail
    whole: list[_Opcode] = [
        ("equal", 0, head, 0, head),
        ("replace", head, n, head, m),
        ("equal", n, len(old), m, len(new)),
    ]
    return [[code for code in whole if code[1] < code[2] or code[3] < code[4]]]


# Drawing -----------------------------------------------------------------------------------------------------------

_SIGNS: dict[str, tuple[str, Style]] = {"same": (" ", "plain"), "old": ("−", "diff_old"), "new": ("+", "diff_new")}


def stat(added: int, removed: int) -> str:
    """`+2 −1`; a side that is 0 is left out when the other is not."""
    parts = [f"+{added}"] if added or not removed else []
    return " ".join([*parts, f"−{removed}"] if removed else parts)


def diff_lines(block: DiffBlock, look: Look, say: Words, *, max_rows: int | None = MAX_ROWS) -> list[Line]:
    """The rows of a change, `max_rows` screen rows at most, then how many lines more there are."""
    diff = compare(block.before, block.after, first_line=block.first_line)
    if diff.end_only:
        return wrap(line(Span("  " + look.text(say("term.diff.end_only")), "muted")), look.width)
    digits = max((len(str(row.number)) for row in diff.rows), default=1)
    shown: list[Line] = []
    for place, row in enumerate(diff.rows):
        pieces = _drawn(row, digits, look)
        if max_rows is not None and len(shown) + len(pieces) > max_rows:
            rest = sum(1 for left in diff.rows[place:] if left.kind != "gap")
            return shown + wrap(line(Span(look.text(say("term.diff.more", n=rest)), "muted")), look.width)
        shown += pieces
    return shown


def _drawn(row: DiffRow, digits: int, look: Look) -> list[Line]:
    if row.kind == "gap":
        return [line(Span(look.text("   " + "⋮".rjust(digits)), "muted"))]
    sign, style = _SIGNS[row.kind]
    text = row.text if len(row.text) <= _MAX_LINE else row.text[:_MAX_LINE] + "…"
    body = look.text(clean(text))
    gutter = look.text(f" {sign} {row.number:>{digits}} │")
    quiet: Style = "muted" if row.kind == "same" else style
    room = look.width - len(gutter) - 1
    if room < 8:
        return wrap(line(Span(gutter + " ", quiet), Span(body, style)), look.width)
    if not body:
        return [line(Span(gutter, quiet))]
    first = line(Span(gutter + " ", quiet))
    rest = line(Span(look.text(" " * (digits + 4) + "│ "), quiet))
    return prefix(wrap(line(Span(body, style)), room), first, rest)
