"""Reasons in the words of one language, and errors as reasons."""

from __future__ import annotations

from typing import Any, cast

from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.ports import Say
from maia.core.reason import Reason


def inner(reason: Reason) -> JsonObject:
    """A reason as a value of another one."""
    return {"key": reason.key, "values": reason.values}


def told(reason: Reason, say: Say) -> str:
    """What happened, and what to do about it where the catalogue says so."""
    values = {name: _value(each, say) for name, each in reason.values.items()}
    said = say(reason.key, **values)
    remedy = f"{reason.key}.fix"
    return f"{said}\n{say(remedy, **values)}" if say.has(remedy) else said


def plain(values: dict[str, Any]) -> JsonObject:
    """The values of an error as JSON data; what is none, as its words."""
    return {name: each if isinstance(each, (str, int, float)) else str(each) for name, each in values.items()}


def _value(value: JsonValue, say: Say) -> JsonValue:
    if not isinstance(value, dict):
        return value
    body = cast(JsonObject, value)
    return told(Reason(body["key"], body["values"]), say) if body.keys() == {"key", "values"} else body
