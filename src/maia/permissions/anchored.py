"""The restrictions of one launch folder as they hold in another one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from maia.core.permission import Rule, Verdict
from maia.permissions import globs
from maia.permissions.rules import PATH_TOOLS


def anchored(rules: Iterable[Rule], launch: Path) -> tuple[Rule, ...]:
    """The deny and ask rules among these; paths that were written from `launch` on become absolute ones."""
    return tuple(_anchored(rule, launch) for rule in rules if rule.verdict is not Verdict.ALLOW)


def _anchored(rule: Rule, launch: Path) -> Rule:
    pattern = rule.pattern
    if rule.tool not in PATH_TOOLS or pattern is None or pattern.startswith(("/", "~/")) or pattern == "~":
        return rule
    absolute = f"{globs.escaped(str(launch)).rstrip('/')}/{pattern}"
    return replace(rule, pattern=absolute, text=f"{rule.tool}({absolute})")
