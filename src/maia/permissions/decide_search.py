"""Searches of whole folders -> the parts that the fence refuses because they would come to a closed place (N-09.06)."""

from __future__ import annotations

from collections.abc import Iterator

from maia.core.permission import DecisionPart, Sweep, Verdict
from maia.core.reason import Reason
from maia.permissions.paths import Place, Target, target
from maia.permissions.rules import RuleSet
from maia.permissions.script import Command
from maia.permissions.shell_searches import Search, searches


def too_broad(tool: str, path: Target, sweep: Sweep, rules: RuleSet, text: str = "") -> DecisionPart | None:
    """The part of a search that starts at `path`; None where it comes to nothing that is closed."""
    found = rules.fence.searched(tool, path.given, path.resolved, sweep) if rules.fence else None
    return DecisionPart(text or f"{tool} {path.shown}", Verdict.DENY, *found) if found else None


def search_parts(command: Command, rules: RuleSet, place: Place) -> Iterator[DecisionPart]:
    """The refused walks of one command. A walk that starts nobody knows where is refused, too (N-09.03)."""
    if rules.fence is None:
        return
    for search in searches(command):
        for path in _starts(search, place):
            part = _unknown(command) if path is None else too_broad("Bash", path, search.sweep, rules, command.shown)
            if part is not None:
                yield part
                break


def _starts(search: Search, place: Place) -> Iterator[Target | None]:
    if search.root is None:
        yield None
    elif search.root.startswith(("/", "~")):
        yield target(search.root, place)
    elif search.folders is None:
        yield None
    else:
        yield from (target(search.root, place, folder) for folder in sorted(search.folders))


def _unknown(command: Command) -> DecisionPart:
    return DecisionPart(command.shown, Verdict.DENY, None, Reason("folders.search.unknown", {"search": "unknown"}))
