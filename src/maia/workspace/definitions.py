"""The agents as people lead them: what their files say, shown to all, changed by those who may (N-05.03–N-05.12).

No copy of a file is kept anywhere: each answer is what the files say at that moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final, Protocol, TypeVar

from sqlalchemy import Connection

from maia.agents import change
from maia.agents.change import ChangedMeanwhile, revision_of
from maia.agents.files import FILE, Place
from maia.agents.header import Invalid
from maia.agents.shelf import Agents, Shelf
from maia.core.agent import AgentDefinition
from maia.core.errors import MaiaError, SettingsProblem, UsageProblem
from maia.core.memories import Memory, MemoryEntry
from maia.core.reason import Reason
from maia.database import conversations, folders, projects
from maia.database.conversations import ConversationRow
from maia.database.database import Database
from maia.database.settings import note_act
from maia.database.users import User
from maia.workspace.colleagues import Colleague
from maia.workspace.drafts import Draft, file_fields, free_name
from maia.workspace.models.shelf import Shelf as Models
from maia.workspace.news import News
from maia.workspace.people.rights import may
from maia.workspace.problems import NotAllowed, NotThere, Outdated, Taken, Unusable

_T = TypeVar("_T")
_FOLDERS: Final = 40
"""Of folders that are looked into for agents, those that were used last."""
MOST_MEMORIES: Final = 100
_NOT_ALLOWED: Final = "agentpage.not_allowed"
_TAKEN: Final = ("agents.exists", "agents.taken")


@dataclass(frozen=True, slots=True)
class ToolSeen:
    """A tool that agents may be given: its name, what it is for as models are told, other names that mean it."""

    name: str
    about: str
    also: tuple[str, ...] = ()


class AgentFiles(Protocol):
    """The files of agents on this machine, given by the composition root. Everything here blocks, and reads files."""

    def shelf(self, folder: str | None = None) -> Shelf:
        """Where the home folder's agents lie, and those that a folder brings. Raises `MaiaError` for no folder."""
        ...

    def colleague(self, agent: AgentDefinition, folder: str | None = None) -> Colleague:
        """An agent with who answers for it and the folders that it brings along."""
        ...

    def template(self, lang: str) -> str:
        """The text that a new definition begins with. Raises `MaiaError`."""
        ...

    def runs_on(self, provider: str) -> str:
        """The program behind a provider's id, empty for a model that maia itself asks."""
        ...

    def tools(self) -> Sequence[ToolSeen]:
        """All tools that are installed, in their usual order."""
        ...

    def memory(self, name: str) -> Memory | None:
        """What a home agent keeps for itself at the terminal and in runs; None where it kept nothing yet."""
        ...


@dataclass(frozen=True, slots=True)
class Definition:
    """One file. `id` stands in addresses: the name, and for a folder's agent a sign of the folder after `@`.

    Exactly one of `colleague` and `trouble` is set: what it means, or why it means nothing, with `line`. `text` is the
    file's own, keys masked, where somebody looks at it alone; `revision` tells this content from another.
    """

    id: str
    name: str
    file: str
    folder: str = ""
    colleague: Colleague | None = None
    trouble: Reason | None = None
    text: str = ""
    revision: str = ""

    @property
    def is_own(self) -> bool:
        """Whether it lies in the home folder, and so may be changed here."""
        return not self.folder


