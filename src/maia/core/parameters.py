"""Reads a call's arguments from a table of parameters: one table gives the JSON Schema and the checked values.

Models send `"12"` for 12, `filePath` for `path`, null for absent, or the object as a JSON string. What they clearly
mean is accepted; everything else is an `ArgumentProblem` that lists what was received (T5.02).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

from maia.core.errors import ArgumentProblem
from maia.core.jsontext import read_json
from maia.core.jsonvalue import JsonObject, JsonValue

Kind: TypeAlias = Literal["string", "text", "integer", "number", "boolean", "list", "texts"]
"""`text` is a string that may also come as a JSON value (the content of a `.json` file), which is then written out;
`texts` is an object of strings under any names."""

_WRAPPERS: Final = frozenset({"arguments", "args", "input", "parameters", "params"})
_TRUE: Final = frozenset({"true", "yes", "on", "1"})
_FALSE: Final = frozenset({"false", "no", "off", "0"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """One row of the table. `items` describes the members of a list: objects by a table, others by their kind.

    `minimum` is inclusive. Case, `_` and `-` of names never matter, so `filePath` is no alias of `file_path`.
    """

    name: str
    kind: Kind
    description: str = ""
    required: bool = False
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    items: Parameters | Kind | None = None

    def schema(self) -> JsonObject:
        """This parameter as JSON Schema, without what adds nothing."""
        schema: JsonObject = {"type": _SCHEMA_TYPES[self.kind]}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.items:
            schema["items"] = (
                self.items.schema() if isinstance(self.items, Parameters) else {"type": _SCHEMA_TYPES[self.items]}
            )
        if self.kind == "texts":
            schema["additionalProperties"] = {"type": "string"}
        if self.description:
            schema["description"] = self.description
        return schema


@dataclass(frozen=True, slots=True)
class Parameters:
    """The table of one tool. `keys` is the catalogue prefix of its error sentences (`.missing`, `.type`, …).

    A `closed` table refuses names that it does not know.
    """

    rows: tuple[Parameter, ...]
    keys: str = "tool.argument"
    closed: bool = False

    def schema(self) -> JsonObject:
        """The JSON Schema object that the model sees."""
        schema: JsonObject = {"type": "object", "properties": {row.name: row.schema() for row in self.rows}}
        if required := [row.name for row in self.rows if row.required]:
            schema["required"] = required
        if self.closed:
            schema["additionalProperties"] = False
        return schema

    def read(self, arguments: JsonValue) -> dict[str, Any]:
        """The value of every parameter by its name, None where an optional one is absent.

        Unknown names are left out, unless the table is closed.

        Raises `ArgumentProblem` with `received`, the list of what came.
        """
        body = self._unwrapped(arguments)
        try:
            return _read_rows(self, body, where="")
        except _Misfit as misfit:
            raise ArgumentProblem(
                f"{self.keys}.{misfit.problem}", received=received_parameters(body), **misfit.values
            ) from None

    def _unwrapped(self, arguments: JsonValue) -> JsonObject:
        """The object itself, when it came as a JSON string or inside `{"arguments": …}`."""
        body = _parsed(arguments)
        if not isinstance(body, dict):
            raise ArgumentProblem(f"{self.keys}.not_object", received=_size_of(arguments))
        found = cast(JsonObject, body)
        if len(found) == 1:
            ((name, inner),) = found.items()
            is_ours = any(_plain(name) in _names_of(row) for row in self.rows)
            if not is_ours and _plain(name) in _WRAPPERS and isinstance(_parsed(inner), dict):
                return cast(JsonObject, _parsed(inner))
        return found


def received_parameters(arguments: JsonObject) -> str:
    """The names received, each with its type and size: `{path: string(12), limit: integer}` (T5.02).

    Sizes are code points of a string and members of a list or object; values are never shown.
    """
    return "{" + ", ".join(f"{name}: {_size_of(value)}" for name, value in arguments.items()) + "}"


class _Misfit(Exception):
    """A value that does not fit: `problem` is the end of the catalogue key."""

    def __init__(self, problem: str, **values: Any) -> None:
        super().__init__(problem)
        self.problem = problem
        self.values = values


def _read_rows(table: Parameters, body: JsonObject, where: str) -> dict[str, Any]:
    if table.closed:
        _refuse_unknown(table.rows, body, where)
    values: dict[str, Any] = {}
    for row in table.rows:
        value = _find(row, body)
        name = f"{where}{row.name}"
        if value is None or (value == "" and row.kind not in ("string", "text")):
            if row.required:
                raise _Misfit("missing", name=name)
            values[row.name] = None
        else:
            values[row.name] = _READERS[row.kind](value, row, name)
    return values


def _refuse_unknown(rows: tuple[Parameter, ...], body: JsonObject, where: str) -> None:
    known = {name for row in rows for name in _names_of(row)}
    for name in body:
        if _plain(name) not in known:
            raise _Misfit("unknown", name=f"{where}{name}"[:60], known=", ".join(row.name for row in rows))


def _find(row: Parameter, body: JsonObject) -> JsonValue:
    """The value under the parameter's own name, else under another spelling of it, else under an alias in order."""
    if body.get(row.name) is not None:
        return body[row.name]
    spelled = {_plain(name): value for name, value in body.items() if value is not None}
    return next((spelled[name] for name in _names_of(row) if name in spelled), None)


