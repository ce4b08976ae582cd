"""Finds the span of a text that an edit means, and carries the edit over to the characters that stand there.

Exact first. Then folded, line by line: NBSP, typographic quotes, dashes, trailing spaces, then tabs shown as spaces. A
folded match only locates; what the edit leaves unchanged keeps the file's own characters (decisions §12; pi replaces in
the normalised whole file, which silently changes quotes and spaces elsewhere).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from typing import Final

from maia.core.filetext import Change, line_changes, shared_start, split_lines

MAX_FOLDED_CHARS: Final = 4_000_000
"""Longer texts are matched exactly only."""
_MAX_NEAR_LINES: Final = 3_000

_FOLDS: Final = {
    **dict.fromkeys(
        map(ord, "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000"), " "
    ),
    **dict.fromkeys(map(ord, "‘’‚‛′"), "'"),
    **dict.fromkeys(map(ord, "“”„‟″"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    ord("…"): "...",
}
_TAB_WIDTHS: Final = (0, 4, 2, 8, 3)
"""0 leaves tabs alone; the others are how wide a model may have taken a leading tab to be."""

_NUMBERED: Final = re.compile(r" *\d+(?:\t|→)")


@dataclass(frozen=True, slots=True)
class Match:
    """Where the old text of an edit stands: `[start, end)` in the LF view. `tab_width` is None for an exact match."""

    start: int
    end: int
    tab_width: int | None = None


@dataclass(frozen=True, slots=True)
class Near:
    """A place that is nearly meant: the line, from 1, what stands there, and what was expected there, if known."""

    line: int
    text: str
    expected: str | None = None


def locate(text: str, old: str) -> list[Match]:
    """Every place where `old` stands in `text`, exact ones only when there are any; they may overlap."""
    if exact := [Match(start, start + len(old)) for start in _finds(text, old)]:
        return exact
    if len(text) > MAX_FOLDED_CHARS or not old.strip():
        return []
    for width in _TAB_WIDTHS:
        if found := list(_folded_finds(text, old, width)):
            return found
    return []


def without_numbers(old: str, new: str) -> tuple[str, str] | None:
    """Both texts without the line numbers that Read shows, when every line of `old` begins with one."""
    lines = split_lines(old)
    if not lines or not all(_NUMBERED.match(line) for line in lines):
        return None
    return _unnumbered(old), _unnumbered(new)


def _unnumbered(text: str) -> str:
    return "".join(_NUMBERED.sub("", line, count=1) for line in split_lines(text))


def edit_changes(text: str, match: Match, old: str, new: str) -> list[Change]:
    """What to change in `text` so that `new` stands where `old` was found, and nothing that both have in common."""
    found = text[match.start : match.end]
    wanted = new if match.tab_width is None else _carried(found, old, new, match.tab_width)
    return [
        Change(match.start + change.start, match.start + change.end, change.text)
        for change in line_changes(found, wanted)
    ]


def apart(matches: Sequence[Match]) -> list[Match]:
    """The matches that do not overlap an earlier one."""
    kept: list[Match] = []
    for match in matches:
        if not kept or match.start >= kept[-1].end:
            kept.append(match)
    return kept


def line_of(text: str, position: int) -> int:
    """The number, from 1, of the line in which `position` stands."""
    return text.count("\n", 0, position) + 1


def nearest(text: str, old: str) -> list[Near]:
    """Places that resemble `old`, three at most: where it begins alike, else lines that resemble its first one."""
    lines = [line.strip() for line in text.translate(_FOLDS).split("\n")]
    wanted = [line.strip() for line in old.translate(_FOLDS).split("\n")]
    skipped = next((n for n, line in enumerate(wanted) if line), None)
    if skipped is None:
        return []
    wanted = wanted[skipped:]
    shown = text.split("\n")
    starts = [n for n, line in enumerate(lines) if line == wanted[0]][:3]
    if starts:
        return [_difference(shown, lines, wanted, start) for start in starts]
    pool = {line[:200]: n + 1 for n, line in reversed(list(enumerate(lines[:_MAX_NEAR_LINES]))) if line}
    return [Near(pool[line], shown[pool[line] - 1]) for line in get_close_matches(wanted[0][:200], pool, n=3)]


def _difference(shown: list[str], lines: list[str], wanted: list[str], start: int) -> Near:
    """The first line at which the text that begins alike differs."""
    same = shared_start(lines[start:], wanted)
    at = min(start + same, len(lines) - 1)
    return Near(at + 1, shown[at], wanted[same] if same < len(wanted) else None)


def _finds(text: str, old: str) -> Iterator[int]:
    start = text.find(old)
    while start >= 0:
        yield start
        start = text.find(old, start + 1)


# Folding ------------------------------------------------------------------------------------------------------------


def fold(line: str, tab_width: int) -> str:
    """A line as it is compared: typographic characters plain, no trailing space; with a width also tabs as spaces."""
    plain = line.translate(_FOLDS).rstrip(" \t")
    if not tab_width:
        return plain
    body = plain.lstrip(" \t")
    lead = plain[: len(plain) - len(body)].replace("\t", " " * tab_width)
    return lead + re.sub("[ \t]+", " ", body)


def fold_bounds(line: str, tab_width: int) -> dict[int, int]:
    """Which places of the folded line are places of the line itself: folded offset → offset."""
    bounds = {0: 0}
    at, folded, leading, end = 0, 0, True, len(fold(line, tab_width))
    while at < len(line):
        at, width, leading = _unit(line, at, tab_width, leading)
        folded += width
        if folded <= end:
            bounds[folded] = at
    return bounds


def _unit(line: str, at: int, tab_width: int, leading: bool) -> tuple[int, int, bool]:
    """The end of the smallest piece at `at` that folds by itself, its folded width, and whether it was indentation."""
    plain = line[at].translate(_FOLDS)
    if plain not in (" ", "\t"):
        return at + 1, len(plain), False
    if not tab_width:
        return at + 1, 1, leading
    if leading:
        return at + 1, tab_width if plain == "\t" else 1, True
    end = at + 1
    while end < len(line) and line[end].translate(_FOLDS) in (" ", "\t"):
        end += 1
    return end, 1, False


def _folded_finds(text: str, old: str, tab_width: int) -> Iterator[Match]:
    lines = text.split("\n")
    folded = [fold(line, tab_width) for line in lines]
    wanted = [fold(line, tab_width) for line in old.split("\n")]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for n, first, last in _candidates(folded, wanted):
        m = n + len(wanted) - 1
        head = fold_bounds(lines[n], tab_width).get(first)
        tail = fold_bounds(lines[m], tab_width).get(last)
        if head is not None and tail is not None:
            yield Match(starts[n] + head, starts[m] + tail, tab_width)


def _candidates(folded: list[str], wanted: list[str]) -> Iterator[tuple[int, int, int]]:
    """Line index, folded offset of the start in it, folded offset of the end in the last line."""
    if len(wanted) == 1:
        for n, line in enumerate(folded):
            yield from ((n, at, at + len(wanted[0])) for at in _finds(line, wanted[0]))
        return
    first, *middle, last = wanted
    for n in range(len(folded) - len(wanted) + 1):
        if (
            folded[n].endswith(first)
            and folded[n + len(wanted) - 1].startswith(last)
            and folded[n + 1 : n + len(wanted) - 1] == middle
        ):
            yield n, len(folded[n]) - len(first), len(last)


# Carrying a tolerant edit over ---------------------------------------------------------------------------------------


def _carried(found: str, old: str, new: str, tab_width: int) -> str:
    """`new` in the characters of `found`: kept lines are the file's own, changed ones take its indentation."""
    there, was, now = found.split("\n"), old.split("\n"), new.split("\n")
    indents = _Indents(there, was, tab_width)
    result: list[str] = []
    for tag, a, b, c, d in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if tag == "equal":
            result += there[a:b]
        elif b - a == d - c:
            result += [
                _carried_line(*lines, tab_width) or indents.fit(lines[2])
                for lines in zip(there[a:b], was[a:b], now[c:d], strict=True)
            ]
        else:
            result += [indents.fit(line) for line in now[c:d]]
    return "\n".join(result)


