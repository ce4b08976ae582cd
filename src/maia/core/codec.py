"""Events and their values as JSON objects, and back: the shape of session files and of `--output-format stream-json`.

Every dataclass becomes an object with its fields in camelCase; members of a tagged union carry `type` with their class
name. Reading is tolerant in one direction only: fields and event types that a newer version wrote are left out, while a
missing or mistyped field is an error (`UnreadableEvent`).
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import IntEnum
from functools import cache
from typing import Any, Literal, TypeVar, Union

from maia.core import events as _events
from maia.core.jsonvalue import JsonObject, JsonValue

T = TypeVar("T")


class UnreadableEvent(ValueError):
    """A JSON value is not the event it claims to be. The message says which field is wrong."""


def to_json(value: Any) -> JsonValue:
    """A value of `core` as plain JSON data. Enum members are written by their lower-case name."""
    if value is None or (isinstance(value, (str, bool, int, float)) and not isinstance(value, IntEnum)):
        return value
    if isinstance(value, IntEnum):
        return value.name.lower()
    if isinstance(value, (tuple, list)):
        return [to_json(item) for item in value]  # pyright: ignore[reportUnknownVariableType] - items are any JSON
    if isinstance(value, dict):
        return value  # pyright: ignore[reportUnknownVariableType] - JSON data already
    cls: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType] - narrowed away above
    body: JsonObject = {"type": cls.__name__} if cls in _tagged_classes() else {}
    for field in fields(value):
        body[_camel(field.name)] = to_json(getattr(value, field.name))
    return body


def dump_event(event: _events.Event) -> str:
    """An event as one line of JSON without a line end. Lone surrogates, which UTF-8 cannot hold, become U+FFFD."""
    line = json.dumps(to_json(event), ensure_ascii=False, separators=(",", ":"))
    return line.encode("utf-8", "replace").decode("utf-8") if not line.isascii() else line


def load_event(data: JsonValue) -> _events.Event | None:
    """The event that a JSON object holds, or None when its type is not known here (a newer version wrote it).

    Raises `UnreadableEvent` when it is no object, has no type, or a field is missing or of another type.
    """
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):  # pyright: ignore[reportUnknownMemberType]
        raise UnreadableEvent("an event is a JSON object with a type")
    cls = _event_classes().get(data["type"])  # pyright: ignore[reportUnknownArgumentType]
    if cls is None:
        return None
    return _build(cls, data, cls.__name__)  # pyright: ignore[reportUnknownArgumentType]


def load_value(cls: type[T], data: JsonValue) -> T:
    """A dataclass of `core` that is no event, as `to_json` wrote it. Raises `UnreadableEvent` as `load_event` does."""
    return _read_dataclass(cls)(data, cls.__name__)


@cache
def _event_classes() -> dict[str, type[Any]]:
    return {cls.__name__: cls for cls in typing.get_args(_events.Event)}


@cache
def _tagged_classes() -> frozenset[type[Any]]:
    """Classes that appear as members of a union of dataclasses, and so must say which one they are."""
    tagged: set[type[Any]] = set(_event_classes().values())

    def visit(hint: Any) -> None:
        members = [arg for arg in typing.get_args(hint) if isinstance(arg, type) and is_dataclass(arg)]
        if _is_union(hint) and len(members) > 1:
            tagged.update(members)
        for arg in typing.get_args(hint):
            visit(arg)
        if isinstance(hint, type) and is_dataclass(hint) and hint not in seen:
            seen.add(hint)
            for inner in typing.get_type_hints(hint).values():
                visit(inner)

    seen: set[type[Any]] = set()
    for cls in _event_classes().values():
        visit(cls)
    return frozenset(tagged)


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (Union, types.UnionType)


@cache
def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


_Reader = Callable[[JsonValue, str], Any]


@cache
def _fields_of(cls: type[Any]) -> list[tuple[Field[Any], str, _Reader]]:
    hints = typing.get_type_hints(cls)
    return [(field, _camel(field.name), _reader(hints[field.name])) for field in fields(cls)]


def _build(cls: type[Any], data: JsonObject, where: str) -> Any:
    values: dict[str, Any] = {}
    for field, name, read in _fields_of(cls):
        if name in data:
            values[field.name] = read(data[name], f"{where}.{name}")
        elif field.default is MISSING and field.default_factory is MISSING:
            raise UnreadableEvent(f"{where}.{name} is missing")
    return cls(**values)


@cache
def _reader(hint: Any) -> _Reader:
    """A function that reads JSON data as `hint`."""
    if hint is Any or hint == JsonObject:
        return _read_any
    if hint is type(None):
        return _exactly(type(None))
    if hint is float:
        return _read_float
    if hint in (str, bool, int):
        return _exactly(hint)
    if typing.get_origin(hint) is Literal:
        return _one_of(typing.get_args(hint))
    if typing.get_origin(hint) is tuple:
        return _tuple_of(_reader(typing.get_args(hint)[0]))
    if _is_union(hint):
        return _read_union(typing.get_args(hint))
    if isinstance(hint, type) and issubclass(hint, IntEnum):
        return _read_enum(hint)
    if isinstance(hint, type) and is_dataclass(typing.cast(object, hint)):
        return _read_dataclass(typing.cast("type[Any]", hint))
    raise TypeError(f"core.codec cannot read {hint!r}")


def _read_any(data: JsonValue, _where: str) -> JsonValue:
    return data


def _read_float(data: JsonValue, where: str) -> float:
    if isinstance(data, (int, float)) and not isinstance(data, bool):
        return float(data)
    raise UnreadableEvent(f"{where} is not a number")


def _exactly(kind: type[Any]) -> _Reader:
    def read(data: JsonValue, where: str) -> Any:
        if type(data) is kind:
            return data
        raise UnreadableEvent(f"{where} is not of type {kind.__name__}")

    return read


def _one_of(choices: tuple[Any, ...]) -> _Reader:
    def read(data: JsonValue, where: str) -> Any:
        if data in choices:
            return data
        raise UnreadableEvent(f"{where} is none of {', '.join(map(str, choices))}")

    return read


def _tuple_of(read_item: _Reader) -> _Reader:
    def read(data: JsonValue, where: str) -> tuple[Any, ...]:
        if not isinstance(data, list):
            raise UnreadableEvent(f"{where} is not a list")
        return tuple(read_item(item, f"{where}[{n}]") for n, item in enumerate(typing.cast("list[Any]", data)))

    return read


def _read_enum(kind: type[IntEnum]) -> _Reader:
    def read(data: JsonValue, where: str) -> IntEnum:
        try:
            return kind[str(data).upper()]
        except KeyError:
            raise UnreadableEvent(f"{where} is none of {', '.join(m.name.lower() for m in kind)}") from None

    return read


def _read_dataclass(cls: type[Any]) -> _Reader:
    def read(data: JsonValue, where: str) -> Any:
        if not isinstance(data, dict):
            raise UnreadableEvent(f"{where} is not an object")
        return _build(cls, typing.cast(JsonObject, data), where)

    return read


def _read_union(members: tuple[Any, ...]) -> _Reader:
    classes: list[type[Any]] = [m for m in members if isinstance(m, type) and is_dataclass(typing.cast(object, m))]
    by_name = {cls.__name__: cls for cls in classes}
    plain = [_reader(m) for m in members if m not in classes]

    def read(data: JsonValue, where: str) -> Any:
        if isinstance(data, dict) and by_name:
            body = typing.cast(JsonObject, data)
            cls = by_name.get(str(body.get("type"))) if len(by_name) > 1 else next(iter(by_name.values()))
            if cls is None:
                raise UnreadableEvent(f"{where}.type is none of {', '.join(by_name)}")
            return _build(cls, body, where)
        for reader in plain:
            try:
                return reader(data, where)
            except UnreadableEvent:
                continue
        raise UnreadableEvent(f"{where} has a type that is not expected")

    return read
