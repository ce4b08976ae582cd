"""A change of a file as rows of a table: unified, with three lines around it, and the changed words marked."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

from maia.core.results import DiffBlock
from maia.core.text import visible

_AROUND = 3
MOST_LINES = 2_000
Kind: TypeAlias = Literal["same", "add", "del", "hunk"]


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line; `changed` where only it differs from the other side."""

    text: str
    changed: bool = False


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One line of the table; `old` and `new` are line numbers, None on the side where it is not."""

    kind: Kind
    old: int | None
    new: int | None
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The whole change. `left_out` counts rows beyond the limit."""

    path: str
    added: int
    removed: int
    rows: tuple[DiffRow, ...]
    left_out: int = 0


def file_diff(block: DiffBlock) -> FileDiff:
    """The rows of a change."""
    before, after = _lines(block.before), _lines(block.after)
    rows: list[DiffRow] = []
    added = removed = 0
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_AROUND):
        a, b = group[0][1] + block.first_line, group[0][3] + block.first_line
        size_a, size_b = group[-1][2] - group[0][1], group[-1][4] - group[0][3]
        rows.append(DiffRow("hunk", None, None, (Span(f"@@ −{a},{size_a} +{b},{size_b} @@"),)))
        for tag, a1, a2, b1, b2 in group:
            if tag == "equal":
                numbers = zip(range(a1, a2), range(b1, b2), strict=True)
                rows += [_row("same", x, y, before[x], block.first_line) for x, y in numbers]
                continue
            olds, news = before[a1:a2], after[b1:b2]
            removed, added = removed + len(olds), added + len(news)
            pairs = _marked(olds, news) if len(olds) == len(news) else None
            for n, text in enumerate(olds):
                spans = pairs[n][0] if pairs else (Span(visible(text)),)
                rows.append(DiffRow("del", a1 + n + block.first_line, None, spans))
            for n, text in enumerate(news):
                spans = pairs[n][1] if pairs else (Span(visible(text)),)
                rows.append(DiffRow("add", None, b1 + n + block.first_line, spans))
    return FileDiff(block.path, added, removed, tuple(rows[:MOST_LINES]), max(0, len(rows) - MOST_LINES))


def _lines(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _row(kind: Kind, old: int, new: int, text: str, first: int) -> DiffRow:
    return DiffRow(kind, old + first, new + first, (Span(visible(text)),))


def _marked(olds: list[str], news: list[str]) -> list[tuple[tuple[Span, ...], tuple[Span, ...]]]:
    """Lines that stand for each other, with what differs between them."""
    return [_pair(visible(old), visible(new)) for old, new in zip(olds, news, strict=True)]


def _pair(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if len(old) + len(new) > 1000 or matcher.quick_ratio() < 0.5:
        return (Span(old),), (Span(new),)
    left: list[Span] = []
    right: list[Span] = []
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if a2 > a1:
            left.append(Span(old[a1:a2], tag != "equal"))
        if b2 > b1:
            right.append(Span(new[b1:b2], tag != "equal"))
    return tuple(left), tuple(right)
