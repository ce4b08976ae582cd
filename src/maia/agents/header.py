"""The header of an `AGENT.md`: YAML between two `---`, read as text with its places, and changed field by field.

Every scalar is text: `nickname: No` is a name, no falsehood. What is not changed keeps its bytes, comments included.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from yaml.nodes import Node as YamlNode

MAX_HEADER: Final = 32_000
"""Characters; beyond it something else stands there."""
TOO_LONG: Final = "agents.bad.header_big"
_DEEPEST: Final = 8


class Invalid(Exception):
    """A definition cannot be used: the sentence's key, the line (from 1), and values for the sentence."""

    def __init__(self, key: str, line: int, **values: Any) -> None:
        super().__init__(key)
        self.key = key
        self.line = line
        self.values = values


@dataclass(frozen=True, slots=True)
class Scalar:
    """One text. `start` and `end` are places in the file's text; `is_block` for `|` and `>` texts."""

    text: str
    start: int
    end: int
    line: int
    is_block: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """A list; `is_block` where each entry stands on a line of its own after a dash."""

    items: tuple[Node, ...]
    start: int
    end: int
    line: int
    is_block: bool


@dataclass(frozen=True, slots=True)
class Fields:
    """Names with values; `is_block` where each stands on a line of its own."""

    fields: tuple[Field, ...]
    start: int
    end: int
    line: int
    is_block: bool

    def get(self, name: str) -> Field | None:
        return next((field for field in self.fields if field.name == name), None)


@dataclass(frozen=True, slots=True)
class Field:
    """A name with its value. `name` is in one spelling: `Asks-Nothing` is `asks_nothing`."""

    name: str
    written: str
    start: int
    line: int
    value: Node


Node: TypeAlias = Scalar | Items | Fields
Value: TypeAlias = str | bool | int | Sequence[str] | Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Header:
    """`fields` in their order. `inside` bounds the header's own text, `body` is where the rest begins."""

    fields: Fields
    inside: tuple[int, int]
    body: int


def spelled(name: str) -> str:
    """A field's name in one spelling."""
    return re.sub(r"[\s-]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip())).lower()


def read_header(text: str) -> Header:
    """The header of a file's text. Raises `Invalid`."""
    start, end, body = _bounds(text)
    if end - start > MAX_HEADER:
        raise Invalid(TOO_LONG, 2)
    root = _composed(text[start:end])
    if root is None:
        return Header(Fields((), start, start, 2, is_block=True), (start, end), body)
    fields = _Reader(text, start).node(root, 0)
    if not isinstance(fields, Fields) or not fields.is_block:
        raise Invalid("agents.bad.header_shape", 2)
    return Header(fields, (start, end), body)


_OPENING = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\r|\n)")
_CLOSING = re.compile(r"(?<=[\r\n])(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)")
_LINE_END = re.compile(r"\r\n|\r|\n")


def line_of(text: str, at: int) -> int:
    """The number of the line, from 1, in which a place lies."""
    return len(_LINE_END.findall(text, 0, at)) + 1


def _bounds(text: str) -> tuple[int, int, int]:
    opening = _OPENING.match(text)
    if opening is None:
        raise Invalid("agents.bad.no_header", 1)
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        raise Invalid("agents.bad.open_header", 1)
    return opening.end(), closing.start(), closing.end()


