"""One settings file as data: its parsed JSON with the line of every value, or the reason why it cannot be used."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeAlias, cast

from maia.core.events import Notice
from maia.core.fileread import read_bounded
from maia.core.jsonvalue import JsonObject
from maia.core.secret import Secret

MAX_BYTES = 1_000_000
"""A settings file is written by a person; beyond this size something else lies there."""

_UNUSABLE = {
    errno.EISDIR: "settings.not_a_file",
    errno.EINVAL: "settings.not_a_file",
    errno.EFBIG: "settings.too_big",
}

JsonPath: TypeAlias = tuple[str | int, ...]
"""Where a value stands: `("permissions", "allow", 0)`."""


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file that was found. `values` is empty when it could not be used, and `problems` says why.

    `shown` is its name for people (`~/.maia/settings.json`); `text` is kept for those who write the file back.
    """

    path: Path
    shown: str
    text: str = field(default="", repr=False)
    values: JsonObject = field(default_factory=dict[str, Any], repr=False)
    lines: dict[JsonPath, int] = field(default_factory=dict[JsonPath, int], repr=False)
    problems: tuple[Notice, ...] = ()

    def line(self, *path: str | int) -> int | None:
        """The line (from 1) of the value at `path`, or of the nearest value around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


class _Unusable(Exception):
    def __init__(self, key: str, **values: Any) -> None:
        super().__init__(key)
        self.key = key
        self.values = values


def read_settings_file(path: Path, shown: str) -> SettingsFile | None:
    """Read one file; None when there is none. Never raises: what is wrong becomes a problem (T1.10)."""
    try:
        raw = read_bounded(path, MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return _broken(path, shown, "settings.dangling") if path.is_symlink() else None
    except OSError as error:
        key = _UNUSABLE.get(error.errno or 0, "settings.unreadable")
        return _broken(path, shown, key, why=os.strerror(error.errno or 0))
    try:
        text = _decode(raw)
        values = _parse(text)
    except _Unusable as problem:
        return _broken(path, shown, problem.key, **problem.values)
    lines, twice = _lines_of(text)
    problems = tuple(
        Notice("warn", "settings.twice", {"file": shown, "line": line, "name": str(where[-1])}) for where, line in twice
    )
    return SettingsFile(path, shown, text, values, lines, problems)


def _broken(path: Path, shown: str, key: str, **values: Any) -> SettingsFile:
    return SettingsFile(path, shown, problems=(Notice("warn", key, {"file": shown, **values}),))


def _decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _Unusable("settings.not_utf8", line=raw.count(b"\n", 0, error.start) + 1) from None


def _parse(text: str) -> JsonObject:
    if not text.strip():
        return {}
    try:
        values = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        fault, at = _json_fault(error)
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        raise _Unusable(f"settings.json.{fault}", line=line, column=column) from None
    except RecursionError:
        raise _Unusable("settings.json.deep") from None
    except ValueError:  # Python refuses integers of more than 4,300 digits
        raise _Unusable("settings.json.number") from None
    if not isinstance(values, dict):
        raise _Unusable("settings.not_an_object")
    return cast(JsonObject, values)


def _no_constant(_word: str) -> NoReturn:
    raise ValueError


_JSON_FAULTS = (
    ("Expecting ',' delimiter", "comma"),
    ("Expecting ':' delimiter", "colon"),
    ("Expecting property name", "name"),
    ("Illegal trailing comma", "trailing"),
    ("Expecting value", "value"),
    ("Unterminated string", "string"),
    ("Invalid control character", "control"),
    ("Invalid \\", "escape"),
    ("Extra data", "extra"),
)
"""What `json` says and our word for it. The texts are those of CPython 3.11 to 3.14; others become `other`."""


def _json_fault(error: json.JSONDecodeError) -> tuple[str, int]:
    """What is wrong, in a word of the catalogue, and the position of it."""
    at, text = error.pos, error.doc
    before = text[:at].rstrip()
    if text[at : at + 1] in ("/", "#") or text[at : at + 2] == "--":
        return "comment", at
    if text[at : at + 1] in ("}", "]") and before.endswith(","):
        return "trailing", len(before) - 1
    if text[at : at + 1] in ("'", "\u2018", "\u201c", "\u201d"):
        return "quotes", at
    if not text[at:].strip() and not error.msg.startswith("Unterminated"):
        return "end", at
    return next((word for start, word in _JSON_FAULTS if error.msg.startswith(start)), "other"), at


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


@dataclass(slots=True)
class _Level:
    is_object: bool
    at: str | int
    wants_name: bool


def _lines_of(text: str) -> tuple[dict[JsonPath, int], list[tuple[JsonPath, int]]]:
    """The line of every value of a text that is known to be JSON, and the names that stand twice in one object."""
    lines: dict[JsonPath, int] = {}
    twice: list[tuple[JsonPath, int]] = []
    levels: list[_Level] = []
    line, seen = 1, 0
    for token in _TOKEN.finditer(text):
        line += text.count("\n", seen, token.start())
        seen = token.start()
        word = token.group()
        level = levels[-1] if levels else None
        if word in "}]":
            levels.pop()
        elif word == ",":
            assert level is not None
            if level.is_object:
                level.wants_name = True
            else:
                level.at = cast(int, level.at) + 1
        elif word != ":":
            if level is not None and level.wants_name:
                level.at, level.wants_name = json.loads(word), False
                where = tuple(each.at for each in levels)
                if where in lines:
                    twice.append((where, line))
                lines[where] = line
                continue
            lines.setdefault(tuple(each.at for each in levels), line)
            if word in "{[":
                levels.append(_Level(word == "{", "" if word == "{" else 0, word == "{"))
    return lines, twice


def close_if_secret(file: SettingsFile, values: Iterable[object]) -> Sequence[Notice]:
    """A file of ours whose values hold a key is for its owner's eyes: closed to others, and told."""
    if not any(map(_holds_secret, values)):
        return ()
    try:
        state = file.path.stat()
        if state.st_uid != os.geteuid() or not state.st_mode & 0o077:
            return ()
        file.path.chmod(stat.S_IMODE(state.st_mode) & 0o700)
    except OSError:
        return (Notice("warn", "settings.exposed", {"file": file.shown}),)
    return (Notice("warn", "settings.closed", {"file": file.shown}),)


def _holds_secret(value: object) -> bool:
    match value:
        case Secret():
            return True
        case dict():
            return any(map(_holds_secret, cast("dict[object, object]", value).values()))
        case list() | tuple():
            return any(map(_holds_secret, cast("Sequence[object]", value)))
        case _:
            return False
