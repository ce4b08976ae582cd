"""Puts placeholders in the place of values: twice does no more than once, and nothing else of the text changes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from maia.privacy.kinds import ACTIONS, KINDS, MASKING, Action, placeholder
from maia.privacy.policy import Policy
from maia.privacy.scan import Finder, Found, scan

_ROUNDS: Final = 16
"""A placeholder is shorter than its value and can bring a word near to the next number: that is looked for again."""


@dataclass(frozen=True, slots=True)
class Span:
    """A value that was replaced: its type, and where it stood in the text as it was, in code points."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with placeholders, and what they stand for; `spans` are in order and do not touch.

    `noticed` are the values of types that are only counted: they stand in the text as they were.
    """

    text: str
    spans: tuple[Span, ...] = ()
    noticed: tuple[Span, ...] = ()

    @property
    def counts(self) -> Mapping[str, int]:
        """How many values of each type."""
        return Counter(span.kind for span in self.spans)


def apply(text: str, spans: Sequence[Span]) -> str:
    """The text with a placeholder for each span."""
    pieces: list[str] = []
    place = 0
    for span in spans:
        pieces += (text[place : span.start], placeholder(span.kind))
        place = span.end
    return "".join((*pieces, text[place:]))


class Masker:
    """Finds and replaces by one policy; it can be used for any number of texts, from any thread.

    `secrets` finds keys and the like, which another room knows; without it there is no type `secret`.
    """

    def __init__(self, policy: Policy, secrets: Finder | None = None) -> None:
        self.policy = policy
        own = [(pattern.kind, pattern.find) for pattern in policy.patterns]
        more = [*([("secret", secrets)] if secrets else []), *own]
        self._more = [(kind, finder) for kind, finder in more if policy.action(kind) != "off"]
        kinds = sorted({*KINDS, *(pattern.kind for pattern in policy.patterns)})
        self._placeholders = re.compile("|".join(re.escape(placeholder(kind)) for kind in kinds))

    def find(self, text: str) -> list[Found]:
        """The values of all types that are not off, in order, without overlaps.

        Where some overlap they become one, of the strictest action, then the longest, then the first of the table. What
        is only counted gives way to what is masked.
        """
        if not self.policy.enabled or not text:
            return []
        found = [each for each in scan(text, self._more) if self.policy.action(each.kind) != "off"]
        strict = _joined(self._past_placeholders(text, [each for each in found if self._is_masked(each)]), self._order)
        loose = _joined([each for each in found if not self._is_masked(each)], self._order)
        return sorted((*strict, *(each for each in loose if not _touches_any(each, strict))), key=_place)

    def mask(self, text: str, only: Collection[Action] = MASKING) -> Masked:
        """The text with placeholders for the values of those actions. Pure: the same text, the same result."""
        now, spans, noticed = text, tuple[Span, ...](), tuple[Span, ...]()
        for turn in range(_ROUNDS):
            values = self.find(now)
            if turn == 0:
                noticed = tuple(_span(each) for each in values if self._action(each) == "warn")
            found = [_span(each) for each in values if self._action(each) in only]
            if not found:
                break
            spans = _with(spans, found)
            now = apply(text, spans)
        return Masked(now, spans, noticed)

    # Inside

    def _action(self, found: Found) -> Action:
        return self.policy.action(found.kind)

    def _is_masked(self, found: Found) -> bool:
        return self._action(found) in MASKING

    def _order(self, found: Found) -> tuple[int, int, int]:
        return -ACTIONS.index(self._action(found)), found.start - found.end, found.rank

    def _past_placeholders(self, text: str, found: list[Found]) -> list[Found]:
        """Without what lies within a placeholder; what cuts one takes it in whole."""
        if not found or "[" not in text:
            return found
        kept: list[Found] = []
        places = [each.span() for each in self._placeholders.finditer(text)]
        for each in found:
            cut = [place for place in places if place[0] < each.end and each.start < place[1]]
            if any(start <= each.start and each.end <= end for start, end in cut):
                continue
            start = min((each.start, *(place[0] for place in cut)))
            end = max((each.end, *(place[1] for place in cut)))
            kept.append(Found(each.kind, start, end, each.rank))
        return kept


def _span(found: Found) -> Span:
    return Span(found.kind, found.start, found.end)


def _place(found: Found) -> tuple[int, int]:
    return found.start, found.end


def _touches_any(found: Found, others: Sequence[Found]) -> bool:
    return any(other.start < found.end and found.start < other.end for other in others)


def _joined(found: Sequence[Found], order: Callable[[Found], tuple[int, int, int]]) -> list[Found]:
    """Those that overlap made one, of the type that comes first by `order`."""
    groups: list[list[Found]] = []
    end = -1
    for each in sorted(found, key=_place):
        if each.start < end:
            groups[-1].append(each)
        else:
            groups.append([each])
        end = max(end, each.end)
    return [_one(group, order) for group in groups]


def _one(group: list[Found], order: Callable[[Found], tuple[int, int, int]]) -> Found:
    first = min(group, key=order)
    return Found(first.kind, min(each.start for each in group), max(each.end for each in group), first.rank)


def _with(spans: Sequence[Span], found: Sequence[Span]) -> tuple[Span, ...]:
    """All spans in places of the text as it was, where `found` was seen in the text with placeholders for `spans`."""
    new = [Span(each.kind, _back(spans, each.start), _back(spans, each.end)) for each in found]
    kept = [each for each in spans if not any(one.start <= each.start and each.end <= one.end for one in new)]
    return tuple(sorted((*kept, *new), key=lambda span: span.start))


def _back(spans: Sequence[Span], place: int) -> int:
    """Where a place of the text with placeholders, outside of them, was before."""
    for span in spans:
        shift = len(placeholder(span.kind)) - (span.end - span.start)
        if span.start + len(placeholder(span.kind)) > place:
            break
        place -= shift
    return place
