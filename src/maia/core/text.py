"""Text for people and models: cut with a report, and shown without letting it act on the screen."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cut:
    """A text within its limit. `cut_chars` is how many code points were left out, 0 when none."""

    text: str
    cut_chars: int = 0


def _cut_marker(cut_chars: int) -> str:
    return f"\n[… {cut_chars} characters left out …]\n"


def cut_middle(text: str, max_chars: int, marker: Callable[[int], str] = _cut_marker) -> Cut:
    """Keep the head and the tail, `max_chars` code points at most, marker included, and say how much is missing."""
    if len(text) <= max_chars:
        return Cut(text)
    room = max(0, max_chars - len(marker(len(text))))
    head = (room + 1) // 2
    tail = room - head
    cut_chars = len(text) - head - tail
    return Cut(text[:head] + marker(cut_chars) + (text[-tail:] if tail else ""), cut_chars)


_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that move the cursor, colour, or reorder text. Tab and line feed are left alone."""


def visible(text: str) -> str:
    """The same text with control and direction characters made visible, so that it can only be read (decisions §12).

    A carriage return before a line feed is dropped; C0 controls become their Unicode pictures (U+2400…), the others
    `<U+XXXX>`.
    """
    if not _ACTING.search(text):
        return text
    return _ACTING.sub(_picture, text.replace("\r\n", "\n"))


def _picture(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"<U+{code:04X}>"


def one_line(text: str) -> str:
    """Line ends, tabs and runs of blanks are one blank, what would act on a screen is visible."""
    return visible(" ".join(text.split()))


UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""What leaves nothing to see by itself: Unicode's ignorable signs, the empty letters of Hangul, the empty Braille."""


def kept_name(text: str) -> str:
    """A name as it is kept, on one line; empty where a reader would see nothing of it.

    Every door that takes a name does this and refuses an empty one, and lists and pages show what was made of it.
    """
    return one_line(text) if UNSEEN.sub("", _ACTING.sub("", text)).strip() else ""


_UNKEPT = re.compile("[\0\ud800-\udfff]")


def can_be_kept(text: str) -> bool:
    """Whether files and databases hold it: no NUL, and no half of a surrogate pair, which UTF-8 does not know."""
    return _UNKEPT.search(text) is None


def whole_number(text: str) -> int | None:
    """The number that ASCII digits write, None for anything else and beyond nine digits.

    `int` alone also takes other scripts' digits, and raises beyond 4,300 of them.
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None
