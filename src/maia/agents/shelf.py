"""All agents that can be used from a launch folder: the project's, which win, and those of the home folder (T7.02)."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from maia.agents.document import MAX_BYTES, Document, Origin, Outside, read_document
from maia.agents.files import FILE, MOST_AGENTS, Noted, Place
from maia.agents.header import Invalid
from maia.agents.names import bare, key_of, near
from maia.core.agent import AgentDefinition
from maia.core.errors import SettingsProblem, UsageProblem, system_words
from maia.core.events import Notice
from maia.core.filewrite import FileChanged


@dataclass(frozen=True, slots=True)
class Agents:
    """What was read. `notices` say what was left out and why; `broken` holds the reason by the agent's name.

    `waiting` are the names of agents in a folder that is not trusted yet: nothing of them was read.
    """

    found: tuple[AgentDefinition, ...] = ()
    notices: tuple[Notice, ...] = ()
    broken: Mapping[str, Notice] = field(default_factory=dict[str, Notice])
    waiting: tuple[str, ...] = ()

    def find(self, word: str) -> AgentDefinition:
        """The agent of that name or nickname, in any case and Unicode form; signs and emoji may be left out.

        Raises `SettingsProblem` for one whose file is invalid, `UsageProblem` for one in a folder that is not trusted
        and, with the nearest names, for one that is not there.
        """
        wanted = key_of(word)
        for agent in self.found:
            if wanted in (key_of(agent.name), key_of(agent.nickname)):
                return agent
        loosely = [
            agent for agent in self.found if bare(word) and bare(word) in map(bare, (agent.name, agent.nickname))
        ]
        if len(loosely) == 1:
            return loosely[0]
        if problem := next((each for name, each in self.broken.items() if key_of(name) == wanted), None):
            raise SettingsProblem(problem.key, **problem.values)
        if wanted in map(key_of, self.waiting):
            raise UsageProblem("agents.untrusted", name=word)
        if not self.found:
            raise UsageProblem("agents.none", name=word)
        names = [name for agent in self.found for name in dict.fromkeys((agent.nickname, agent.name))]
        close = near(word, names)
        if close:
            raise UsageProblem("agents.unknown_near", name=word, close=", ".join(close))
        raise UsageProblem("agents.unknown", name=word, known=", ".join(agent.nickname for agent in self.found[:10]))

    def ready(self, word: str) -> AgentDefinition:
        """The agent of that name, to act as it. Raises as `find`, and `UsageProblem` for one that is switched off."""
        agent = self.find(word)
        if not agent.is_enabled:
            raise UsageProblem("agents.disabled", name=agent.nickname, file=agent.shown)
        return agent


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where agents are looked for. `project` is None where the launch folder is the home folder."""

    home: Place
    project: Place | None = None
    is_trusted: bool = False
    outside: Outside = field(default_factory=Outside)

    @classmethod
    def of(
        cls, launch: Path, home: Path, *, trusted: bool, outside: Outside | None = None, noted: Noted | None = None
    ) -> Shelf:
        """The two places of a launch folder; `noted` is told of changes in the project's."""
        same = os.path.realpath(launch) == os.path.realpath(home)
        project = None if same else Place(launch, "project", noted)
        return cls(Place(home, "home"), project, trusted, outside or Outside())

    def read(self) -> Agents:
        """Read every definition. Raises nothing: what cannot be used is a notice, the rest is there."""
        reading = _Reading(self.outside)
        waiting: tuple[str, ...] = ()
        if self.project is not None and self.is_trusted:
            reading.place(self.project)
        elif self.project is not None:
            waiting = tuple(self.project.names())
        reading.place(self.home)
        return reading.agents(waiting)

    def place_of(self, agent: AgentDefinition) -> Place:
        """Where an agent lies."""
        return self.project if agent.level == "project" and self.project is not None else self.home


