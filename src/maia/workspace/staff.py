"""Who of the agents belongs to which conversation, and the home thread that a person has with each (R-2.004)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from maia.core.requests import Effort
from maia.database import delegations, homes, projects
from maia.database.conversations import ConversationRow, Pin
from maia.database.database import Database
from maia.database.delegations import Above
from maia.database.folders import folders_of
from maia.database.homes import Home
from maia.database.users import User
from maia.workspace.colleagues import UNASSIGNED, Assigned, Colleague, Colleagues, is_talked_to, named, talked_to
from maia.workspace.models.catalogue import Pair
from maia.workspace.models.effort import level
from maia.workspace.people.rights import may
from maia.workspace.problems import NotAllowed, NotThere


class Staff:
    """All agents of this server. `read` finds them; those of a folder come with the conversations that work there."""

    def __init__(self, database: Database, read: Colleagues) -> None:
        self._database = database
        self.read = read

    async def everybody(self, row: ConversationRow | None = None) -> Sequence[Colleague]:
        """All agents, specialists included; with those that the conversation's first folder brings along."""
        return await self._known_in(row.id if row is not None else None)

    async def _known_in(self, conversation_id: str | None) -> Sequence[Colleague]:
        read = self._database.read
        folder = await read(lambda c: _first_folder(c, conversation_id)) if conversation_id is not None else None
        return await asyncio.to_thread(self.read, folder)

    async def colleagues(self, row: ConversationRow | None = None) -> Sequence[Colleague]:
        """The agents that people talk to (R-2.008)."""
        return talked_to(await self.everybody(row))

    async def agent(self, name: str) -> Colleague:
        """One agent. Raises `NotThere`."""
        found = named(await self.everybody(), name)
        if found is None:
            raise NotThere("card.no_agent", name=name)
        return found

    async def of(self, row: ConversationRow) -> Assigned:
        """The agents of a conversation, as their files say now."""
        if row.agent is None and row.project_id is None and row.parent_id is None:
            return UNASSIGNED
        if row.parent_id is not None:
            return await self._delegated(row)
        return await self._assigned(row)

    async def _assigned(self, row: ConversationRow) -> Assigned:
        project_id = row.project_id
        project = await self._database.read(lambda c: projects.project(c, project_id)) if project_id else None
        known = await asyncio.to_thread(self.read, None)
        if row.agent is not None and named(known, row.agent) is None:
            known = await self.everybody(row)
        colleague = named(known, row.agent)
        if colleague is not None and not colleague.definition.is_enabled:
            colleague = None
        missing = row.agent if row.agent is not None and colleague is None else ""
        return Assigned(colleague, named(known, project.agent if project else None), missing)

    async def _delegated(self, row: ConversationRow) -> Assigned:
        """With what a conversation has of those above it (R-2.047, N-02.02).

        Where the agent of one of these is gone, nobody answers: its rules, which hold here too, are not known any more.
        """

        def read(connection: Connection) -> tuple[tuple[str, str] | None, list[Above]]:
            return delegations.delegating_model(connection, row.id), delegations.above(connection, row.id)

        model, above = await self._database.read(read)
        agents = {each.agent: await self._agent_of(each) for each in above if each.agent}
        levels = (level(each.effort) or _own_level(agents.get(each.agent or "")) for each in above)
        nearest = next((each for each in levels if each is not None), None)
        mine = await self._assigned(row)
        return replace(
            mine,
            missing=mine.missing or next((name for name, agent in agents.items() if agent is None), ""),
            delegating=Pair(*model) if model else None,
            above=nearest,
            delegators=tuple(agent.definition for agent in agents.values() if agent is not None),
        )

    async def _agent_of(self, above: Above) -> Colleague | None:
        known = named(await asyncio.to_thread(self.read, None), above.agent)
        return known or named(await self._known_in(above.conversation_id), above.agent)

    # Home threads

    async def homes(self, user: User) -> Sequence[Home]:
        """The home threads of a person."""
        return await self._database.read(lambda c: homes.homes_of(c, user.id))

    async def home(self, user: User, name: str, lang: str) -> tuple[str, bool]:
        """The one conversation that goes on with a colleague, made at the first opening (N-05.13); and whether it was.

        Raises `NotThere` for an agent that is none of those that people talk to, `NotAllowed` where it would be
        made for somebody who may only read.
        """
        found = await self.agent(name)
        if not is_talked_to(found):
            raise NotThere("card.no_agent", name=name)

        def open_it(connection: Connection) -> tuple[str, bool]:
            known = next((each for each in homes.homes_of(connection, user.id) if each.agent == found.name), None)
            if known is not None:
                return known.id, False
            if not may(user, "chat"):
                raise NotAllowed("people.may_only_read")
            return homes.add_home(connection, user.id, found.name, found.nickname, lang, Pin("inherit")), True

        return await self._database.write(open_it)


def _own_level(agent: Colleague | None) -> Effort | None:
    return agent.definition.effort if agent else None


def _first_folder(connection: Connection, conversation_id: str) -> str | None:
    kept = folders_of(connection, "conversation", conversation_id)
    return kept[0].path if kept and not kept[0].is_workspace else None
