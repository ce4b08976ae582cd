"""Tool calls that a model wrote as text, because its server has no parser for them (Qwen2.5 on llama.cpp and others).

An answer becomes calls only when ALL of it is calls of tools that were offered: a ```json block, a bare JSON object,
several in a row, or `<tool_call>` tags. Anything else, and anything in doubt, stays text.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Final, NamedTuple, cast

from maia.core.jsontext import is_deep
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.llm.assemble import read_arguments

_FENCES: Final = ("json", "tool_call", "tool_code", "")
_OPENERS: Final = ("```json", "```tool_call", "```tool_code", "```", "<tool_call>")
_KEYS: Final = frozenset({"name", "arguments", "parameters", "type", "id", "function"})


class TextCall(NamedTuple):
    """A call found in text."""

    name: str
    arguments: JsonObject


def may_become_call(text: str) -> bool:
    """Whether an answer that begins like this could still turn out to be a call, so that it must not be shown yet."""
    rest = text.lstrip()
    for opener in _OPENERS:
        if opener.startswith(rest):
            return True
        if rest.startswith(opener):
            rest = rest[len(opener) :].lstrip()
            break
    rest = rest.removeprefix("[").lstrip()
    if not rest.startswith("{"):
        return not rest
    key = rest[1:].lstrip()
    return any(key.startswith(f'"{known}"') or f'"{known}"'.startswith(key) for known in _KEYS)


def text_calls(text: str, offered: Collection[str]) -> tuple[TextCall, ...]:
    """The calls that make up the whole text, or an empty tuple when it is text."""
    calls: list[TextCall] = []
    rest = text.strip()
    while rest:
        item = _item(rest)
        if item is None:
            return ()
        values, rest = item
        for value in values:
            call = _call(value, offered)
            if call is None:
                return ()
            calls.append(call)
        rest = rest.lstrip().removeprefix(",").lstrip()
    return tuple(calls)


def _item(text: str) -> tuple[list[JsonValue], str] | None:
    """The JSON values of the first block or bare value, and the text after it."""
    closing = ""
    if text.startswith("```"):
        head, _, text = text.partition("\n")
        if head[3:].strip() not in _FENCES:
            return None
        closing = "```"
    elif text.startswith("<tool_call>"):
        text, closing = text[len("<tool_call>") :], "</tool_call>"
    values: list[JsonValue] = []
    text = text.lstrip()
    while text[:1] in ("{", "["):
        try:
            value, end = json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError):
            return None
        if is_deep(value):
            return None
        values += cast("list[JsonValue]", value) if isinstance(value, list) else [value]
        text = text[end:].lstrip()
        if not closing:
            break
    if not values or (closing and text and not text.startswith(closing)):
        return None
    return values, text.removeprefix(closing) if closing else text


def _call(value: JsonValue, offered: Collection[str]) -> TextCall | None:
    if not isinstance(value, dict):
        return None
    body = cast(JsonObject, value)
    if not _KEYS.issuperset(body):
        return None
    if isinstance(body.get("function"), dict):
        body = cast(JsonObject, body["function"])
    name, arguments = body.get("name"), body.get("arguments", body.get("parameters"))
    if isinstance(arguments, str):
        arguments = read_arguments(arguments)
    if not isinstance(name, str) or name not in offered or not isinstance(arguments, dict):
        return None
    return TextCall(name, cast(JsonObject, arguments))
