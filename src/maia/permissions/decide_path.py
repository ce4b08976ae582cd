"""One path need -> its part of a decision: deny by given or resolved path, allow only by both, protected places ask."""

from __future__ import annotations

from collections.abc import Sequence

from maia.core.permission import DecisionPart, Rule, Sweep, Verdict
from maia.core.reason import Reason
from maia.permissions.paths import Place, Target, covers, target, touches
from maia.permissions.protected import names_exactly, private_to, protected_by
from maia.permissions.reasons import NO_RULE, by_rule
from maia.permissions.rules import RuleSet

WRITING_TOOLS = frozenset({"Write", "Edit", "Redirect"})
READING_TOOLS = frozenset({"Read", "Grep", "Glob"})

_KIN = {
    "Write": ("Write", "Edit"),
    "Edit": ("Edit", "Write"),
    "Redirect": ("Redirect", "Write", "Edit"),
    "Grep": ("Grep", "Read"),
    "Glob": ("Glob",),
}
"""A deny or ask rule for a file also holds for the other tools that do the same to it: no second door."""


def decide_path(
    tool: str, path: str, rules: RuleSet, place: Place, folder: str = "", *, sweep: Sweep | None = None
) -> DecisionPart:
    """The verdict on one path, opened from `folder`; with a `sweep` on all that lies below it, too."""
    located = target(path, place, folder)
    if sweep is not None and rules.fence is not None:
        from maia.permissions.decide_search import too_broad  # only programs search without leaving places out

        if (refused := too_broad(tool, located, sweep, rules)) is not None:
            return refused
    return decide_target(tool, located, rules, place)


def decide_target(tool: str, path: Target, rules: RuleSet, place: Place) -> DecisionPart:
    """The verdict on one located path."""
    shown = f"{tool} {path.shown}"
    if (closed := closing(tool, path, rules)) is not None:
        return closed
    for verdict in (Verdict.DENY, Verdict.ASK):
        rule = restricting(tool, path, rules.of(verdict), place)
        if rule is not None:
            return DecisionPart(shown, verdict, rule, by_rule(rule))
    allowing = [rule for rule in rules.of(Verdict.ALLOW) if rule.tool == tool and covers(rule, path, place)]
    if tool in READING_TOOLS and (private := private_to(path, place)):
        kept = f"{place.home}/{(private.pattern or '').removeprefix('~/')}"
        allowing = [rule for rule in allowing if names_exactly(rule, kept, place)]
        if not allowing:
            return DecisionPart(shown, Verdict.ASK, private, Reason("perm.why.protected", {"path": path.shown}))
    if not allowing:
        return DecisionPart(shown, Verdict.ASK, None, _why_uncovered(tool, path, rules, place))
    if tool in WRITING_TOOLS and (place_kept := protected_by(path, place)):
        exact = next((rule for rule in allowing if names_exactly(rule, place_kept, place)), None)
        if exact is None:
            return DecisionPart(shown, Verdict.ASK, None, Reason("perm.why.protected", {"path": path.shown}))
        allowing = [exact]
    return DecisionPart(shown, Verdict.ALLOW, allowing[0], by_rule(allowing[0]))


def closing(tool: str, path: Target, rules: RuleSet) -> DecisionPart | None:
    """The part of a path that the fence closes to this tool."""
    closed = rules.fence.closed(tool, path.given, path.resolved) if rules.fence else None
    return DecisionPart(f"{tool} {path.shown}", Verdict.DENY, *closed) if closed else None


def restricting(tool: str, path: Target, rules: Sequence[Rule], place: Place) -> Rule | None:
    """The first of these rules that meets the path under this tool or a kindred one."""
    kin = _KIN.get(tool, (tool,))
    for rule in rules:
        if rule.tool in kin and (rule.tool == tool or rule.pattern is not None) and touches(rule, path, place):
            return rule
    return None


def _why_uncovered(tool: str, path: Target, rules: RuleSet, place: Place) -> Reason:
    """Where only the name as given is covered, the reason says what it leads to; a protected place is told as one."""
    by_name = Target(path.shown, path.given, path.given)
    if path.given != path.resolved and any(
        rule.tool == tool and covers(rule, by_name, place) for rule in rules.of(Verdict.ALLOW)
    ):
        return Reason("perm.why.symlink", {"path": path.shown, "target": path.resolved})
    if tool in WRITING_TOOLS and protected_by(path, place):
        return Reason("perm.why.protected", {"path": path.shown})
    return NO_RULE
