"""Where keys are looked for: the `env` block of `settings_<agent>.json`, the agent's `.env`, the environment (C3)."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, cast

from maia.core.jsonvalue import JsonObject
from maia.core.providers import GENERIC_VARS
from maia.credentials.interpolate import interpolate, interpolate_json, interpolate_token
from maia.credentials.prefixes import shown_name
from maia.credentials.problems import Problem, fail, warn
from maia.credentials.providers import own_vars, shared_vars
from maia.settings_file import SettingsFile, read_settings_file

ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class Layer:
    """One place with its variables, references filled in. `references` say which variable a value was taken from.

    `broken` are token keys that hold no usable key; there is then no falling back to another (C3.01).
    """

    kind: Literal["settings", "agent", "process"]
    name: str
    values: Mapping[str, str] = field(repr=False)
    references: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    problems: tuple[Problem, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def token_keys(self) -> tuple[str, ...]:
        """The names of keys in it, in the order in which they are preferred."""
        return tuple(name for name in token_vars() if name in self.values or name in self.broken)


@cache
def token_vars() -> tuple[str, ...]:
    """Every variable that may hold a key: each provider's own, those for anybody's, those shared with other uses."""
    return tuple(dict.fromkeys((*own_vars(), *GENERIC_VARS, *shared_vars())))


def process_layer(env: Mapping[str, str], name: str = ENVIRONMENT) -> Layer:
    """The environment, or the kept keys, as they are. An empty variable is one that is not set."""
    return Layer("process", name, {key: value for key, value in env.items() if value.strip()})


def agent_layer(path: Path, values: Mapping[str, str]) -> Layer:
    """What a person wrote into an agent's `.env`."""
    return Layer("agent", str(path), {key: value for key, value in values.items() if value.strip()})


def settings_layer(path: Path, env: Mapping[str, str]) -> Layer:
    """The `env` block of a settings file, read raw, then filled from the environment (C3.01, C3.06).

    Never raises: a file that cannot be used is BAD_SETTINGS with file, line and column (C3.07). A file with a key in it
    that others can read is closed to them, with a warning.
    """
    shown = path.name
    file = read_settings_file(path, shown)
    if file is None:
        return _unusable(shown, fail("BAD_SETTINGS", where=shown, reason="missing"))
    if file.problems and not file.text:
        return _unusable(shown, _bad(file))
    if problem := _foreign(path, shown):
        return _unusable(shown, problem)
    block = file.values.get("env", {})
    if not isinstance(block, dict):
        return _unusable(shown, fail("BAD_SETTINGS", where=f"{shown}:{file.line('env')}:1", reason="env"))
    return _filled(path, file, cast(JsonObject, block), env)


def _unusable(shown: str, problem: Problem) -> Layer:
    return Layer("settings", shown, {}, problems=(problem,))


def _bad(file: SettingsFile) -> Problem:
    notice = file.problems[0]
    place = [str(notice.values[part]) for part in ("line", "column") if part in notice.values]
    line, column = notice.values.get("line"), notice.values.get("column")
    where = ":".join([file.shown, *place])
    return fail("BAD_SETTINGS", where=where, reason=_reason(notice.key), line=line, column=column)


def _reason(key: str) -> str:
    """What is wrong with the file in a word of ours; the place says the rest."""
    return "json" if key.startswith("settings.json.") else key.rpartition(".")[2]


def _filled(path: Path, file: SettingsFile, block: JsonObject, env: Mapping[str, str]) -> Layer:
    values: dict[str, str] = {}
    references: dict[str, str] = {}
    problems: list[Problem] = []
    broken: list[str] = []
    literal = False
    for name, raw in block.items():
        is_token = name in token_vars()
        where = f"{file.shown}: {shown_name(name)}"
        if raw is None:
            continue
        if not isinstance(raw, str):
            if is_token:
                line = file.line("env", name)
                problems.append(fail("BAD_SETTINGS", where=f"{file.shown}:{line}:1", reason="text"))
                broken.append(name)
            else:
                value, inside = interpolate_json(raw, env, where)
                problems += inside
                values[name] = json.dumps(value, ensure_ascii=False)  # a variable is a text
            continue
        filled = (interpolate_token if is_token else interpolate)(raw, env, where)
        problems += filled.problems
        if is_token and (not filled.text.strip() or any(p.level == "fail" for p in filled.problems)):
            problems += () if filled.problems else (fail("EMPTY_TOKEN", where=where),)
            broken.append(name)
            continue
        values[name] = filled.text
        if filled.references:
            references[name] = filled.references[0]
        literal = literal or (is_token and not filled.references)
    if literal:
        problems += _closed(path, file.shown)
    return Layer("settings", file.shown, values, references, tuple(problems), tuple(broken))


def _foreign(path: Path, shown: str) -> Problem | None:
    """Somebody else's file could send keys of this person anywhere."""
    try:
        owner = path.stat().st_uid
    except OSError:
        return None
    return None if owner in (0, os.geteuid()) else fail("FOREIGN_OWNER", file=shown)


def _closed(path: Path, shown: str) -> tuple[Problem, ...]:
    """Close a file that holds a key to group and others."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        if not mode & 0o077:
            return ()
        path.chmod(mode & 0o700)
    except OSError:
        return (warn("FILE_EXPOSED", file=shown, tightened=False),)
    return (warn("FILE_EXPOSED", file=shown, tightened=True),)