class _Reading:
    def __init__(self, outside: Outside) -> None:
        self._outside = outside
        self._found: list[AgentDefinition] = []
        self._broken: dict[str, Notice] = {}
        self._doubts: list[Notice] = []

    def place(self, place: Place) -> None:
        names = place.names()
        if len(names) > MOST_AGENTS:
            values = {"folder": place.shown(place.folder), "most": MOST_AGENTS, "n": len(names) - MOST_AGENTS}
            self._doubts.append(Notice("warn", "agents.many", values))
        taken = {key_of(agent.name) for agent in self._found} | {key_of(name) for name in self._broken}
        for name in names[:MOST_AGENTS]:
            if key_of(name) not in taken and os.path.lexists(place.agent(name) / FILE):
                taken.add(key_of(name))
                self._one(place, name)

    def _one(self, place: Place, name: str) -> None:
        document = read_agent(place, name, self._outside)
        if isinstance(document, Notice):
            self._broken[name] = document
            return
        self._found.append(document.agent)
        for written, line, close in document.doubtful:
            values = {"file": document.agent.shown, "line": line, "field": written, "close": close}
            self._doubts.append(Notice("warn", "agents.doubtful_field", values))

    def agents(self, waiting: tuple[str, ...]) -> Agents:
        unique = list(self._with_unique_nicknames())
        skipped = tuple(self._broken.values())
        names = ", ".join(self._broken)
        last = (Notice("warn", "agents.skipped", {"n": len(skipped), "names": names}),) if skipped else ()
        return Agents(tuple(unique), (*self._doubts, *skipped, *last), self._broken, waiting)

    def _with_unique_nicknames(self) -> Iterator[AgentDefinition]:
        """A nickname that another agent has already is not used; that agent is still found by its name."""
        names = {key_of(agent.name): agent.name for agent in self._found}
        taken: dict[str, str] = {}
        for agent in self._found:
            key = key_of(agent.nickname)
            other = taken.get(key) or names.get(key, agent.name)
            if other == agent.name:
                taken[key] = agent.name
                yield agent
            else:
                values = {"file": agent.shown, "nickname": agent.nickname, "other": other, "name": agent.name}
                self._doubts.append(Notice("warn", "agents.nickname_taken", values))
                yield replace(agent, nickname=agent.name)


def read_agent(place: Place, name: str, outside: Outside) -> Document | Notice:
    """One agent's file, or why it cannot be used. Raises nothing."""
    path = place.agent(name) / FILE
    shown = place.shown(path)
    try:
        text, _ = place.read(path)
        return read_document(text, Origin(name, place.level, shown), outside)
    except Invalid as problem:
        return Notice("warn", problem.key, {"file": shown, "line": problem.line, **problem.values})
    except OSError as problem:
        return unreadable(problem, shown)


_UNUSABLE: Final = {
    errno.EISDIR: "agents.not_a_file",
    errno.EINVAL: "agents.not_a_file",
    errno.EFBIG: "agents.too_big",
    errno.ELOOP: "agents.link",
}


def unreadable(problem: OSError, shown: str) -> Notice:
    """Why a file cannot be read."""
    key = _UNUSABLE.get(problem.errno or 0, "agents.unreadable")
    values = {"file": shown, "why": system_words(problem), "kilobytes": MAX_BYTES // 1000}
    return Notice("warn", key, values)


def unusable(problem: OSError, shown: str) -> SettingsProblem:
    """Why a file cannot be changed."""
    if isinstance(problem, FileChanged):
        return SettingsProblem("agents.changed", file=shown)
    notice = unreadable(problem, shown)
    return SettingsProblem(notice.key, **notice.values)


def taken_by(agents: Iterable[AgentDefinition], name: str) -> AgentDefinition | None:
    """The agent that has this name or nickname already."""
    key = key_of(name)
    return next((agent for agent in agents if key in (key_of(agent.name), key_of(agent.nickname))), None)
