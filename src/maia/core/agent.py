"""An agent as its `AGENT.md` defines it: who it is, what it is told, on what it runs, what it may do (C6.03, T7.02)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from maia.core.requests import Effort

OWN_RUNNER: Final = "maia"
"""The runner that is maia's own engine; any other name is one of the table of agent programs."""

AgentLevel: TypeAlias = Literal["project", "home"]
"""Where the definition lies: `.maia/agents` of the launch folder, which wins, or of the home folder."""


AgentGroup: TypeAlias = Literal["main", "team", "specialist"]
"""Main and team are colleagues that people talk to; specialists are there for other agents only (N-05.01)."""


AgentKind: TypeAlias = Literal[
    "assistant", "engineer", "developer", "reviewer", "critic", "researcher", "planner", "coordinator", "observer"
]
"""What an agent is by trade (N-05.02): people sort by it, and new agents begin with its words."""


@dataclass(frozen=True, slots=True)
class RealModel:
    """What a nickname of the model table stands for: `model` as the runner knows it, empty for its usual one."""

    model: str
    runner: str = OWN_RUNNER


@dataclass(frozen=True, slots=True)
class AgentRules:
    """Permission rules as written. They add to those in force: a deny or ask from elsewhere is never lifted (T7.04)."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """One agent. `name` is its folder's name, `nickname` what people call it, shown with the real model in results.

    `model` is a nickname of the model table, an exact id or a part of one; empty for the usual one. `key` names the
    environment variable, or the kept key, that pays; empty for what the provider has. `tools` and `skills` are None
    for all. `folders` are added to the launch folder. `asks_nothing` is the person's own word that this runner may
    switch off its permission checks (C6.06). `group` is where the workspace lists it, `shown` the file for people.
    `max_turns` are the steps that a turn of it may do, in place of the usual number (R-2.255). `monthly_tokens` are
    those that it may use in a calendar month of the workspace, 0 for any number. `is_enabled` is False for one that is
    kept and may not be used. `avatar` is an emoji or two letters for its mark.
    """

    name: str
    nickname: str
    description: str
    instructions: str
    missions: str = ""
    output: str = ""
    runner: str = OWN_RUNNER
    model: str = ""
    effort: Effort | None = None
    key: str = ""
    tools: tuple[str, ...] | None = None
    skills: tuple[str, ...] | None = None
    rules: AgentRules = field(default_factory=AgentRules)
    folders: tuple[str, ...] = ()
    has_memory: bool = True
    keeps_trace: bool = False
    asks_nothing: bool = False
    group: AgentGroup = "main"
    max_turns: int | None = None
    monthly_tokens: int = 0
    kind: AgentKind = "assistant"
    role: str = ""
    goal: str = ""
    backstory: str = ""
    capabilities: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    avatar: str = ""
    is_enabled: bool = True
    level: AgentLevel = "home"
    shown: str = ""