def _names_of(row: Parameter) -> tuple[str, ...]:
    return tuple(_plain(name) for name in (row.name, *row.aliases))


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _parsed(value: JsonValue) -> JsonValue:
    """A JSON text as its value; anything else, and a text that is no JSON, as it is."""
    if not isinstance(value, str):
        return value
    try:
        return read_json(value)
    except ValueError:
        return value


def _read_string(value: JsonValue, row: Parameter, name: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise _Misfit("type", name=name, expected="string", got=_size_of(value))
    text = str(value)
    if not row.choices or text in row.choices:
        return text
    for choice in row.choices:
        if _plain(choice) == _plain(text.strip().replace(" ", "_")):
            return choice
    raise _Misfit("choice", name=name, got=text[:60], choices=", ".join(row.choices))


def _read_text(value: JsonValue, row: Parameter, name: str) -> str:
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    return _read_string(value, row, name)


def _read_integer(value: JsonValue, row: Parameter, name: str) -> int:
    number = _read_number(value, row, name)
    if not number.is_integer():
        raise _Misfit("type", name=name, expected="integer", got=_size_of(value))
    return int(number)


def _read_number(value: JsonValue, row: Parameter, name: str) -> float:
    try:
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise ValueError(value)
        number = float(value)
        if number != number or number in (float("inf"), float("-inf")):
            raise ValueError(value)
    except (ValueError, OverflowError):
        raise _Misfit("type", name=name, expected=_SCHEMA_TYPES[row.kind], got=_size_of(value)) from None
    if row.minimum is not None and number < row.minimum:
        raise _Misfit("minimum", name=name, minimum=row.minimum, got=value)
    return number


def _read_boolean(value: JsonValue, row: Parameter, name: str) -> bool:
    word = str(value).strip().lower()
    if isinstance(value, (bool, int, float, str)) and word in _TRUE | _FALSE:
        return word in _TRUE
    raise _Misfit("type", name=name, expected=_SCHEMA_TYPES[row.kind], got=_size_of(value))


def _read_list(value: JsonValue, row: Parameter, name: str) -> list[Any]:
    items = _parsed(value)
    if not isinstance(items, list):
        raise _Misfit("type", name=name, expected="array", got=_size_of(value))
    return [_read_item(row, item, f"{name}[{n}]") for n, item in enumerate(cast("list[Any]", items))]


def _read_texts(value: JsonValue, row: Parameter, name: str) -> dict[str, str]:
    texts = _parsed(value)
    if not isinstance(texts, dict):
        raise _Misfit("type", name=name, expected="object", got=_size_of(value))
    return {key: _read_text(text, row, f"{name}.{key}") for key, text in cast(JsonObject, texts).items()}


def _read_item(row: Parameter, item: JsonValue, name: str) -> JsonValue:
    if row.items is None:
        return item
    if not isinstance(row.items, Parameters):
        return _READERS[row.items](item, Parameter(name, row.items), name)
    if not isinstance(item, dict):
        raise _Misfit("type", name=name, expected="object", got=_size_of(item))
    return _read_rows(row.items, cast(JsonObject, item), where=f"{name}.")


def _size_of(value: JsonValue) -> str:
    """The JSON type of a value, with its length where it has one."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return f"string({len(value)})"
        case list():
            return f"array({len(cast('list[Any]', value))})"
        case _:
            return f"object({len(cast(JsonObject, value))})"


_SCHEMA_TYPES: Final[dict[Kind, str]] = {
    "string": "string",
    "text": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "list": "array",
    "texts": "object",
}

_READERS: Final[dict[Kind, Callable[[JsonValue, Parameter, str], Any]]] = {
    "string": _read_string,
    "text": _read_text,
    "integer": _read_integer,
    "number": _read_number,
    "boolean": _read_boolean,
    "list": _read_list,
    "texts": _read_texts,
}
