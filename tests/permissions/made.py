"""Short ways to make rules and needs for these tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from maia.core.permission import Decision, Need, Rule, RuleSource, Verdict
from maia.permissions.check import need_of
from maia.permissions.decide import decide
from maia.permissions.paths import Place
from maia.permissions.rules import RuleSet, parse_rule

SOURCE = RuleSource("here")
NOWHERE = Place(Path("/nonexistent/launch"), Path("/nonexistent/home"), fold_case=False)


def rule(text: str, verdict: Verdict = Verdict.ALLOW) -> Rule:
    read = parse_rule(text, verdict, SOURCE)
    assert isinstance(read, Rule), read
    return read


def rules(*, allow: Sequence[str] = (), ask: Sequence[str] = (), deny: Sequence[str] = ()) -> RuleSet:
    kinds = ((Verdict.ALLOW, allow), (Verdict.ASK, ask), (Verdict.DENY, deny))
    return RuleSet(tuple(rule(text, verdict) for verdict, texts in kinds for text in texts))


def judged(tool: str, value: str, in_force: RuleSet, place: Place = NOWHERE) -> Decision:
    return decide([need_of(tool, value)], in_force, place)


def verdict(tool: str, value: str, in_force: RuleSet, place: Place = NOWHERE) -> str:
    return judged(tool, value, in_force, place).verdict.name.lower()


def shell(command: str, in_force: RuleSet, place: Place = NOWHERE) -> str:
    return decide([Need("Bash", "command", command)], in_force, place).verdict.name.lower()
