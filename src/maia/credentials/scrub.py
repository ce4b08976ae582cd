"""Takes keys out of a text that is kept or shown: each becomes its prefix and its length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from maia.credentials.prefixes import SHORT, Detection, detect


def without_keys(text: str) -> str:
    """The same text with everything that has the shape of a key or of a private key masked.

    Shapes that many harmless texts share (32 hexadecimal digits are a digest, too) are left as they are.
    """
    return _word().sub(_masked, _private_key().sub(r"-----BEGIN \1PRIVATE KEY-----…", text))


def key_places(text: str) -> Iterator[tuple[int, int]]:
    """Where in a text keys and private keys stand, by the same shapes as `without_keys`; in code points."""
    if "PRIVATE KEY-----" in text:
        yield from (found.span() for found in _private_key().finditer(text))
    for found in _word().finditer(text):
        token = found.group().rstrip(".-")
        if _is_telling(detect(token), token):
            yield found.start(), found.start() + len(token)


def _masked(found: re.Match[str]) -> str:
    token = found.group().rstrip(".-")
    detection = detect(token)
    return detection.masked + found.group()[len(token) :] if _is_telling(detection, token) else found.group()


def _is_telling(detection: Detection, token: str) -> bool:
    """Whether only a key looks like this: a known beginning, and behind it what no word or name is."""
    rest = token[len(detection.prefix) :]
    if detection.rule == "jwt":
        return len(token) > 60
    has_shape = bool(detection.prefix) or detection.confidence == "exact"
    return has_shape and len(rest) >= SHORT and any(char.isdigit() for char in rest) and any(map(str.isalpha, rest))


@cache
def _word() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{18,}")


@cache
def _private_key() -> re.Pattern[str]:
    return re.compile(r"-----BEGIN ([A-Z ]*)PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)")
