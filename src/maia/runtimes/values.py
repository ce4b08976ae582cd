"""Reads JSON that somebody else wrote: a value of the wanted kind, or a harmless one in its place."""

from __future__ import annotations

from typing import Any, cast

from maia.core.jsonvalue import JsonObject, JsonValue


def text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def table(value: JsonValue) -> JsonObject:
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def rows(value: JsonValue) -> list[JsonObject]:
    """The objects of a list; what else stands in it is left out."""
    return (
        [table(item) for item in cast("list[Any]", value) if isinstance(item, dict)] if isinstance(value, list) else []
    )


def whole(value: JsonValue) -> int:
    """A count; 0 for anything that is none."""
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 2**53 else 0


def amount(value: JsonValue) -> float | None:
    """Money or seconds, None where none was told."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < 1e12 else None
