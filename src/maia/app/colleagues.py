"""The agents of this machine as colleagues of the workspace, and the ground on which a turn acts as one of them."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeAlias

from maia.agents.shelf import Shelf
from maia.agents.shown import config_of
from maia.app.acting import Acting, written_rules
from maia.app.agentkeys import agent_key
from maia.app.agents import agent_shelf, outside
from maia.app.ground import Ground
from maia.app.nicknames import real_model
from maia.core.agent import OWN_RUNNER, AgentDefinition, RealModel
from maia.core.errors import UsageProblem
from maia.core.events import Notice
from maia.core.namedpath import named_path
from maia.core.ports import Say
from maia.launch import find_folders
from maia.runtimes.programs import PROVIDER_MARK
from maia.workspace.colleagues import Colleague, Role

_log: Final = logging.getLogger("maia.agents")
_Seen: TypeAlias = tuple[tuple[str, int, int, int], ...]


@dataclass(slots=True)
class KnownAgents:
    """`workspace.colleagues.Colleagues`: those of the home folder, then those of a folder that was trusted.

    Of one name in both the home folder's counts: whom somebody picked from the list, no folder replaces. The home
    folder's are read again when a file of theirs is another one.
    """

    env: Mapping[str, str]
    home: Path
    nicknames: Mapping[str, RealModel]
    say: Say
    _seen: _Seen | None = None
    _own: tuple[Colleague, ...] = ()
    _told: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def __call__(self, folder: str | None) -> Sequence[Colleague]:
        own = self._of_home()
        if folder is None:
            return own
        names = {each.name for each in own}
        try:
            brought = self._read(folder)
        except UsageProblem:  # the folder has gone, as its tab tells
            brought = ()
        return [*own, *(each for each in brought if each.name not in names)]

    def _of_home(self) -> tuple[Colleague, ...]:
        seen = _files_of(self.home / ".maia" / "agents")
        if seen != self._seen:
            self._own, self._seen = self._read(str(self.home)), seen
        return self._own

    def _read(self, launch: str) -> tuple[Colleague, ...]:
        found = self.shelf(launch).read()
        self.tell(launch, found.notices)
        return tuple(self.colleague(each, Path(launch)) for each in found.found)

    def tell(self, whose: str, notices: Sequence[Notice]) -> None:
        """What is wrong with definitions, in the log of the server, each once (N-05.10)."""
        for notice in notices:
            words = self.say(notice.key, **notice.values)
            if (whose, words) not in self._told:
                self._told.add((whose, words))
                _log.warning("%s", words)

    def shelf(self, launch: str) -> Shelf:
        """The agents of that folder, where it was trusted, and of the home folder. Raises `UsageProblem`."""
        return agent_shelf(find_folders({**self.env, "MAIA_CWD": launch}))

    def colleague(self, agent: AgentDefinition, launch: Path) -> Colleague:
        """An agent with who answers for it and the folders that it brings along."""
        real = real_model(self.nicknames, agent.model) or RealModel(agent.model, agent.runner)
        if agent.runner not in (OWN_RUNNER, real.runner):
            real = RealModel(agent.model, agent.runner)  # the program itself will say that it has no such model
        program = "" if real.runner == OWN_RUNNER else f"{real.runner}{PROVIDER_MARK}"
        base = self.home if agent.level == "home" else launch
        named = (named_path(folder, base) for folder in agent.folders)
        folders = tuple(os.path.normpath(path) for path in named if isinstance(path, Path))
        return Colleague(agent, program, real.model, folders, config_of(agent, outside()))


def _files_of(folder: Path) -> _Seen:
    """What tells whether a definition changed."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    found: list[tuple[str, int, int, int]] = []
    for name in names:
        try:
            seen = os.stat(folder / name / "AGENT.md")
        except OSError:
            continue
        found.append((name, seen.st_mtime_ns, seen.st_size, seen.st_ino))
    return tuple(found)


def seated(ground: Ground, role: Role) -> Ground:
    """The ground on which a turn of the workspace acts in that role: rules, instructions, tools, and who pays.

    Who answers is the conversation's affair, and folders are in the ground already. Raises `UsageProblem` for a key
    that is not there.
    """
    ground = replace(ground, memory=None, offered=role.tools, turns=role.turns)
    agent = role.agent
    if agent is None:
        return ground
    real = real_model(ground.rules.settings.nicknames, agent.model) or RealModel(agent.model, agent.runner)
    key = agent_key(agent.key, real.model, ground.env) if agent.key else None
    rules, problems = written_rules(agent)
    return replace(ground, acting=Acting(agent, real.runner, real.model, rules, problems, key))
