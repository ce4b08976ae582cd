"""Values that a session gives a door to show: rows of models, sessions, costs, rules, changes and tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from maia.core.costs import Cost, Usage
from maia.core.events import Notice
from maia.core.permission import Rule


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One row of `/model`. `window` is in tokens, None when nobody knows it; `current` is the one that answers."""

    name: str
    provider: str
    window: int | None = None
    current: bool = False


@dataclass(frozen=True, slots=True)
class SessionChoice:
    """One row of `/load`. `changed` is seconds since the epoch; `title` the first request, shortened by the view."""

    name: str
    changed: float
    tokens: int | None
    title: str


@dataclass(frozen=True, slots=True)
class ModelCost:
    """One row of `/cost`: what one model used in this session. `usage` is None when it never reported any."""

    model: str
    usage: Usage | None
    cost: Cost


@dataclass(frozen=True, slots=True)
class RuleFile:
    """The rules of one place, in the order written. `shown` is the path as a person reads it (`~/.maia/…`)."""

    shown: str
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Trust:
    """A folder that brings rules, tools or servers of its own, which load only after a yes (decisions §9).

    `contents` are shown paths of what would load; `changed` is True when the folder was trusted before with others.
    """

    folder: str
    contents: tuple[str, ...]
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """One file that `/undo` or `/redo` dealt with. `kept` means that later edits of the user stand there, untouched."""

    path: str
    action: Literal["restored", "removed", "kept"]


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One row of `/agents`. `by` is the runner with the model that the definition names; `shown` names the file."""

    name: str
    nickname: str
    description: str
    by: str
    shown: str


@dataclass(frozen=True, slots=True)
class AgentList:
    """What `/agents` shows: those that can be called, what was left out and why, and who acts in this session."""

    rows: tuple[AgentRow, ...] = ()
    problems: tuple[Notice, ...] = ()
    acting: str = ""


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One row of `/tools`. `origin` is empty for a built-in."""

    name: str
    description: str
    origin: str = ""
