"""What a person is told about rules at the start: the files with their counts, and what is wrong (T1.09, T1.10)."""

from __future__ import annotations

from collections import Counter

from maia.core.events import Notice
from maia.core.ports import Say
from maia.permissions.judge import RuleJudge
from maia.permissions.rules import RuleProblem


def start_notices(judge: RuleJudge, say: Say) -> tuple[Notice, ...]:
    """The INFO with the files loaded and their rule counts, or that there is none; a WARN for each problem.

    A file that is no JSON at all is told by the settings, which read the same file.
    """
    loaded = [(file.shown, len(file.rules)) for file in judge.files if file.rules]
    loaded += Counter(rule.source.name for rule in judge.more).items()
    shown = [
        say("perm.start.file" if i == 0 else "perm.start.next", n=count, file=file)
        for i, (file, count) in enumerate(loaded)
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