class Definitions:
    """All definitions of this installation. `NotAllowed` is who changes one without the right to."""

    def __init__(self, database: Database, files: AgentFiles, models: Models, news: News) -> None:
        self._database = database
        self._files = files
        self._models = models
        self._news = news

    # Reading

    async def all(self, user: User) -> Sequence[Definition]:
        """Those of the home folder, then those of folders that projects or this person's conversations work in."""
        known = await self._database.read(lambda c: folders.places_seen_by(c, user.id, _FOLDERS))
        return await asyncio.to_thread(lambda: [*self._of_home(), *self._of_folders(known)])

    async def one(self, user: User, agent_id: str) -> Definition:
        """One of them, with its text. Raises `NotThere`."""
        listed = await self.all(user) if "@" in agent_id else await asyncio.to_thread(self._of_home)
        found = next((each for each in listed if each.id == agent_id), None)
        if found is None:
            raise NotThere("card.no_agent", name=agent_id)
        return await asyncio.to_thread(lambda: self._with_text(found))

    def tools(self) -> Sequence[ToolSeen]:
        """All tools that an agent may be given. Blocks."""
        return self._files.tools()

    async def used_by(self, name: str) -> Sequence[str]:
        """The projects and stages that hand their conversations to it."""

        def find(connection: Connection) -> list[str]:
            rows = (*projects.projects(connection), *projects.stages(connection))
            return [each.name for each in rows if each.agent == name]

        return await self._database.read(find)

    async def conversations(self, user: User, name: str, limit: int) -> Sequence[ConversationRow]:
        """This person's conversations with it, the last changed first."""
        return await self._database.read(lambda c: conversations.conversations_with(c, user.id, name, limit))

    def _of_home(self) -> list[Definition]:
        shelf = self._files.shelf()
        agents = shelf.read()
        return self._defined(agents, shelf.home, None, lambda agent: agent.level == "home")

    def _of_folders(self, known: Sequence[str]) -> list[Definition]:
        found: list[Definition] = []
        for folder in known:
            try:
                shelf = self._files.shelf(folder)
            except MaiaError:
                continue  # it is not there any more, or cannot be read
            if shelf.project is not None and shelf.is_trusted:
                agents = shelf.read()
                found += self._defined(agents, shelf.project, folder, lambda agent: agent.level == "project")
        return found

    def _defined(
        self, agents: Agents, place: Place, folder: str | None, belongs: Callable[[AgentDefinition], bool]
    ) -> list[Definition]:
        mark = f"@{sha256(folder.encode('utf-8', 'replace')).hexdigest()[:8]}" if folder else ""

        def file_of(name: str) -> str:
            return place.shown(place.agent(name) / FILE)

        whole = [
            Definition(f"{each.name}{mark}", each.name, each.shown, folder or "", self._files.colleague(each, folder))
            for each in agents.found
            if belongs(each)
        ]
        here = set(place.names())
        broken = [
            Definition(f"{name}{mark}", name, file_of(name), folder or "", trouble=Reason(why.key, why.values))
            for name, why in agents.broken.items()
            if name in here
        ]
        return [*whole, *broken]

    def _with_text(self, found: Definition) -> Definition:
        shelf = self._files.shelf(found.folder or None)
        place = shelf.project if found.folder and shelf.project is not None else shelf.home
        try:
            text, _ = place.read(place.agent(found.name) / FILE)
        except (OSError, Invalid):
            return found
        return replace(found, text=shelf.outside.masked(text), revision=revision_of(text))

    # Changing

    async def create(self, by: User, draft: Draft, lang: str) -> Definition:
        """A new agent of the home folder. Raises `NotAllowed`, `Unusable`, `Taken`, `Unfit` for a model that is off."""
        _leads(by)
        fields = await self._fields(draft, None)

        def make() -> str:
            shelf = self._files.shelf()
            name = draft.name or free_name(draft.nickname or "", (each.name for each in shelf.read().found))
            return change.create(shelf, name, self._files.template(lang), fields, "home").agent.name

        name = await self._changed(make)
        await self._note(by, "created", name, list(fields))
        return await self.one(by, name)

    async def change(self, by: User, agent_id: str, draft: Draft) -> Definition:
        """Other values of what the draft names; a file that is another one than the draft was made for stays.

        Raises as `create`, `NotThere`, and `Outdated`.
        """
        _leads(by)
        found = await self._own(by, agent_id)
        fields = await self._fields(draft, found.colleague)
        try:
            await self._changed(lambda: change.update(self._files.shelf(), found.name, fields, revision=draft.revision))
        except ChangedMeanwhile as problem:
            raise Outdated("agent_changed", problem.key, **problem.values) from None
        await self._note(by, "changed", found.name, list(fields))
        return await self.one(by, agent_id)

    async def remove(self, by: User, agent_id: str) -> str:
        """Put a definition aside; what it is kept as, for `restore`. Raises `NotAllowed`, `NotThere`, `Unusable`."""
        _leads(by)
        found = await self._own(by, agent_id)
        kept = await self._changed(lambda: change.delete(self._files.shelf(), found.name).name)
        await self._note(by, "removed", found.name, [])
        return kept

    async def restore(self, by: User, kept: str) -> Definition:
        """Put it back. Raises `NotAllowed`, `Unusable`, `Taken` where there is one of that name again."""
        _leads(by)
        name = await self._changed(lambda: change.restore(self._files.shelf(), kept))
        await self._note(by, "restored", name, [])
        return await self.one(by, name)

    async def removed(self, by: User) -> Sequence[tuple[str, str]]:
        """What was put aside, the last first: (what it is kept as, its name); nothing for who may not lead them."""
        if not may(by, "agents"):
            return ()
        return await asyncio.to_thread(lambda: change.removed(self._files.shelf()))

    async def _own(self, by: User, agent_id: str) -> Definition:
        found = await self.one(by, agent_id)
        if not found.is_own:
            raise Unusable("agentpage.read_only", file=found.file)
        return found

    async def _fields(self, draft: Draft, now: Colleague | None) -> Mapping[str, Any]:
        catalogue = await self._models.known()
        fields = file_fields(draft, now, catalogue)
        if draft.pair is not None:
            program = self._files.runs_on(draft.pair.provider)
            fields |= {"runner": program or None}
            fields |= {"model": draft.model_of_program if program else "/".join(draft.pair)}
        return fields

    async def _changed(self, work: Callable[[], _T]) -> _T:
        """Do it in a thread, and tell of it in the words of this room."""
        try:
            done = await asyncio.to_thread(work)
        except ChangedMeanwhile:
            raise
        except (UsageProblem, SettingsProblem) as problem:
            kind = Taken if problem.key in _TAKEN else Unusable
            raise kind(problem.key, **problem.values) from problem
        self._news.tell()
        return done

    async def _note(self, by: User, act: str, name: str, fields: Sequence[str]) -> None:
        details = {"agent": name, **({"fields": list(fields)} if fields else {})}
        await self._database.write(lambda c: note_act(c, f"agents.{act}", by=by.id, details=details))

    # Its memory

    async def remembered(self, by: User, agent_id: str, query: str) -> Sequence[MemoryEntry]:
        """What it keeps for itself, the newest first, or what fits best. Raises `NotAllowed`, `NotThere`."""
        memory = await self._memory(by, agent_id, "agentpage.memories.not_allowed")
        if memory is None:
            return ()
        try:
            if not query.strip():
                return await memory.recent(MOST_MEMORIES)
            return [each.entry for each in await memory.search(query, MOST_MEMORIES)]
        finally:
            await memory.aclose()

    async def forget(self, by: User, agent_id: str, entry_id: str) -> None:
        """One entry, for good. Raises `NotThere`."""
        memory = await self._memory(by, agent_id)
        try:
            if memory is None or not await memory.forget(entry_id):
                raise NotThere("memories.not_found")
        finally:
            if memory is not None:
                await memory.aclose()
        await self._note(by, "forgot", agent_id, [])

    async def _memory(self, by: User, agent_id: str, refusal: str = _NOT_ALLOWED) -> Memory | None:
        _leads(by, refusal)
        found = await self.one(by, agent_id)
        return await asyncio.to_thread(self._files.memory, found.name) if found.is_own else None


def _leads(user: User, refusal: str = _NOT_ALLOWED) -> None:
    if not may(user, "agents"):
        raise NotAllowed(refusal)
