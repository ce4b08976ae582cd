"""Colleagues: the agents that people talk to, and what it means for a conversation to be one with them (R-2.004)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from maia.core.agent import AgentDefinition, AgentGroup
from maia.core.jsonvalue import JsonObject
from maia.core.requests import Effort
from maia.core.runtime import OWN_MODEL
from maia.workspace.models.catalogue import Catalogue, Pair

TALKED_TO: Final[tuple[AgentGroup, ...]] = ("main", "team")
"""The groups of the picker of agents, in its order (R-2.008); specialists are reached by other agents only."""


@dataclass(frozen=True, slots=True)
class Colleague:
    """An agent as the workspace knows it. `provider` and `model` are empty where it has no model of its own.

    `provider` is the id of the program that it runs on, else empty: then `model` alone says who answers, in any way
    in which a definition may name it, nicknames resolved. `folders` are those it brings along, absolute; `config` is
    its definition for people to read, keys masked.
    """

    definition: AgentDefinition
    provider: str = ""
    model: str = ""
    folders: tuple[str, ...] = ()
    config: JsonObject = field(default_factory=dict[str, Any], repr=False)

    @property
    def name(self) -> str:
        """How it is stored."""
        return self.definition.name

    @property
    def nickname(self) -> str:
        """What people call it."""
        return self.definition.nickname

    @property
    def description(self) -> str:
        return self.definition.description

    def pair(self, catalogue: Catalogue) -> Pair | None:
        """Its own model, None where it has none; one that there is not is a pair that is not available (R-2.050)."""
        if self.provider:
            return Pair(self.provider, self.model or OWN_MODEL)
        return catalogue.meant(self.model) or Pair("", self.model) if self.model else None


Colleagues: TypeAlias = Callable[[str | None], Sequence[Colleague]]
"""All agents there are now, those that the folder brings along last. Blocks: it reads files."""


def nobody(_folder: str | None = None) -> tuple[()]:
    """No colleague."""
    return ()


@dataclass(frozen=True, slots=True)
class Role:
    """As whom a turn acts. `tools` are the only ones offered, None for all: a model cannot run any other (R-2.147).

    `turns` are the steps that the agent has of its own, None for the usual number (R-2.255). `held_by` are agents that
    delegated the conversation, whose denials and questions hold here as well: what an agent opens is no freer than it.
    """

    agent: AgentDefinition | None = None
    tools: tuple[str, ...] | None = None
    turns: int | None = None
    held_by: tuple[AgentDefinition, ...] = ()


@dataclass(frozen=True, slots=True)
class Assigned:
    """The agents of a conversation: its colleague, and its project's default one, which counts where there is none.

    `missing` names a colleague that is not there any more: then nobody answers, since without the limits of its
    definition more would be allowed than was meant. `delegating` is what the turn that delegated this conversation
    really ran on (N-06.04), `above` the level of the nearest delegating one that has any (N-02.02), `delegators` the
    agents of all conversations above, the nearest first.
    """

    colleague: Colleague | None = None
    stand_in: Colleague | None = None
    missing: str = ""
    delegating: Pair | None = None
    above: Effort | None = None
    delegators: tuple[AgentDefinition, ...] = ()

    @property
    def effort(self) -> Effort | None:
        """The level of the colleague, or of the project's (N-02.02)."""
        held = self.colleague or self.stand_in
        return held.definition.effort if held else None

    @property
    def role(self) -> Role:
        """The whole of a colleague; of a project's default agent tools and steps alone (R-2.145 f., R-2.255).

        A thread that an agent opened without naming another one has no tool that this agent has not.
        """
        held_by = tuple(each for each in self.delegators if each.rules.deny or each.rules.ask)
        if self.colleague is not None:
            agent = self.colleague.definition
            return Role(agent, agent.tools, agent.max_turns, held_by)
        opener = self.delegators[0].tools if self.delegators else None
        if self.stand_in is not None:
            tools = _in_both(self.stand_in.definition.tools, opener)
            return Role(None, tools, self.stand_in.definition.max_turns, held_by)
        return Role(None, opener, None, held_by)

    @property
    def folders(self) -> tuple[str, ...]:
        return self.colleague.folders if self.colleague else ()


UNASSIGNED: Final = Assigned()


def _in_both(tools: tuple[str, ...] | None, others: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """What both lists have; None is all there are."""
    if tools is None or others is None:
        return others if tools is None else tools
    known = {name.casefold() for name in others}
    return tuple(name for name in tools if name.casefold() in known)


def talked_to(known: Sequence[Colleague]) -> list[Colleague]:
    """Those that people talk to, the main ones first, each group by name (R-2.008)."""
    found = [each for each in known if is_talked_to(each)]
    return sorted(found, key=lambda each: (TALKED_TO.index(each.definition.group), each.nickname.casefold()))


def is_specialist(agent: Colleague) -> bool:
    """Whether other agents may start this one (N-06.01)."""
    return agent.definition.group == "specialist" and agent.definition.is_enabled


def is_talked_to(agent: Colleague) -> bool:
    """Whether people talk to it: it is of such a group, and not switched off."""
    return agent.definition.group in TALKED_TO and agent.definition.is_enabled


def named(known: Sequence[Colleague], name: str | None) -> Colleague | None:
    """The agent that is stored under that name."""
    return next((each for each in known if each.name == name), None) if name else None
