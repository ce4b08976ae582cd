"""Fills `$NAME` and `${NAME}` into the values of a settings file: one pass, nothing run, nothing silent (C3.06)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import cast

from maia.core.jsonvalue import JsonObject, JsonValue
from maia.credentials.prefixes import shown_name
from maia.credentials.problems import Problem, fail, warn


@dataclass(frozen=True, slots=True)
class Filled:
    """A value with its references filled in. `references` are the variables it took something from."""

    text: str = field(repr=False)
    references: tuple[str, ...] = field(default=(), repr=False)
    problems: tuple[Problem, ...] = ()


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(r"\$\$|\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)|\$\{[^}]*\}", re.ASCII)


def interpolate(text: str, env: Mapping[str, str], where: str = "") -> Filled:
    """A value that is no key. A variable that is not set gives nothing, and `$$` too, both with a warning.

    `${…}` around anything but a name is left as it is, with a warning.
    """
    references: list[str] = []
    problems: list[Problem] = []

    def fill(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if found[0] == "$$":
            problems.append(warn("DOLLAR_ESCAPE", where=where))
            return ""
        if not name:
            if found[0] != "${}":
                problems.append(warn("UNSUPPORTED_SYNTAX", where=where))
            return found[0]
        references.append(name)
        if name not in env:
            problems.append(warn("UNRESOLVED_VAR", variable=shown_name(name), where=where))
        return env.get(name, "")

    return Filled(_pattern().sub(fill, text), tuple(references), tuple(problems))


def interpolate_token(text: str, env: Mapping[str, str], where: str) -> Filled:
    """A value that is a key: what cannot be filled is an error and never another key (C3.01).

    A bare `$name` inside a longer text is filled only where that variable is set: a key may hold a dollar sign.
    """
    whole = _pattern().fullmatch(text.strip())
    references: list[str] = []
    problems: list[Problem] = []

    def fill(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if found[0] == "$$":
            problems.append(fail("DOLLAR_ESCAPE", where=where))
        elif not name:
            problems.append(fail("UNSUPPORTED_SYNTAX", where=where))
        elif env.get(name, "").strip():
            references.append(name)
            return env[name]
        elif found[1] or whole:
            problems.append(fail("MISSING_ENV_VAR", variable=shown_name(name), where=where))
        return found[0]

    return Filled(_pattern().sub(fill, text), tuple(references), tuple(problems))


def interpolate_json(
    value: JsonValue, env: Mapping[str, str], where: str = ""
) -> tuple[JsonValue, tuple[Problem, ...]]:
    """Every text in a JSON value, in objects and lists too; names of fields are left alone."""
    problems: list[Problem] = []

    def fill(part: JsonValue) -> JsonValue:
        if isinstance(part, str):
            filled = interpolate(part, env, where)
            problems.extend(filled.problems)
            return filled.text
        if isinstance(part, list):
            return [fill(item) for item in cast("list[JsonValue]", part)]
        if isinstance(part, dict):
            return {name: fill(item) for name, item in cast(JsonObject, part).items()}
        return part

    return fill(value), tuple(problems)