def _composed(text: str) -> YamlNode | None:
    import yaml  # only where an agent is read

    try:
        return yaml.BaseLoader(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 2 if mark else 2
        said = error.problem or ""
        key = next((key for start, key in _FAULTS if said.startswith(start)), "agents.bad.yaml")
        raise Invalid(key, line, problem=said) from None
    except yaml.reader.ReaderError as error:
        raise Invalid("agents.bad.character", line_of(text, error.position) + 1) from None
    except RecursionError:
        raise Invalid("agents.bad.deep", 2) from None


_FAULTS: Final = (
    ("mapping values are not allowed here", "agents.bad.colon"),
    ("found character '\\t'", "agents.bad.tab"),
    ("found undefined alias", "agents.bad.alias"),
)
"""How PyYAML 6 says it, and our sentence; all others are shown in its own words."""


class _Reader:
    """YAML's nodes -> ours, with places in the whole text."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._start = start
        self._seen: set[int] = set()

    def node(self, node: YamlNode, depth: int) -> Node:
        from yaml.nodes import MappingNode, ScalarNode, SequenceNode

        start, end, line = self._place(node)
        if id(node) in self._seen:
            raise Invalid("agents.bad.alias", line)
        if depth > _DEEPEST:
            raise Invalid("agents.bad.deep", line)
        self._seen.add(id(node))
        match node:
            case ScalarNode(value=value, style=style):
                return Scalar(str(value), start, end, line, style in ("|", ">"))
            case SequenceNode(value=values, flow_style=flow):
                items = tuple(self.node(each, depth + 1) for each in values)
                return Items(items, start, items[-1].end if items and not flow else end, line, not flow)
            case MappingNode(value=pairs, flow_style=flow):
                fields = tuple(self._field(name, value, depth) for name, value in pairs)
                self._refuse_twice(fields)
                return Fields(fields, start, fields[-1].value.end if fields and not flow else end, line, not flow)
            case _:
                raise Invalid("agents.bad.yaml", line, problem=type(node).__name__)

    def _field(self, name: YamlNode, value: YamlNode, depth: int) -> Field:
        named = self.node(name, depth + 1)
        if not isinstance(named, Scalar):
            raise Invalid("agents.bad.header_shape", named.line)
        return Field(spelled(named.text), named.text, named.start, named.line, self.node(value, depth + 1))

    def _refuse_twice(self, fields: Sequence[Field]) -> None:
        seen: set[str] = set()
        for field in fields:
            if field.name in seen:
                raise Invalid("agents.bad.twice", field.line, field=field.written)
            seen.add(field.name)

    def _place(self, node: YamlNode) -> tuple[int, int, int]:
        start, end = (self._start + (mark.index if mark else 0) for mark in (node.start_mark, node.end_mark))
        while end > start and self._text[end - 1] in " \t\r\n":  # a `|` text ends where the next line begins
            end -= 1
        return start, end, line_of(self._text, start)


# Changing -----------------------------------------------------------------------------------------------------------


class CannotEdit(Exception):
    """The header is written in a way in which this field cannot be changed without touching what stands around it."""


def with_field(text: str, name: str, value: Value | None) -> str:
    """The file's text with one field set, or taken out where `value` is None; everything else keeps its bytes.

    Entries of a list that stay keep their own lines and comments. Raises `Invalid` for a header that cannot be read
    or would be too long, `CannotEdit` where the result would not read as wanted.
    """
    header = read_header(text)
    field = header.fields.get(name)
    if value is None and field is None:
        return text
    edited = _Editor(text).field(header, field, name, value)
    try:
        after = read_header(edited)
    except Invalid as problem:
        if problem.key == TOO_LONG:
            raise
        raise CannotEdit from problem
    found = after.fields.get(name)
    now = None if found is None else plain(found.value)
    if _said(after, name) != _said(header, name) or now != (None if value is None else _as_read(value)):
        raise CannotEdit
    return edited


def _said(header: Header, but: str) -> list[tuple[str, object]]:
    return [(field.written, plain(field.value)) for field in header.fields.fields if field.name != but]


def plain(node: Node) -> object:
    """The value alone: texts, lists and dicts."""
    match node:
        case Scalar():
            return node.text
        case Items():
            return [plain(item) for item in node.items]
        case Fields():
            return {field.written: plain(field.value) for field in node.fields}


def _as_read(value: Value) -> object:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return value
        case Mapping():
            return {name: list(rules) for name, rules in value.items()}
        case _:
            return list(value)


class _Editor:
    def __init__(self, text: str) -> None:
        self._text = text
        found = _LINE_END.search(text)
        self._newline = found.group() if found else "\n"

    def field(self, header: Header, field: Field | None, name: str, value: Value | None) -> str:
        if field is None:
            changes = [(header.inside[1], header.inside[1], self._lines(name, value))]
        else:
            changes = list(self._changes(field, value))
        text = self._text
        for start, end, new in reversed(changes):
            text = text[:start] + new + text[end:]
        return text

    def _changes(self, field: Field, value: Value | None, indent: str = "") -> Iterator[tuple[int, int, str]]:
        """What is put in place of what, in the order of the text."""
        match value, field.value:
            case ((str() | bool() | int()), Scalar(is_block=False) as old) if not (
                self._is_split(old) or _has_lines(value)
            ):
                yield old.start, old.end, self._space(old) + _scalar(value)
            case ((list() | tuple()), Items(is_block=True, items=items) as old) if items and value:
                yield self._rebuilt(old, value)
            case ((list() | tuple()), (Items(is_block=False) | Scalar(is_block=False)) as old):
                yield old.start, old.end, self._space(old) + _flow(value)
            case Mapping(), Fields(is_block=True, fields=fields) as old if any(part.name in value for part in fields):
                yield from self._parts(old, value)
            case _:
                start, end = self._line_start(field.start), self._line_end(max(field.start, field.value.end))
                yield start, end, "" if value is None else self._lines(field.written, value, indent)

    def _parts(self, old: Fields, value: Mapping[str, Sequence[str]]) -> Iterator[tuple[int, int, str]]:
        """Lists by name, each on its own, so that those that stay keep their comments."""
        first = old.fields[0]
        indent = self._text[self._line_start(first.start) : first.start]
        for part in old.fields:
            yield from self._changes(part, value.get(part.name), indent)
        at = self._line_end(old.end)
        for name, rules in value.items():
            if old.get(name) is None:
                yield at, at, self._lines(name, rules, indent)

    def _space(self, old: Node) -> str:
        """A value where there was none stands apart from its colon."""
        return " " if old.start == old.end else ""

    def _rebuilt(self, old: Items, value: Sequence[str]) -> tuple[int, int, str]:
        """A list with a line each: entries that stay keep their lines with the comments before and after them."""
        start = self._line_start(old.items[0].start)
        indent = re.match(r"[ \t]*", self._text[start:])
        before = indent.group() if indent else ""
        chunks: dict[str, str] = {}
        at = start
        for item in old.items:
            end = self._line_end(item.end)
            chunks.setdefault(item.text if isinstance(item, Scalar) else "", self._text[at:end])
            at = end
        new = (chunks.get(each) or f"{before}- {_scalar(each)}{self._newline}" for each in value)
        return start, at, "".join(new)

    def _lines(self, name: str, value: Value | None, indent: str = "") -> str:
        return "".join(f"{indent}{row}{self._newline}" for row in _rendered(name, value))

    def _is_split(self, node: Scalar) -> bool:
        return "\n" in self._text[node.start : node.end]

    def _line_start(self, at: int) -> int:
        return max(self._text.rfind("\n", 0, at), self._text.rfind("\r", 0, at)) + 1

    def _line_end(self, at: int) -> int:
        """Where the next line begins."""
        found = _LINE_END.search(self._text, at)
        return found.end() if found else len(self._text)


def _rendered(name: str, value: Value | None) -> Iterator[str]:
    match value:
        case None:
            return
        case str() if _has_lines(value) and (rows := _block(value)):
            yield f"{name}: |-"
            yield from rows
        case str() | bool() | int():
            yield f"{name}: {_scalar(value)}"
        case Mapping():
            yield f"{name}:" if value else f"{name}: {{}}"
            for part, rules in value.items():
                yield f"  {part}:" if rules else f"  {part}: []"
                yield from (f"    - {_scalar(rule)}" for rule in rules)
        case _:
            yield f"{name}: {_flow(value)}"


def _has_lines(value: str | bool | int) -> bool:
    return isinstance(value, str) and "\n" in value


def _block(text: str) -> list[str]:
    """The lines of a text as `|` has them; empty where YAML would not read the same text again."""
    rows = text.split("\n")
    is_plain = text == text.strip() and all(row.isprintable() for row in rows)
    return [f"  {row}" if row else "" for row in rows] if is_plain else []


def _flow(values: Sequence[str]) -> str:
    return f"[{', '.join(_scalar(each, '[', ']') for each in values)}]"


def _scalar(value: str | bool | int, before: str = "", after: str = "") -> str:
    """As it is where YAML reads the same text again, in this program and in any other; else in quotes."""
    import yaml

    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    try:
        same = yaml.safe_load(f"k: {before}{value}{after}\n") == {"k": [value] if before else value}
    except (yaml.YAMLError, ValueError, RecursionError):
        same = False
    return value if same and value == value.strip() else json.dumps(value, ensure_ascii=False)
