"""Words as they are compared: without case, and Latin letters without accents, the same in every store."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_TOKEN: Final = re.compile(r"[^\W_]+")
_LATIN_MARKS: Final = re.compile("(?<=[A-Za-z\u0080-\u024f])[\u0300-\u036f]+")


def folded(text: str) -> str:
    """The text in lower case, Latin letters without accents: `Décidé` becomes `decide`, `й` stays what it is.

    This is what SQLite's `unicode61` with `remove_diacritics 2` does to the words that it keeps.
    """
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFD", text.lower())
    return unicodedata.normalize("NFC", _LATIN_MARKS.sub("", apart))


def tokens(text: str) -> list[str]:
    """The words of a text, folded, in their order: runs of letters and digits."""
    return _TOKEN.findall(folded(text))
