"""The `permissions` of a settings file -> rules with their lines, and what was wrong with it (T6.01, T1.10)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from maia.core.errors import system_words
from maia.core.fileread import read_bounded
from maia.core.jsonvalue import JsonValue
from maia.core.permission import Rule, RuleSource, Verdict
from maia.permissions.rules import RuleProblem, parse_rule

LISTS: dict[str, Verdict] = {"allow": Verdict.ALLOW, "ask": Verdict.ASK, "deny": Verdict.DENY}

MAX_BYTES = 1_000_000
"""Of a settings file; beyond it something else lies there."""

FileState: TypeAlias = Literal["absent", "loaded", "broken"]


@dataclass(frozen=True, slots=True)
class RuleFile:
    """One settings file as far as permissions go. `shown` is its path as people know it (`./.maia/settings.json`)."""

    path: Path
    shown: str
    state: FileState = "absent"
    rules: tuple[Rule, ...] = ()
    problems: tuple[RuleProblem, ...] = ()


def read_rule_file(path: Path, shown: str) -> RuleFile:
    """Read a settings file's rules. Nothing here raises: what cannot be used is a problem, the rest loads."""
    try:
        text = read_bounded(path, MAX_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        return RuleFile(path, shown)
    except (OSError, UnicodeDecodeError) as error:
        return _broken(path, shown, RuleProblem("perm.file.unreadable", {"file": shown, "why": _cause(error)}))
    try:
        data = parsed(text)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        problem = RuleProblem("perm.file.json", {"file": shown, "line": line}, RuleSource(shown, line))
        return _broken(path, shown, problem)
    section: JsonValue = cast("dict[str, Any]", data).get("permissions", {}) if isinstance(data, dict) else {}
    rules, problems = rules_of(section, shown, text)
    return RuleFile(path, shown, "loaded", rules, problems)


def _broken(path: Path, shown: str, problem: RuleProblem) -> RuleFile:
    return RuleFile(path, shown, "broken", (), (problem,))


def _cause(error: Exception) -> str:
    return system_words(error) if isinstance(error, OSError) else "UTF-8"


def parsed(text: str) -> JsonValue:
    """A settings file's text as the rules read it; trust asks about the very same reading.

    Raises `ValueError` for what is no JSON or has a number of thousands of digits, `RecursionError` for a deep one.
    """
    return json.loads(text, object_pairs_hook=_merged) if text.strip() else {}


def _merged(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A repeated `deny` list adds up instead of the last one silently winning."""
    out: dict[str, Any] = {}
    for key, value in pairs:
        earlier = out.get(key)
        if key in LISTS and isinstance(earlier, list) and isinstance(value, list):
            value = [*cast("list[Any]", earlier), *cast("list[Any]", value)]
        out[key] = value
    return out


def rules_of(section: JsonValue, shown: str, text: str = "") -> tuple[tuple[Rule, ...], tuple[RuleProblem, ...]]:
    """Rules of a parsed `permissions` object. `text` is the raw file, in which the lines of rules are looked up."""
    if not isinstance(section, dict):
        return (), (RuleProblem("perm.file.section", {"file": shown}, RuleSource(shown)),)
    rules: list[Rule] = []
    problems: list[RuleProblem] = []
    lines = LineFinder(text)
    for name, entries in cast("dict[str, Any]", section).items():
        verdict = LISTS.get(name)
        if verdict is None or not isinstance(entries, list):
            key = "perm.file.list_name" if verdict is None else "perm.file.list"
            problems.append(RuleProblem(key, {"file": shown, "name": name}, RuleSource(shown, lines.of(name))))
            continue
        for entry in cast("list[Any]", entries):
            read = parse_rule(entry, verdict, RuleSource(shown, lines.of(entry, name)))
            (rules if isinstance(read, Rule) else problems).append(read)  # pyright: ignore[reportArgumentType] - told apart by isinstance
    return tuple(rules), tuple(problems)


class LineFinder:
    """Finds the line on which a rule is written in a JSON text; the same rule twice gives two lines, in order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._from: dict[tuple[str, str], int] = {}

    def of(self, value: object, list_name: str = "") -> int | None:
        """The line (from 1) of a JSON text value, after the given list's name where that is known."""
        for written in (json.dumps(value, ensure_ascii=False), json.dumps(value)):
            start = self._from.get((written, list_name))
            if start is None:
                start = max(0, self._text.find(json.dumps(list_name))) if list_name else 0
            at = self._text.find(written, start)
            if at >= 0:
                self._from[written, list_name] = at + len(written)
                return self._text.count("\n", 0, at) + 1
        return None
