"""Names of files from outside become names that can be shown, stored and written anywhere."""

from __future__ import annotations

import unicodedata
from collections.abc import Container
from typing import Final

LONGEST_NAME: Final = 180
"""Bytes of a name: systems end at 255, and ` (12)` and a digest must still fit."""
_NOT_SHOWN: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""Control and format characters, such as those that turn the direction of a name (`exe.gpj`), and surrogates."""
_FORBIDDEN: Final = str.maketrans(dict.fromkeys('<>:"|?*', "_"))


def clean_name(given: str) -> str:
    """The last part of a path as a plain name, composed (NFC), at most `LONGEST_NAME` bytes, never empty or hidden.

    A family of emoji loses its joiners, which is better than a name that is not what it looks like.
    """
    last = unicodedata.normalize("NFC", given.replace("\\", "/")).rstrip("/").rpartition("/")[2]
    shown = "".join(char for char in last if unicodedata.category(char) not in _NOT_SHOWN)
    plain = " ".join(shown.translate(_FORBIDDEN).split()).strip(". ")
    stem, ending = _parts(plain)
    room = LONGEST_NAME - len(ending.encode())
    return _cut(stem, room).rstrip(". ") + ending or "file"


def free_name(name: str, taken: Container[str]) -> str:
    """The name, or with the first number in brackets that nobody has: `a.txt`, `a (2).txt`…"""
    if name not in taken:
        return name
    stem, ending = _parts(name)
    number = 2
    while (made := f"{stem} ({number}){ending}") in taken:
        number += 1
    return made


def _parts(name: str) -> tuple[str, str]:
    """Stem and ending; what is too long to be an ending is none."""
    stem, dot, ending = name.rpartition(".")
    return (stem, dot + ending) if stem and 0 < len(ending.encode()) <= 20 else (name, "")


def _cut(text: str, size: int) -> str:
    return text.encode()[:size].decode("utf-8", "ignore")
