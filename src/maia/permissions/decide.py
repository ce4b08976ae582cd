"""Needs and rules -> a decision with its reasons: deny, ask, allow; of several parts the strictest (T6.02)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from maia.core.permission import Decision, DecisionPart, Need, Rule, Verdict
from maia.permissions import wildcard
from maia.permissions.decide_path import decide_path
from maia.permissions.paths import Place
from maia.permissions.reasons import NO_NEED, NO_RULE, by_rule
from maia.permissions.rules import RuleSet


def decide(needs: Sequence[Need], rules: RuleSet, place: Place) -> Decision:
    """Whether a call may do all that it needs. Pure but for resolving symlinks; never raises.

    No need at all is allowed. Without a matching rule a need asks, except one of kind `none` (T6.02).
    """
    parts = [part for need in needs for part in _parts(need, rules, place)]
    if not parts:
        return Decision(Verdict.ALLOW, NO_NEED)
    strictest = max(parts, key=lambda part: (part.verdict, part.rule is not None))
    shown = tuple(parts) if len(parts) > 1 else ()
    return Decision(strictest.verdict, strictest.reason, strictest.rule, shown)


def _parts(need: Need, rules: RuleSet, place: Place) -> Iterable[DecisionPart]:
    if need.kind == "command":
        from maia.permissions.decide_command import decide_command  # the shell's tables are loaded at the first command

        return decide_command(need.tool, need.value, rules, place)
    if need.kind == "path":
        return [decide_path(need.tool, need.value, rules, place, sweep=need.sweep)]
    return [_decide_value(need, rules)]


def _decide_value(need: Need, rules: RuleSet) -> DecisionPart:
    shown = f"{need.tool} {need.value}".strip()
    for verdict in (Verdict.DENY, Verdict.ASK, Verdict.ALLOW):
        for rule in rules.of(verdict):
            if value_matches(rule, need):
                return DecisionPart(shown, verdict, rule, by_rule(rule))
    if need.kind == "none":
        return DecisionPart(shown, Verdict.ALLOW, None, NO_NEED)
    return DecisionPart(shown, Verdict.ASK, None, NO_RULE)


def value_matches(rule: Rule, need: Need) -> bool:
    """Whether a rule names this host, name or text; `Mcp(…)` rules also name the tools of their servers."""
    if rule.tool == "Mcp" and need.tool != "Mcp":
        return need.tool.startswith("mcp__") and _mcp_matches(rule.pattern, need.tool.split("__", 2)[1:])
    if not _tool_matches(rule.tool, need.tool):
        return False
    if rule.pattern is None:
        return True
    if rule.tool == "Mcp":
        return _mcp_matches(rule.pattern, [part.strip() for part in need.value.split(",", 1)])
    if rule.tool == "WebFetch":
        from maia.permissions.hosts import host_matches  # addresses are read at the first fetch

        return host_matches(rule.pattern.partition(":")[2], need.value)
    if need.kind == "none":
        return not rule.pattern.strip("*")
    fold = str.casefold if rule.tool in ("Agent", "Skill") else str
    return wildcard.matches(wildcard.segments(fold(rule.pattern)), fold(need.value))


def _tool_matches(wanted: str, tool: str) -> bool:
    return wanted == tool or (wanted.endswith("*") and tool.startswith(wanted[:-1]))


def _mcp_matches(pattern: str | None, parts: Sequence[str]) -> bool:
    server, _, tool = (pattern or "*").partition(",")
    have_server, have_tool = parts[0], parts[1] if len(parts) > 1 else "*"
    return _glob(server.strip(), have_server) and _glob(tool.strip() or "*", have_tool)


def _glob(pattern: str, text: str) -> bool:
    return wildcard.matches(wildcard.segments(pattern), text)
