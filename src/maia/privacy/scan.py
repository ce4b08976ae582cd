"""Finds personal data in one text: the same text gives the same result, and no value crosses a line (N-10.03)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

from maia.privacy.fold import fold
from maia.privacy.never import is_never
from maia.privacy.recognisers import NEAR, RECOGNISERS, Ready, Recogniser, by_shape, by_word

Finder: TypeAlias = Callable[[str], Iterable[tuple[int, int]]]
"""Where in a text values of one type stand: what an own pattern, or the room of credentials, finds."""


@dataclass(frozen=True, slots=True)
class Found:
    """One value: its type and where it stands, in code points. `rank` tells what stands first in the table.

    With `is_named` only a word before it tells what it is.
    """

    kind: str
    start: int
    end: int
    rank: int = 0
    is_named: bool = False


def scan(text: str, more: Sequence[tuple[str, Finder]] = ()) -> list[Found]:
    """Every value that a recogniser finds, overlapping ones included, in no order.

    `more` are finders beside the table, each with the type of what it finds; they read the text as it was folded.
    """
    folded = fold(text)
    plain = folded.text
    found = list(_emails(plain))
    if _digit().search(plain):
        found += (*_numbers(plain), *_named(plain))
    for rank, (kind, finder) in enumerate(more, len(RECOGNISERS)):
        found += (Found(kind, start, end, rank) for start, end in finder(plain) if end > start)
    found = _without_doubts(found)
    if folded.origins is None:
        return found
    return [_moved(each, *folded.span(each.start, each.end)) for each in found]


def _moved(found: Found, start: int, end: int) -> Found:
    return Found(found.kind, start, end, found.rank, found.is_named)


def _without_doubts(found: list[Found]) -> list[Found]:
    """Without what only a word made a value, where a number of the same type tells by itself how far it goes."""
    sure = [each for each in found if not each.is_named]
    return [
        each
        for each in found
        if not each.is_named
        or not any(one.kind == each.kind and one.start < each.end and each.start < one.end for one in sure)
    ]


@cache
def _digit() -> re.Pattern[str]:
    return re.compile("[0-9]")


# Addresses ------------------------------------------------------------------------------------------------------------

_LOCAL_CHARS: Final = 64  # RFC 5321, 4.5.3.1.1


def _emails(text: str) -> Iterator[Found]:
    place = text.find("@")
    while place >= 0:
        local = _local().search(text, max(0, place - _LOCAL_CHARS), place)
        domain = _domain().match(text, place + 1)
        if local and domain and not _is_no_address(text, local.group(), domain):
            yield Found("email", local.start(), domain.end())
        place = text.find("@", place + 1)


def _is_no_address(text: str, local: str, domain: re.Match[str]) -> bool:
    """`git@host:path` is where a repository is, `icon@2x.png` a picture for fine screens."""
    is_remote = local == "git" and text[domain.end() : domain.end() + 1] in (":", "/")
    return is_remote or _fine_picture().fullmatch(domain.group()) is not None


@cache
def _local() -> re.Pattern[str]:
    return re.compile(r"[\w](?:[\w.+%'-]{0,62}[\w+-])?\Z")


@cache
def _domain() -> re.Pattern[str]:
    return re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+(?:xn--[a-z0-9-]{2,59}|[^\W\d_]{2,24})(?![\w])")


@cache
def _fine_picture() -> re.Pattern[str]:
    return re.compile(r"[0-9]x\.(?:png|jpe?g|gif|webp|avif|svg)")


# Numbers --------------------------------------------------------------------------------------------------------------

_AROUND: Final = 12
_IN_NUMBERS: Final = r"0-9A-Za-z .\-/()+"


def _numbers(text: str) -> Iterator[Found]:
    """What the rows of the table find that need no word, each only where there is what it is made of."""
    for start, end in _stretches(text):
        piece = text[start:end]
        digits = sum(map(str.isdecimal, piece))
        has_letters = _letter().search(piece) is not None
        for ready in by_shape():
            row = ready.row
            if digits >= row.digits and (has_letters or not row.has_letters) and row.sign in piece:
                yield from _by_row(ready, text, start, end, end)


def _named(text: str) -> Iterator[Found]:
    """What stands after a word that tells what it is."""
    low = text.lower()
    if len(low) != len(text):  # of one letter, a capital I with a dot, small letters make two
        low = "".join(char if len(char.lower()) > 1 else char.lower() for char in text)
    for word, rows in by_word().items():
        place = low.find(word)
        while place >= 0:
            after = place + len(word)
            if _is_whole(low, place, after):
                line = _line_end(text, after)
                for ready in rows:
                    yield from _by_row(ready, text, after, line, place + NEAR)
            place = low.find(word, after)


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """The parts of lines where digits stand close together: from where, to where.

    They hold only what may stand in a number, with what may belong to one before its first two digits and after its
    last two.
    """
    for pairs in _pairs().finditer(text):
        start, end = pairs.span()
        before = _before().search(text, max(0, start - _AROUND), start)
        start = before.start() if before else start
        yield start, end


@cache
def _pairs() -> re.Pattern[str]:
    return re.compile(rf"[0-9]{{2}}(?:[{_IN_NUMBERS}]{{0,14}}?[0-9]{{2}})*[{_IN_NUMBERS}]{{0,{_AROUND}}}")


@cache
def _letter() -> re.Pattern[str]:
    return re.compile("[A-Za-z]")


@cache
def _before() -> re.Pattern[str]:
    return re.compile(rf"[{_IN_NUMBERS}]+\Z")


def _line_end(text: str, place: int) -> int:
    newline = text.find("\n", place)
    return len(text) if newline < 0 else newline


def _is_whole(text: str, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())


def _by_row(ready: Ready, text: str, place: int, end: int, latest: int) -> Iterator[Found]:
    """What one row finds from `place` to `end`, where it begins at `latest` or before."""
    while (shape := ready.shape.search(text, place, min(end, latest + _LONGEST))) is not None:
        start = place = shape.start()
        if start > latest:
            return
        place += 1
        for stop in _ends(text, shape):
            if _is_value(ready.row, text, start, stop):
                yield Found(ready.row.kind, start, stop, ready.rank, bool(ready.row.words))
                place = stop
                break


_LONGEST: Final = 120
"""No value is longer than this, separators included."""


def _is_value(row: Recogniser, text: str, start: int, stop: int) -> bool:
    value = text[start:stop]
    if sum(map(str.isdecimal, value)) < row.digits:
        return False
    is_inside = text[start - 1 : start].isalnum()  # of a word: most likely an identifier, which is soon told
    if is_inside and is_never(text, start, stop, is_weak=row.is_weak):
        return False
    if not row.check(value):
        return False
    return is_inside or row.is_sure or not is_never(text, start, stop, is_weak=row.is_weak)


def _ends(text: str, shape: re.Match[str]) -> Iterator[int]:
    """Where the value may end, from the whole shape down to its shorter parts: always the end of a word."""
    first, last = shape.span()
    for stop in range(last, first, -1):
        if text[stop - 1].isalnum() and not _goes_on(text, stop):
            yield stop


def _goes_on(text: str, stop: int) -> bool:
    """Whether the word, or the decimal fraction, that ends there has more to it."""
    after = text[stop : stop + 2]
    return after[:1].isalnum() or (after[:1] == "." and after[1:].isdecimal() and text[stop - 1].isdecimal())
