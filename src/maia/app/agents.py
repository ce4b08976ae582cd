"""Agents where every room meets: which there are for a launch folder, and changes that keep a folder's trust."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from maia.agents.document import Outside
from maia.agents.files import Noted
from maia.agents.shelf import Shelf
from maia.app.acting import Acting, rules_of
from maia.app.agentkeys import agent_key
from maia.app.ground import Ground, named_folder
from maia.app.nicknames import real_model
from maia.app.rules import FolderRules
from maia.core.agent import OWN_RUNNER, AgentDefinition, AgentLevel, RealModel
from maia.core.errors import UsageProblem
from maia.core.events import Notice
from maia.engine.views import AgentList, AgentRow
from maia.launch import Folders
from maia.permissions.trust import own_changes, trust_state

if TYPE_CHECKING:
    from maia.app.memories import OpenMemory

T = TypeVar("T")


@cache
def outside() -> Outside:
    """What definitions are checked against: agent programs, and what a key looks like."""
    from maia.credentials.prefixes import shown_name
    from maia.credentials.scrub import without_keys
    from maia.runtimes.programs import BY_NAME

    return Outside(tuple(BY_NAME), lambda name: shown_name(name) != name, without_keys)


def agent_shelf(folders: Folders, noted: Noted | None = None) -> Shelf:
    """The agents of the launch folder, once that is trusted, and of the home folder. Reads nothing yet."""
    trusted = trust_state(folders.launch, folders.home).verdict == "trusted"
    return Shelf.of(folders.launch, folders.home, trusted=trusted, outside=outside(), noted=noted)


def changing(folders: Folders, change: Callable[[Shelf], T]) -> T:
    """Do a change of agents. What a person changes here in a folder that was trusted is no change by a stranger.

    `change` gets the shelf; what it raises is raised, and then nothing is remembered.
    """
    with own_changes(folders.launch, folders.home) as note:
        return change(agent_shelf(folders, note))


def find_agent(folders: Folders, word: str) -> AgentDefinition:
    """The agent of that name or nickname that is to act. Raises `MaiaError`, with the nearest names for one that is
    not there, and for one that is switched off."""
    return agent_shelf(folders).read().ready(word)


# At work ------------------------------------------------------------------------------------------------------------


def act_as(ground: Ground, agent: AgentDefinition, *, is_strict: bool = False, launch: Path | None = None) -> Ground:
    """The ground on which a session acts as this agent (C6.03): `build_conversation` does the rest.

    Options that are set win over the definition. `launch` is the folder that the definition belongs to, where the
    session has another one: its folders start there. Nothing global is touched: several agents work in one process.
    Raises `UsageProblem` for a folder or key that is not there, and where the wished runner cannot have the model.
    """
    real = _real(ground, agent)
    folders = tuple(named_folder(name, launch or ground.folders.launch) for name in agent.folders)
    add_dirs = tuple(dict.fromkeys((*ground.add_dirs, *folders)))
    runner = ground.options.runtime or real.runner
    key = agent_key(agent.key, real.model, ground.env) if agent.key else None
    env = key.environment(ground.env) if key and runner == OWN_RUNNER else ground.env
    rules, problems = rules_of(agent, runner)
    acting = Acting(agent, runner, real.model, rules, (*_told(agent, runner), *problems), key, is_strict)
    return replace(
        ground,
        env=env,
        rules=FolderRules(ground.folders, ground.env, ground.options, ground.say, add_dirs, rules),
        add_dirs=add_dirs,
        memory=_memory(ground, agent, launch) if agent.has_memory else None,
        acting=acting,
        offered=agent.tools,
        turns=None if ground.options.max_iterations else agent.max_turns,
    )


def limits_of(ground: Ground, agent: AgentDefinition) -> FolderRules:
    """What this agent may not do here, whoever does it for it: its rules, and every tool that it was not given."""
    rules, _ = rules_of(agent, "")
    return FolderRules(ground.folders, ground.env, ground.options, ground.say, ground.add_dirs, rules)


def _real(ground: Ground, agent: AgentDefinition) -> RealModel:
    """The definition's runner and model, a nickname resolved. Raises `UsageProblem` where the two do not fit."""
    real = real_model(ground.rules.settings.nicknames, agent.model)
    if real is None:
        return RealModel(agent.model, agent.runner)
    if agent.runner not in (OWN_RUNNER, real.runner):
        raise UsageProblem("agents.model.other_runner", name=agent.model, runner=real.runner)
    return real if real.runner != OWN_RUNNER else RealModel(agent.model)  # told with its nickname when it is chosen


def _memory(ground: Ground, agent: AgentDefinition, launch: Path | None) -> OpenMemory:
    from maia.app.memories import agent_identity, opening

    identity = agent_identity(agent.name, agent.level, launch or ground.folders.launch)
    return opening(ground.rules.settings, ground.folders, ground.env, identity)


def _told(agent: AgentDefinition, runner: str) -> Iterator[Notice]:
    """The start log: as whom the session acts, by whom, and what its definition opens or cannot."""
    yield Notice("info", "agents.acts_as", {"nickname": agent.nickname, "file": agent.shown, "runner": runner})
    if agent.asks_nothing and runner != OWN_RUNNER:
        key = "agents.asks_nothing" if agent.level == "home" else "agents.asks_nothing_project"
        yield Notice("warn", key, {"nickname": agent.nickname, "runner": runner, "file": agent.shown})


# For a person at the terminal ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PersonsAgents:
    """The engine's `AgentDesk` port over the files of a launch folder and of home."""

    ground: Ground

    def listed(self) -> AgentList:
        found = agent_shelf(self.ground.folders).read()
        acting = self.ground.acting
        waiting = Notice("warn", "agents.waiting", {"n": len(found.waiting), "names": ", ".join(found.waiting)})
        return AgentList(
            tuple(_row(agent) for agent in found.found),
            (*found.notices, *((waiting,) if found.waiting else ())),
            acting.agent.name if acting else "",
        )

    def create(self, name: str, level: AgentLevel) -> str:
        from maia.agents.change import create
        from maia.agents.template import template

        text = template(self.ground.say.lang, self.ground.env)
        return changing(self.ground.folders, lambda shelf: create(shelf, name, text, {}, level)).agent.shown


def _row(agent: AgentDefinition) -> AgentRow:
    by = " ".join(part for part in (agent.runner, agent.model) if part)
    return AgentRow(agent.name, agent.nickname, agent.description, by, agent.shown)
