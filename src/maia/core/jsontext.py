"""Reads JSON that comes from outside into a value that can surely be written again."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, Final, cast

from maia.core.jsonvalue import JsonValue

MAX_DEPTH: Final = 200
"""Levels of lists and objects. Python's own limit depends on how deep the caller stands, so that a value which one
place can read another one cannot write."""


def read_json(text: str | bytes, *, finite: bool = False) -> JsonValue:
    """The value of a JSON text. Raises `ValueError` for what is none, and for one of more than `MAX_DEPTH` levels.

    Python reads the words `NaN` and `Infinity`, and `1e400` as infinity; with `finite` they are a `ValueError`, too,
    because written again they are no JSON.
    """
    try:
        value = json.loads(text, parse_constant=_finite, parse_float=_finite) if finite else json.loads(text)
    except RecursionError:
        raise ValueError("JSON of too many levels") from None
    if _brackets(text) > MAX_DEPTH and is_deep(value):
        raise ValueError("JSON of too many levels")
    return value


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError("JSON has no infinite numbers")
    return number


def is_deep(value: JsonValue) -> bool:
    """Whether a value has more than `MAX_DEPTH` levels of lists and objects."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for each in level for inner in _members(each)]
        if not level:
            return False
    return True


def _members(value: JsonValue) -> list[Any]:
    if isinstance(value, dict):
        return list(cast("dict[str, Any]", value).values())
    return cast("list[Any]", value) if isinstance(value, list) else []


def _brackets(text: str | bytes) -> int:
    """More than the levels, at hardly any cost: what has few is not looked through."""
    if isinstance(text, bytes):
        return text.count(b"[") + text.count(b"{")
    return text.count("[") + text.count("{")
