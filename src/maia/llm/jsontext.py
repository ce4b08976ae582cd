"""JSON from servers and models, nested no deeper than everything that keeps it or sends it back can write."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, cast

from maia.core.types import JsonValue

MAX_DEPTH: Final = 200
"""Python reads some nine hundred levels, and fails when it writes them inside something else."""


def loads(text: str | bytes, *, parse_constant: Callable[[str], Any] | None = None) -> JsonValue:
    """The value of a JSON text. Raises `ValueError` for what is no JSON, or nested too deeply."""
    try:
        value: JsonValue = json.loads(text, parse_constant=parse_constant)
    except RecursionError:
        raise ValueError("JSON is nested too deeply") from None
    openings = (b"[", b"{") if isinstance(text, bytes) else ("[", "{")
    if sum(text.count(cast(Any, opening)) for opening in openings) > MAX_DEPTH and _is_deep(value):
        raise ValueError("JSON is nested too deeply")
    return value


def _is_deep(value: JsonValue) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return False
    return True


def _children(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict):
        return list(cast("dict[str, Any]", value).values())
    return cast("list[Any]", value) if isinstance(value, list) else []
