"""What an agent, a nickname and a prompt may be called, and when two names are the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from maia.core.errors import UsageProblem
from maia.core.text import UNSEEN

MAX_NAME: Final = 64
MAX_NICKNAME: Final = 100

_NAME = re.compile(r"[^\W_][\w-]*")
_RESERVED: Final = frozenset({"maia", "central", "con", "prn", "aux", "nul"}) | {
    f"{port}{number}" for port in ("com", "lpt") for number in range(10)
}
"""maia itself, the home that Hermes agents share, and what some systems open as a device."""

_ACTING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]")
"""Characters that act on a screen, reorder or hide text. The joiner of emoji is none of them."""


def key_of(name: str) -> str:
    """What two spellings of the same name have in common: NFKC, no case, spaces as one, nothing that is not seen."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(UNSEEN.sub("", folded).split())


def bare(name: str) -> str:
    """A name's words alone, without the signs and emoji that are hard to type."""
    return " ".join(re.findall(r"[^\W_]+", key_of(name)))


def checked_name(name: str, reserved: Iterable[str] = ()) -> str:
    """The name of an agent's folder: letters, digits, `_` and `-`, at most 64, in one Unicode form.

    Raises `UsageProblem` for any other, for names of devices, and for those in `reserved` (programs).
    """
    text = unicodedata.normalize("NFC", name.strip(" "))
    if not _NAME.fullmatch(text) or len(text) > MAX_NAME or len(text.encode("utf-8", "replace")) > 200:
        raise UsageProblem("agents.bad_name", name=name[:MAX_NAME], most=MAX_NAME)
    if key_of(text) in _RESERVED or key_of(text) in {key_of(each) for each in reserved}:
        raise UsageProblem("agents.reserved_name", name=text)
    return text


def checked_prompt_name(name: str) -> str:
    """The name of a prompt's file, as an agent's name. Raises `UsageProblem`."""
    try:
        return checked_name(name)
    except UsageProblem as problem:
        raise UsageProblem("agents.prompt.bad_name", **{"most": MAX_NAME, **problem.values}) from None


def nickname_fault(nickname: str) -> str | None:
    """The sentence's key that says why this cannot be a nickname; None for any name that can be shown on one line."""
    if not key_of(nickname):
        return "agents.bad.nickname_empty"
    if len(nickname) > MAX_NICKNAME:
        return "agents.bad.nickname_long"
    return "agents.bad.nickname_characters" if _ACTING.search(nickname) else None


MAX_AVATAR: Final = 12
"""Code points: one emoji is up to ten of them."""


def is_avatar(text: str) -> bool:
    """Whether a text can stand in the small round mark: one emoji, or two letters."""
    if not text or len(text) > MAX_AVATAR or _ACTING.search(text) or any(map(str.isspace, text)):
        return False
    return len(text) <= 2 or not any(map(str.isalnum, text))


def near(word: str, names: Sequence[str], most: int = 3) -> tuple[str, ...]:
    """The names that were perhaps meant: those that look alike, else those that hold a part of the word."""
    from difflib import get_close_matches  # only when a name is wrong

    by_key = {key_of(name): name for name in reversed(names)}
    wanted = key_of(word)
    close = get_close_matches(wanted, by_key, most, 0.5)
    pieces = [piece for piece in re.split(r"\W+", wanted) if len(piece) > 2]
    sharing = [key for key in by_key if key not in close and any(piece in key for piece in pieces)]
    return tuple(by_key[key] for key in (*close, *sharing)[:most])
