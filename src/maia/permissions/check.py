"""`maia permissions check TOOL VALUE`: the verdict on one call as data for scripts (decisions §11)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from maia.core.errors import SettingsProblem
from maia.core.jsonvalue import JsonObject
from maia.core.permission import Decision, Need, NeedKind, Rule
from maia.core.ports import Say
from maia.core.reason import Reason
from maia.permissions.judge import RuleJudge
from maia.permissions.paths import Place
from maia.permissions.rules import PATH_TOOLS, canonical_tool
from maia.permissions.trust import trust_state

_KINDS: dict[str, NeedKind] = {
    "Bash": "command",
    "WebFetch": "host",
    "Delete": "name",
    "Skill": "name",
    "Agent": "name",
    "Mcp": "name",
    "TodoWrite": "none",
    "CurrentModel": "none",
    "AskUser": "none",
    "MemoryStore": "none",
    "MemorySearch": "none",
    "MemoryExpand": "none",
}


def need_of(tool: str, value: str) -> Need:
    """The need that a call of this tool with this value has; tools that are not built in are matched as text."""
    name = canonical_tool(tool)
    kind = "path" if name in PATH_TOOLS else _KINDS.get(name, "text")
    return Need(name, kind, value)


def check(tool: str, value: str, *, cwd: Path, home: Path, settings_files: Sequence[Path] = (), say: Say) -> JsonObject:
    """`{verdict, rule, reason, parts}`: the verdict, the rule that made it (its text, or null), the reason in words.

    `cwd` is the launch folder. With `settings_files` only those are read, and they are trusted; without, the user's and
    the launch folder's files as at a start. Nothing is executed and nothing is written. Raises `SettingsProblem` when
    one of `settings_files` is missing or is no JSON: an answer without its rules would be wrong.
    """
    place = Place(cwd, home)
    files = [(path, str(path)) for path in settings_files] or None
    trusted = bool(files) or trust_state(cwd, home).verdict == "trusted"
    judge = RuleJudge(place, trusted=trusted, files=files)
    for file in judge.files if files else ():
        if file.state == "absent":
            raise SettingsProblem("perm.file.absent", file=file.shown)
        if file.state == "broken":
            raise SettingsProblem(file.problems[0].key, **file.problems[0].values)
    return to_json(judge.decide([need_of(tool, value)]), say)


def to_json(decision: Decision, say: Say) -> JsonObject:
    """A decision with its reasons in words."""
    return {
        "verdict": decision.verdict.name.lower(),
        "rule": _rule(decision.rule),
        "reason": _words(decision.reason, say),
        "parts": [
            {
                "text": part.text,
                "verdict": part.verdict.name.lower(),
                "rule": _rule(part.rule),
                "reason": _words(part.reason, say),
            }
            for part in decision.parts
        ],
    }


def _rule(rule: Rule | None) -> str | None:
    return rule.text if rule else None


def _words(reason: Reason, say: Say) -> str:
    return say(reason.key, **reason.values)
