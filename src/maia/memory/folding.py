"""Words as they are compared: without case and accents, the same in every store."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_TOKEN: Final = re.compile(r"[^\W_]+")


def folded(text: str) -> str:
    """The text in lower case without accents: `Décidé` becomes `decide`."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.lower())
    return "".join(char for char in apart if not unicodedata.combining(char))


def tokens(text: str) -> list[str]:
    """The words of a text, folded, in their order: runs of letters and digits."""
    return _TOKEN.findall(folded(text))
