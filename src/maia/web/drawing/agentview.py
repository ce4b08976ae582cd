"""What the pages of agents show of a definition: its card, its badges, and what its form offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from maia.core.agent import AgentDefinition, AgentGroup, AgentKind
from maia.core.jsonvalue import JsonObject
from maia.core.ports import Say
from maia.core.text import visible
from maia.web.drawing.autonomywords import ABOUT
from maia.web.drawing.words import Sign
from maia.workspace.colleagues import Colleague, is_talked_to
from maia.workspace.definitions import Definition, ToolSeen
from maia.workspace.drafts import SHOWN_TURNS, levels_for
from maia.workspace.models.catalogue import Catalogue, Pair

Show: TypeAlias = Literal["all", "enabled", "main", "team", "specialist"]
SHOWN: Final[Mapping[Show, str]] = {each: f"agentpage.show.{each}" for each in get_args(Show)}
"""The filters of the page with their words, in their order (N-05.03); groups are called as theirs."""
KINDS: Final[Mapping[AgentKind, str]] = {each: f"agentpage.type.{each}" for each in get_args(AgentKind)}
GROUPS: Final[Mapping[AgentGroup, str]] = {each: f"agentpage.show.{each}" for each in get_args(AgentGroup)}
BEGINNINGS: Final[Mapping[AgentKind, str]] = {each: f"agentpage.begin.{each}.description" for each in KINDS}
RULES: Final[Mapping[str, str]] = {each: f"agentpage.rules.{each}" for each in ("deny", "ask", "allow")}

_CUSTOM: Final = Sign("file", "muted", "agentpage.badge.custom")
_FOLDER: Final = Sign("folder", "info", "agentpage.badge.folder")
_ACTIVE: Final = Sign("check", "muted", "agentpage.badge.active")
_DISABLED: Final = Sign("pause", "warning", "agentpage.badge.disabled")
_BROKEN: Final = Sign("alert", "danger", "agentpage.badge.broken")
_ALWAYS: Final = ("memory_search", "memory_expand")
"""Tools that come with a memory, listed or not (N-05.08)."""


@dataclass(frozen=True, slots=True)
class Card:
    """An agent in the list. `model` is who answers; `trouble` why its file means nothing, empty for one that does."""

    id: str
    nickname: str
    file: str
    folder: str
    signs: tuple[Sign, ...]
    agent: AgentDefinition | None = None
    model: str = ""
    is_available: bool = True
    is_talked_to: bool = False
    trouble: str = ""


def card_of(found: Definition, catalogue: Catalogue, say: Say) -> Card:
    """One card."""
    origin = _CUSTOM if found.is_own else _FOLDER
    place = (found.file, visible(found.folder))
    if found.colleague is None:
        assert found.trouble is not None
        words = visible(say(found.trouble.key, **found.trouble.values))
        return Card(found.id, found.name, *place, (origin, _BROKEN), trouble=words)
    agent, pair = found.colleague.definition, found.colleague.pair(catalogue)
    state = _ACTIVE if agent.is_enabled else _DISABLED
    is_there = pair is None or catalogue.is_available(pair)
    named = model_name(pair, catalogue, say)
    talks = found.is_own and is_talked_to(found.colleague)
    return Card(found.id, agent.nickname, *place, (origin, state), agent, named, is_there, talks)


def fits(found: Definition, show: Show) -> bool:
    """Whether the filter leaves it; what cannot be read is never hidden."""
    if found.colleague is None or show == "all":
        return True
    agent = found.colleague.definition
    return agent.is_enabled if show == "enabled" else agent.group == show


def model_name(pair: Pair | None, catalogue: Catalogue, say: Say) -> str:
    """Who answers for it, in words."""
    if pair is None:
        return say("agentpage.model.conversations")
    return f"{catalogue.name_of(pair.provider)} / {pair.model}" if pair.provider else pair.model


# The form ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Offer:
    """A model of the select. `levels` are those of the effort that it has, `is_gone` one that may not answer now."""

    provider: str
    model: str
    label: str
    levels: str
    is_chosen: bool = False
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class ToolLine:
    """A tool of the checklist. `note` says what is odd about it: not installed, or there in any case."""

    name: str
    about: str
    is_chosen: bool
    note: str = ""


def offers(agent: Colleague, catalogue: Catalogue) -> Mapping[str, Sequence[Offer]]:
    """The models by their providers' names, those that may answer; the agent's own is among them in any case."""
    own = agent.pair(catalogue)
    pairs = [Pair(row.id, each.id) for row in catalogue.providers for each in catalogue.models_of(row.id)]
    there = [pair for pair in pairs if catalogue.is_available(pair)]
    groups: dict[str, list[Offer]] = {}
    for pair in [*there, *([own] if own is not None and own not in there else [])]:
        levels = " ".join(levels_for(catalogue, pair))
        offer = Offer(*pair, pair.model, levels, pair == own, pair not in there)
        groups.setdefault(catalogue.name_of(pair.provider) or "—", []).append(offer)
    return groups


def tool_lines(chosen: Sequence[str] | None, installed: Sequence[ToolSeen], say: Say) -> Sequence[ToolLine]:
    """All installed tools, then what the definition names beside them."""
    written = {name.casefold(): name for name in chosen or ()}
    lines: list[ToolLine] = []
    for tool in installed:
        said = next(
            (written.pop(each.casefold()) for each in (tool.name, *tool.also) if each.casefold() in written), ""
        )
        about = say(ABOUT[tool.name]) if tool.name in ABOUT else tool.about
        lines.append(ToolLine(said or tool.name, about, bool(said)))
    for key, name in written.items():
        note = "agentpage.tools.always" if key in _ALWAYS else "agentpage.tools.unknown"
        lines.append(ToolLine(name, "", is_chosen=True, note=say(note)))
    return lines


def form_of(found: Definition, catalogue: Catalogue, installed: Sequence[ToolSeen], say: Say) -> JsonObject:
    """What the form of a definition needs beside the definition itself."""
    agent = found.colleague
    assert agent is not None
    pair = agent.pair(catalogue)
    return {
        "agent": agent.definition,
        "offers": offers(agent, catalogue),
        "levels": levels_for(catalogue, pair),
        "is_available": pair is None or catalogue.is_available(pair),
        "model": model_name(pair, catalogue, say),
        "tools": tool_lines(agent.definition.tools, installed, say),
        "turns": agent.definition.max_turns or SHOWN_TURNS,
    }