def _carried_line(there: str, was: str, now: str, tab_width: int) -> str | None:
    """One changed line, keeping the file's characters before and after the change; None when they do not align."""
    if fold(there, tab_width) != fold(was, tab_width):
        return None
    here, mine = fold_bounds(there, tab_width), fold_bounds(was, tab_width)
    shared = sorted(here.keys() & mine.keys())
    head = shared_start(was, now)
    tail = shared_start(was[head:][::-1], now[head:][::-1])
    start = max(offset for offset in shared if mine[offset] <= head)
    ends = [offset for offset in shared if offset >= start and mine[offset] >= len(was) - tail]
    end = ends[0] if ends else shared[-1]
    changed = now[mine[start] : len(now) - (len(was) - mine[end])]
    return there[: here[start]] + changed + there[here[end] :]


class _Indents:
    """How the file indents what the model indented otherwise, learnt from the lines that both show."""

    def __init__(self, there: Sequence[str], was: Sequence[str], tab_width: int) -> None:
        pairs = [(_lead(mine), _lead(here)) for here, mine in zip(there, was, strict=True) if here.strip()]
        self._known = dict(pairs)
        self._width = tab_width
        self._to_tabs = any("\t" in here and "\t" not in mine for mine, here in pairs)
        self._to_spaces = any("\t" in mine and "\t" not in here for mine, here in pairs)

    def fit(self, line: str) -> str:
        """The line with the file's kind of indentation."""
        lead = _lead(line)
        if lead in self._known:
            return self._known[lead] + line[len(lead) :]
        if self._width and self._to_tabs:
            columns = len(lead.replace("\t", " " * self._width))
            return "\t" * (columns // self._width) + " " * (columns % self._width) + line[len(lead) :]
        if self._width and self._to_spaces:
            return lead.replace("\t", " " * self._width) + line[len(lead) :]
        return line


def _lead(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]
