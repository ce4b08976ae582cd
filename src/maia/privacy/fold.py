"""Reads look-alikes as what they look like: other digits, spaces, dashes and full-width letters, nothing invisible."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

_INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u20e3\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e007f"
)
_SPACES: Final = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_DASHES: Final = "\u2010-\u2015\u2212\ufe58"
_DOTS: Final = "\u3002\uff61"
_CLASSES: Final = ((_INVISIBLE, ""), (_SPACES, " "), (_DASHES, "-"), (_DOTS, "."))


@dataclass(frozen=True, slots=True)
class Folded:
    """A text as the recognisers read it. `origins` has the place of each of its characters, None where all are kept."""

    text: str
    origins: Sequence[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where these characters stand in the text as it was, in code points. The span is not empty."""
        if self.origins is None:
            return start, end
        return self.origins[start], self.origins[end - 1] + 1


def fold(text: str) -> Folded:
    """The text with plain characters for their look-alikes and without those that nobody sees."""
    if text.isascii():
        return Folded(text)
    odd = {char: plain for char in set(text) if (plain := _plain(char)) != char}
    if not odd:
        return Folded(text)
    plain_text = text
    for char, plain in odd.items():  # a few characters: quicker than to look up each one of the text
        plain_text = plain_text.replace(char, plain)
    if len(plain_text) == len(text):
        return Folded(plain_text)
    return Folded(plain_text, [place for place, char in enumerate(text) if odd.get(char, char)])


@cache
def _plain(char: str) -> str:
    """What a character stands for, itself where it is plain."""
    if char.isascii():
        return char
    for kind, stands_for in _CLASSES:
        if re.match(f"[{kind}]", char):
            return stands_for
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 and plain.isascii() else char
