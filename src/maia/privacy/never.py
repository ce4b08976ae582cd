"""What is never personal data although it has digits: identifiers, dates, addresses, versions, sums (N-10.04)."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_IDENTIFIERS: Final = r"""
    (?<![0-9A-Za-z]) [0-9a-fA-F]{8} (?:-[0-9a-fA-F]{4}){3} -[0-9a-fA-F]{12} (?![0-9A-Za-z])
    | (?<![0-9A-Za-z]) (?=[0-9]*[a-fA-F]) [0-9a-fA-F]{20,} (?![0-9A-Za-z])
"""
_FIGURES: Final = r"""
    (?<![0-9]) (?:19|20)[0-9]{2} ([-/.]) [01]?[0-9] \1 [0-3]?[0-9]
        (?: [T ] [0-2]?[0-9] :? [0-5][0-9] (?: :? [0-5][0-9] )? (?: [.,][0-9]+ )? )?
        (?: Z | [+-][0-9]{2}:?[0-9]{2} )? (?![0-9])
    | (?<![0-9]) [0-3]?[0-9] ([-/.]) [01]?[0-9] \2 (?:19|20)[0-9]{2}
        (?: [ ,]{1,2} [0-2]?[0-9] [:h] [0-5][0-9] )? (?![0-9])
    | (?<![0-9]) (?:19|20)[0-9]{6} T [0-9]{6} Z?
    | (?<![0-9:]) [0-2]?[0-9] : [0-5][0-9] (?: : [0-5][0-9] )? (?![0-9])
    | (?<![0-9.]) (?:[0-9]{1,3}\.){3} [0-9]{1,3} (?![0-9.])
    | (?<![0-9A-Za-z.]) v [0-9]+ (?:\.[0-9]+)+
    | (?:[€$£¥]|(?<![A-Za-z])(?:EUR|USD|GBP|CHF|HUF|Ft)) \ ? [0-9][0-9 .,']*
    | [0-9][0-9 .,']* \ ? (?:[€$£¥]|(?:EUR|USD|GBP|CHF|HUF|Ft|euros?|dollars?|francs?|forints?)(?![A-Za-z]))
"""
_AROUND: Final = 140


def is_never(text: str, start: int, end: int, *, is_weak: bool) -> bool:
    """Whether that piece of the text touches an identifier, or, where it is weak, a date, a sum or the like."""
    low, high = max(0, start - _AROUND), end + _AROUND
    shapes = (_identifiers(), _figures()) if is_weak else (_identifiers(),)
    return any(
        found.start() < end and found.end() > start for shape in shapes for found in shape.finditer(text, low, high)
    )


@cache
def _identifiers() -> re.Pattern[str]:
    return re.compile(_IDENTIFIERS, re.VERBOSE)


@cache
def _figures() -> re.Pattern[str]:
    return re.compile(_FIGURES, re.VERBOSE)
