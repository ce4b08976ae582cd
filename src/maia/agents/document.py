"""The text of an `AGENT.md` -> an agent's definition, or the reason with its line why it is none (T7.02)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias, get_args

from maia.agents.header import Field, Fields, Header, Invalid, Items, Scalar, read_header
from maia.agents.names import is_avatar, near, nickname_fault
from maia.agents.sections import read_sections
from maia.core.agent import OWN_RUNNER, AgentDefinition, AgentGroup, AgentKind, AgentLevel, AgentRules
from maia.core.requests import Effort

MAX_BYTES: Final = 256_000
"""Of an `AGENT.md`; people and models read it whole."""
MAX_ENTRIES: Final = 500
"""Of any list in the header."""

Read: TypeAlias = Callable[[Field], Any]
_TRUE: Final = ("true", "yes", "on", "oui")
_FALSE: Final = ("false", "no", "off", "non")


@dataclass(frozen=True, slots=True)
class Outside:
    """What the definition is checked against and this room cannot know.

    `runners` are the names of agent programs; `hides` tells whether a text that should be a variable's name may be a
    key itself; `masked` is a text without the keys in it.
    """

    runners: tuple[str, ...] = ()
    hides: Callable[[str], bool] = lambda _text: False
    masked: Callable[[str], str] = lambda text: text


@dataclass(frozen=True, slots=True)
class Origin:
    """Which agent's file it is, and whose. `shown` is the file's name for people."""

    name: str
    level: AgentLevel
    shown: str


@dataclass(frozen=True, slots=True)
class Document:
    """A definition, and fields of the header that nobody knows but that look like one: (name, line, perhaps meant)."""

    agent: AgentDefinition
    doubtful: tuple[tuple[str, int, str], ...] = ()


@lru_cache(maxsize=128)
def read_document(text: str, origin: Origin, outside: Outside) -> Document:
    """Read a whole file. Raises `Invalid`. Pure, and remembered: a host of runs reads the same files each time."""
    header = read_header(text)
    values: dict[str, Any] = {}
    for field in header.fields.fields:
        if (known := FIELDS.get(field.name)) and not _is_blank(field):
            values[known.attribute] = known.read(field)
    doubtful = tuple(_doubtful(header))
    sections = read_sections(text, header.body)
    _check_name(header, origin, values.pop("name", origin.name))
    _check_outside(header, values, outside)
    if not values.get("description"):
        raise Invalid("agents.bad.no_description", 2)
    told = {name: section.text for name, section in sections.items()}
    named: dict[str, Any] = {"nickname": origin.name, **values, **told}
    return Document(AgentDefinition(origin.name, **named, level=origin.level, shown=origin.shown), doubtful)


def _is_blank(field: Field) -> bool:
    """`tools:` without anything after it says nothing, as the template has it."""
    return isinstance(field.value, Scalar) and not field.value.text.strip()


def _check_name(header: Header, origin: Origin, name: str) -> None:
    """The folder's name rules; a header that says another is somebody's mistake."""
    if name != origin.name:
        field = header.fields.get("name")
        raise Invalid("agents.bad.other_name", field.line if field else 2, name=name, folder=origin.name)


def _check_outside(header: Header, values: Mapping[str, Any], outside: Outside) -> None:
    def line(name: str) -> int:
        field = header.fields.get(name)
        return field.line if field else 2

    runner = values.get("runner", OWN_RUNNER)
    known = (OWN_RUNNER, *outside.runners)
    if runner not in known:
        close = ", ".join(near(runner, known) or known)
        raise Invalid("agents.bad.runner", line("runner"), runner=runner, known=close)
    if (key := values.get("key", "")) and outside.hides(key):
        raise Invalid("agents.bad.key_itself", line("key"))


_RESTRICTING: Final = ("tools", "skills", "permissions")


def _doubtful(header: Header) -> list[tuple[str, int, str]]:
    """Unknown fields that look like a known one which is not there.

    Raises `Invalid` where that one would restrict the agent: it must not run with more than was meant.
    """
    from difflib import get_close_matches  # only where a header has a field that we do not know

    found: list[tuple[str, int, str]] = []
    for field in header.fields.fields:
        if field.name in FIELDS:
            continue
        close = next(iter(get_close_matches(field.name, FIELDS, 1, 0.85)), "")
        if not close or header.fields.get(close):
            continue
        if close in _RESTRICTING:
            raise Invalid("agents.bad.unknown_field", field.line, field=field.written, close=close)
        found.append((field.written, field.line, close))
    return found


# What each field holds ----------------------------------------------------------------------------------------------


def _text(field: Field) -> str:
    value = field.value
    if not isinstance(value, Scalar):
        raise Invalid("agents.bad.text", value.line, field=field.written)
    return value.text.strip()


def _line(field: Field) -> str:
    """A text of one line that cannot act on a screen or in a request."""
    text = _text(field)
    if not text.isprintable():
        raise Invalid("agents.bad.one_line", field.value.line, field=field.written)
    return text


def _prose(field: Field) -> str:
    """A text whose lines are joined."""
    return " ".join(_text(field).split())


def _nickname(field: Field) -> str:
    text = " ".join(_text(field).split(" "))
    if fault := nickname_fault(text):
        raise Invalid(fault, field.value.line)
    return text


def _switch(field: Field) -> bool:
    word = _text(field).lower()
    if word not in (*_TRUE, *_FALSE):
        raise Invalid("agents.bad.switch", field.value.line, field=field.written)
    return word in _TRUE


def _avatar(field: Field) -> str:
    text = _text(field)
    if not is_avatar(text):
        raise Invalid("agents.bad.avatar", field.value.line)
    return text


def _word_of(kind: object, key: str) -> Read:
    """Reads one word of a `Literal`, in any case."""
    words: tuple[str, ...] = get_args(kind)

    def read(field: Field) -> str:
        word = _text(field).lower()
        if word not in words:
            raise Invalid(key, field.value.line, given=word, known=", ".join(words))
        return word

    return read


def _list(field: Field) -> tuple[str, ...]:
    """`[a, b]`, a dash each, or one text."""
    value = field.value
    if isinstance(value, Scalar):
        return (_line(field),)
    if not isinstance(value, Items):
        raise Invalid("agents.bad.list", value.line, field=field.written)
    if len(value.items) > MAX_ENTRIES:
        raise Invalid("agents.bad.many", value.line, field=field.written, most=MAX_ENTRIES)
    texts: list[str] = []
    for item in value.items:
        if not isinstance(item, Scalar) or not item.text.strip() or not item.text.isprintable():
            raise Invalid("agents.bad.entry", item.line, field=field.written)
        texts.append(item.text.strip())
    return tuple(texts)


MAX_TURNS: Final = 1000
"""Of a turn; somebody who wants more means no limit, and there is none without one."""


def _count(field: Field) -> int:
    text = _text(field)
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and 1 <= int(text) <= MAX_TURNS):
        raise Invalid("agents.bad.count", field.value.line, field=field.written, most=MAX_TURNS)
    return int(text)


MAX_TOKENS: Final = 10**12
"""Of a month; 0 says that there is no limit."""


def _tokens(field: Field) -> int:
    text = _text(field)
    if not (text.isascii() and text.isdecimal() and len(text) < 14 and int(text) <= MAX_TOKENS):
        raise Invalid("agents.bad.tokens", field.value.line, field=field.written, most=MAX_TOKENS)
    return int(text)


_TOOL: Final = re.compile(r"[^\W\d][\w.-]*\*?")


def _names(field: Field) -> tuple[str, ...]:
    """A list of names; also in one text with commas, as other programs write it."""
    names = [name.strip() for text in _list(field) for name in text.split(",") if name.strip()]
    for name in names:
        if not _TOOL.fullmatch(name):
            raise Invalid("agents.bad.tool", field.value.line, field=field.written, name=name)
    return tuple(dict.fromkeys(names))


def _rules(field: Field) -> AgentRules:
    value = field.value
    if not isinstance(value, Fields):
        raise Invalid("agents.bad.permissions", value.line)
    for part in value.fields:
        if part.name not in ("allow", "ask", "deny"):
            raise Invalid("agents.bad.permissions", part.line)
    return AgentRules(**{part.name: _list(part) for part in value.fields if not _is_blank(part)})


_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


def _variable(field: Field) -> str:
    name = _text(field)
    if not _VARIABLE.fullmatch(name):
        raise Invalid("agents.bad.key", field.value.line)  # without the value: it may be a key
    return name


@dataclass(frozen=True, slots=True)
class Known:
    """A field of the header: the attribute of the definition that it fills, and how it is read."""

    attribute: str
    read: Read


FIELDS: Final[Mapping[str, Known]] = {
    "name": Known("name", _line),
    "nickname": Known("nickname", _nickname),
    "description": Known("description", _prose),
    "tools": Known("tools", _names),
    "skills": Known("skills", _names),
    "permissions": Known("rules", _rules),
    "model": Known("model", _line),
    "effort": Known("effort", _word_of(Effort, "agents.bad.effort")),
    "trace": Known("keeps_trace", _switch),
    "runner": Known("runner", _line),
    "key": Known("key", _variable),
    "folders": Known("folders", _list),
    "memory": Known("has_memory", _switch),
    "asks_nothing": Known("asks_nothing", _switch),
    "group": Known("group", _word_of(AgentGroup, "agents.bad.group")),
    "max_turns": Known("max_turns", _count),
    "monthly_tokens": Known("monthly_tokens", _tokens),
    "type": Known("kind", _word_of(AgentKind, "agents.bad.type")),
    "role": Known("role", _line),
    "goal": Known("goal", _text),
    "backstory": Known("backstory", _text),
    "capabilities": Known("capabilities", _list),
    "constraints": Known("constraints", _list),
    "avatar": Known("avatar", _avatar),
    "enabled": Known("is_enabled", _switch),
}
"""Every field that means something. Others are kept as they are: they belong to other programs."""
