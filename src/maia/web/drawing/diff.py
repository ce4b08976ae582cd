"""A change of a file as rows of a table: unified, with three lines around it, and the changed words marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice, takewhile
from typing import Final, Literal, TypeAlias

from maia.core.results import DiffBlock
from maia.core.text import visible

_AROUND = 3
MOST_LINES = 2_000
_MOST_PAIRS: Final = 50_000
"""Pairs of equal lines that are weighed against each other: a change of very many alike is shown as a whole instead."""
_MOST_LETTERS: Final = 100_000
"""Pairs of equal letters that are weighed in all lines of a change; what comes after them is marked as a whole line."""
_LONGEST_PAIR: Final = 1_000
"""Characters of a line, before and after, in which changed words are looked for."""
Kind: TypeAlias = Literal["same", "add", "del", "hunk"]
_Group: TypeAlias = Sequence[tuple[str, int, int, int, int]]
"""Changes near each other with the lines around them: what each is, and from where to where on both sides."""


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


@lru_cache(maxsize=64)
def file_diff(block: DiffBlock) -> FileDiff:
    """The rows of a change. They are asked for again with each drawing of their turn."""
    before, after, first = _apart(_lines(block.before), _lines(block.after), block.first_line)
    groups = [*_groups(before, after)]
    changes = [each for group in groups for each in group if each[0] != "equal"]
    removed, added = sum(a2 - a1 for _, a1, a2, _, _ in changes), sum(b2 - b1 for *_, b1, b2 in changes)
    same = sum(a2 - a1 for group in groups for tag, a1, a2, _, _ in group if tag == "equal")
    rows = tuple(islice(_rows(groups, before, after, first), MOST_LINES))
    return FileDiff(block.path, added, removed, rows, len(groups) + same + removed + added - len(rows))


def _apart(before: list[str], after: list[str], first: int) -> tuple[list[str], list[str], int]:
    """Both texts from a little before the first difference to a little after the last, and their first number."""
    head = sum(1 for _ in takewhile(_is_same, zip(before, after, strict=False)))
    least = min(len(before), len(after)) - head
    ends = zip(reversed(before), reversed(after), strict=False)
    tail = sum(1 for _ in takewhile(_is_same, islice(ends, least)))
    begin, end = max(0, head - 2 * _AROUND), max(0, tail - 2 * _AROUND)  # equal lines may be told apart in two ways
    return before[begin : len(before) - end], after[begin : len(after) - end], first + begin


def _is_same(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


def _rows(groups: Sequence[_Group], before: list[str], after: list[str], first: int) -> Iterator[DiffRow]:
    marks = _Marks()
    for group in groups:
        a, b = group[0][1] + first, group[0][3] + first
        size_a, size_b = group[-1][2] - group[0][1], group[-1][4] - group[0][3]
        yield DiffRow("hunk", None, None, (Span(f"@@ −{a},{size_a} +{b},{size_b} @@"),))
        for tag, a1, a2, b1, b2 in group:
            if tag == "equal":
                for x, y in zip(range(a1, a2), range(b1, b2), strict=True):
                    yield DiffRow("same", x + first, y + first, (Span(visible(before[x])),))
                continue
            olds, news = before[a1:a2], after[b1:b2]
            pairs = marks.of(olds, news) if len(olds) == len(news) else None
            for n, text in enumerate(olds):
                yield DiffRow("del", a1 + n + first, None, pairs[n][0] if pairs else (Span(visible(text)),))
            for n, text in enumerate(news):
                yield DiffRow("add", None, b1 + n + first, pairs[n][1] if pairs else (Span(visible(text)),))


def _lines(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _work(before: Sequence[str], after: Sequence[str], *, minds_frequent: bool = True) -> int:
    """How many pairs of equal items are weighed at the first look; each that follows takes as many at most.

    What is frequent is the rule of difflib: more than one in a hundred, among two hundred or more.
    """
    counts = Counter(after)
    most = len(after) if minds_frequent or len(after) < 200 else len(after) // 100 + 1
    return sum(n for each in before if (n := counts[each]) <= most)


def _groups(before: list[str], after: list[str]) -> Iterator[_Group]:
    """What changed, with lines around it: to the line, else without minding frequent lines, else as one change."""
    for minds_frequent in (True, False):
        if _work(before, after, minds_frequent=minds_frequent) <= _MOST_PAIRS:
            matcher = SequenceMatcher(None, before, after, autojunk=not minds_frequent)
            yield from matcher.get_grouped_opcodes(_AROUND)
            return
    yield [("replace", 0, len(before), 0, len(after))]


class _Marks:
    """Finds the changed words in lines that stand for each other, as long as that takes no longer than it is worth."""

    def __init__(self) -> None:
        self._left = _MOST_LETTERS

    def of(self, olds: list[str], news: list[str]) -> list[tuple[tuple[Span, ...], tuple[Span, ...]]]:
        """Both sides of each line."""
        return [self._pair(visible(old), visible(new)) for old, new in zip(olds, news, strict=True)]

    def _pair(self, old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
        whole = (Span(old),), (Span(new),)
        if len(old) + len(new) > _LONGEST_PAIR or self._left <= 0:
            return whole
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        self._left -= _work(old, new)
        if self._left <= 0 or matcher.quick_ratio() < 0.5:
            return whole
        left: list[Span] = []
        right: list[Span] = []
        for tag, a1, a2, b1, b2 in matcher.get_opcodes():
            if a2 > a1:
                left.append(Span(old[a1:a2], tag != "equal"))
            if b2 > b1:
                right.append(Span(new[b1:b2], tag != "equal"))
        return tuple(left), tuple(right)
