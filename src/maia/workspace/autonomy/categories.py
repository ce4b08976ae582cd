"""What kind of act a tool is, and how much harm it can do: one table, read by the gate and by every page (N-08.02)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from maia.core.delegation import DELEGATING
from maia.core.permission import Decision, Need, Verdict

Category: TypeAlias = Literal["looking", "memory", "planning", "delegation", "files", "commands", "web", "other"]
Risk: TypeAlias = Literal["green", "yellow", "red"]
"""Needs no click; changes what can be changed back; leaves the machine, or cannot be taken back."""

RISKS: Final[tuple[Risk, ...]] = ("green", "yellow", "red")
CATEGORIES: Final[tuple[Category, ...]] = get_args(Category)
LEVELLED: Final[Mapping[Category, bool]] = {"files": True, "commands": False, "web": False, "other": False}
"""The categories whose calls may have to be asked about, and whether they are reversible: only then a level can rise
(N-07.03)."""

GREEN_COMMANDS: Final = ("Bash(git status)", "Bash(git diff)")
"""Rules for commands that only look and need no click (R-2.198, N-08.04); denials win over them."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a tool is. `asks`: a call waits for somebody where no rule of a person allows it."""

    category: Category
    risk: Risk

    @property
    def asks(self) -> bool:
        return self.risk != "green"


_LOOKS: Final = Kind("looking", "green")
_REMEMBERS: Final = Kind("memory", "green")
_PLANS: Final = Kind("planning", "green")
_HANDS_ON: Final = Kind("delegation", "green")
_CHANGES: Final = Kind("files", "yellow")
_FETCHES: Final = Kind("web", "red")
_ANYTHING: Final = Kind("other", "red")
KINDS: Final[Mapping[str, Kind]] = {
    "Read": _LOOKS,
    "Glob": _LOOKS,
    "Grep": _LOOKS,
    "CurrentModel": _LOOKS,
    "TodoWrite": _PLANS,
    "AskUser": _PLANS,
    "MemorySearch": _REMEMBERS,
    "MemoryExpand": _REMEMBERS,
    "MemoryStore": _REMEMBERS,
    **dict.fromkeys(DELEGATING, _HANDS_ON),
    "Write": _CHANGES,
    "Edit": _CHANGES,
    "Delete": _ANYTHING,  # of agent programs: nothing brings a file back
    "Bash": Kind("commands", "red"),
    "WebFetch": _FETCHES,
    "WebSearch": _FETCHES,
}


def kind_of(tool: str) -> Kind:
    """What a tool is; one that nobody knows can do anything."""
    return KINDS.get(tool, _ANYTHING)


def kind_of_call(needs: Sequence[Need]) -> Kind:
    """What a call is by what it would do: the worst of its needs. One that needs no permission does no harm."""
    kinds = [
        known if need.kind != "none" else Kind(known.category, "green")
        for need in needs
        for known in (kind_of(need.tool),)
    ]
    return max(kinds, key=lambda kind: RISKS.index(kind.risk), default=_LOOKS)


def is_green(needs: Sequence[Need], decision: Decision) -> bool:
    """Whether an allowed call needs no click, whoever looks on: it only looks, also where it is a command (R-2.198)."""
    if kind_of_call(needs).risk == "green":
        return True
    rules = [part.rule for part in decision.parts] or [decision.rule]
    return decision.verdict is Verdict.ALLOW and all(rule is not None and rule.text in GREEN_COMMANDS for rule in rules)
