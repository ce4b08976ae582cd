"""What a person is shown about rules: the start line, problems, and `/permissions` (T1.09, T1.10, T6.07)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from maia.core.events import Notice
from maia.core.ports import Say
from maia.core.types import Rule, Verdict
from maia.permissions.judge import RuleJudge
from maia.permissions.rules import RuleProblem

ORDER = (Verdict.ALLOW, Verdict.ASK, Verdict.DENY)
"""The order in which `/permissions` shows the kinds."""


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """The rules of one kind from one source, one text a line."""

    verdict: Verdict
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RulesOf:
    """One source (a settings file as shown, `--allow`, `session`) with its groups; empty kinds are left out.

    `waiting` are allow rules of a folder that is not trusted yet: they are shown, but not in force.
    """

    source: str
    groups: tuple[RuleGroup, ...]
    waiting: bool = False


def rules_view(judge: RuleJudge) -> tuple[RulesOf, ...]:
    """The active rules source by source, in the order in which they were read; sources without rules are left out."""
    found = [_of(file.shown, file.rules, waiting=judge.waits(file)) for file in judge.files]
    further = dict.fromkeys(rule.source.name for rule in judge.session_rules)
    found += [_of(name, [rule for rule in judge.session_rules if rule.source.name == name]) for name in further]
    return tuple(view for view in found if view.groups)


def _of(source: str, rules: Sequence[Rule], *, waiting: bool = False) -> RulesOf:
    groups = (RuleGroup(kind, tuple(rule.text for rule in rules if rule.verdict is kind)) for kind in ORDER)
    return RulesOf(source, tuple(group for group in groups if group.rules), waiting)


def start_notices(judge: RuleJudge, say: Say) -> tuple[Notice, ...]:
    """The INFO with the files loaded and their rule counts, or that there is none; a WARN for each problem.

    A file that is no JSON at all is told by the settings, which read the same file.
    """
    loaded = [file for file in judge.files if file.rules]
    shown = [
        say("perm.start.file" if i == 0 else "perm.start.next", n=len(file.rules), file=file.shown)
        for i, file in enumerate(loaded)
    ]
    info = (
        Notice("info", "perm.start.files", {"files": ", ".join(shown)}) if shown else Notice("info", "perm.start.none")
    )
    problems = [problem for file in judge.files if file.state != "broken" for problem in file.problems]
    return (info, *(problem_notice(problem, say) for problem in (*problems, *judge.option_problems)))


def problem_notice(problem: RuleProblem, say: Say) -> Notice:
    """A problem as a warning that names file and place."""
    where = problem.source.name
    if problem.source.line is not None:
        where = say("perm.place", file=where, line=problem.source.line)
    return Notice("warn", problem.key, {"where": where, **problem.values})
