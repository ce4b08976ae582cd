"""The folders of a conversation: the list that is kept, and what a turn may use of it (R-2.312–R-2.354)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from sqlalchemy import Connection

from maia.core.events import Notice
from maia.database.conversations import ConversationRow
from maia.database.database import Database
from maia.database.folders import FolderRow, folders_of, inherited, owned_among, set_folders
from maia.database.tables.conversations import FOLDERS
from maia.engine.context import START_FILES
from maia.folders.lists import Folder, Root, Working, checked_list, working
from maia.folders.refusals import FolderRefused, Refusal
from maia.folders.safety import Safety
from maia.folders.workspaces import Workspaces

WORKSPACE = "workspace"
"""The name that the own workspace is kept under; doors show it in words."""

Beside: TypeAlias = Callable[[str | None], None]
"""Is given the folder whose agents come along with a conversation, if there is one. Blocks, and raises nothing."""


@dataclass(frozen=True, slots=True)
class Room:
    """Where a turn works. Without any `roots` its file tools have no folder (R-2.351).

    `mine` are the conversations whose workspaces are open to it.
    """

    roots: tuple[Root, ...]
    mine: frozenset[str]
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """A folder of a list that is kept; `refused` says why a turn leaves it out now, None when it does not."""

    row: FolderRow
    refused: FolderRefused | None


class WorkFolders:
    """Lists of folders in the database, judged on the disk. `look` knows what is protected at this moment."""

    def __init__(self, database: Database, workspaces: Workspaces, look: Callable[[], Safety]) -> None:
        self._database = database
        self._workspaces = workspaces
        self._look = look

    async def of(self, conversation_id: str) -> tuple[FolderRow, ...]:
        """The list as it is kept."""
        key = ("folders", conversation_id)
        return await self._database.known(key, (FOLDERS,), lambda c: folders_of(c, "conversation", conversation_id))

    async def looked(self, row: ConversationRow) -> tuple[Kept, ...]:
        """The list of a conversation, each folder looked at now (R-2.339)."""
        rows = await self.of(row.id)
        safety, named = await asyncio.to_thread(self._named, _folders(rows))
        mine = await self._owned(row.owner_id, named - {row.id}) | {row.id}

        def look() -> tuple[Kept, ...]:
            seen = [safety.look(each.path, mine) for each in rows]
            why = [FolderRefused(each) if isinstance(each, Refusal) else None for each in seen]
            return tuple(map(Kept, rows, why))

        return await asyncio.to_thread(look)

    async def offers_own(self) -> bool:
        """Whether a conversation without any folder would get a workspace of its own (R-2.351)."""
        return await asyncio.to_thread(self._workspaces.is_writable)

    async def checked(self, owner_id: str, folders: Sequence[Folder]) -> tuple[Folder, ...]:
        """The list as it may be kept. Raises `FolderRefused`, `ListRefused`."""
        safety, named = await asyncio.to_thread(self._named, folders)
        mine = await self._owned(owner_id, named)
        return await asyncio.to_thread(checked_list, folders, safety, mine)

    def to_keep(self, conversation_id: str, folders: Sequence[Folder]) -> Callable[[Connection], None]:
        """Keep a list that was checked (R-2.346), in a transaction of the caller."""
        own = self._own_path(conversation_id)
        rows = [FolderRow(each.name, each.path, each.path == own) for each in folders]
        return lambda c: set_folders(c, "conversation", conversation_id, rows)

    def of_project(self, connection: Connection, conversation_id: str, project_id: str | None) -> None:
        """The list that a conversation has by its project: its own or its type's, else the own workspace (R-2.317)."""
        own = self._own_path(conversation_id)
        rows = inherited(connection, project_id) if project_id else ()
        if not rows and own:
            rows = (FolderRow(WORKSPACE, own, is_workspace=True),)
        set_folders(connection, "conversation", conversation_id, rows)

    async def settle(self, conversation_id: str) -> tuple[FolderRow, ...]:
        """The list; a conversation without any gets its own workspace (R-2.347, R-2.348)."""
        kept = await self.of(conversation_id)
        rows = await asyncio.to_thread(self._settled, conversation_id, kept)
        return await self._keep_own(conversation_id, kept, rows)

    def _settled(self, conversation_id: str, kept: tuple[FolderRow, ...]) -> tuple[FolderRow, ...]:
        """The list, with the own workspace in place of none; that workspace is made if it is on the list. Blocks."""
        if kept and not any(each.is_workspace for each in kept):
            return kept
        made = self._workspaces.of(conversation_id)
        return kept if kept or made is None else (FolderRow(WORKSPACE, str(made), is_workspace=True),)

    async def _keep_own(
        self, conversation_id: str, kept: tuple[FolderRow, ...], rows: tuple[FolderRow, ...]
    ) -> tuple[FolderRow, ...]:
        """The list that stands then: what a person set since `kept` was read is never replaced (R-2.352)."""
        if rows == kept:
            return rows

        def keep(connection: Connection) -> tuple[FolderRow, ...]:
            if (now := folders_of(connection, "conversation", conversation_id)) != kept:
                return now
            set_folders(connection, "conversation", conversation_id, rows)
            return rows

        return await self._database.write(keep)

    def own_workspace(self, conversation_id: str) -> Path | None:
        """Where the workspace of a conversation would be; it may not be there."""
        root = self._workspaces.root
        return root / conversation_id if root else None

    async def room(
        self,
        row: ConversationRow,
        more: Sequence[str] = (),
        beside: Beside = lambda _brings: None,
        places: Sequence[str] = (),
    ) -> Room:
        """What the next turn may use (R-2.339), looked at now; what is refused by now is told (R-2.341).

        `more` are folders that the conversation's agent brings along, after its own. `beside` looks at what else is
        wanted of the disk, into these `places`, in the same go: another one costs as much as to look.
        """
        before, mine = await self.of(row.id), frozenset({row.id})

        def look() -> tuple[tuple[FolderRow, ...], Safety, frozenset[str], Working]:
            rows = self._settled(row.id, before)
            beside(rows[0].path if rows and not rows[0].is_workspace else None)
            safety, named = self._named(_folders(rows))
            return rows, safety, named, working(_folders(rows), safety, mine)

        is_near = self._is_near(row.id, {*(each.path for each in before), *places})
        rows, safety, named, found = look() if is_near else await asyncio.to_thread(look)
        if await self._keep_own(row.id, before, rows) != rows:
            return await self.room(row, more, beside, places)
        kept = _folders(rows)
        if others := await self._owned(row.owner_id, named - mine):
            mine |= others
            found = await asyncio.to_thread(working, kept, safety, mine)
        if not found.roots:
            found = await self._own_room(row.id, found, safety)
        if more:
            brought = [Folder("", path) for path in more if path not in {each.path for each in kept}]
            found = found.joined(await asyncio.to_thread(working, brought, safety, mine))
        return Room(found.roots, mine, found.notices())

    async def _own_room(self, conversation_id: str, found: Working, safety: Safety) -> Working:
        """In place of a list of which nothing is left (R-2.344); the list stays as it is."""
        made = await asyncio.to_thread(self._workspaces.of, conversation_id)
        if made is None:
            return found
        own = await asyncio.to_thread(working, [Folder(WORKSPACE, str(made))], safety, frozenset({conversation_id}))
        return replace(found, roots=own.roots)

    def _is_near(self, conversation_id: str, places: Set[str]) -> bool:
        """Whether a look is over before another thread were awake: at the own workspace alone, on our own disk.

        What a model laid there to be read can be of any size, or lead anywhere: then nobody else waits for that.
        """
        own = self._own_path(conversation_id)
        return self._workspaces.is_near and places <= {own} and not any(map(os.path.lexists, _read_in(own)))

    def _named(self, folders: Iterable[Folder]) -> tuple[Safety, frozenset[str]]:
        """What is protected now, and the conversations whose workspaces the folders lead to. Blocks."""
        safety = self._look()
        return safety, frozenset(safety.named_conversations([each.path for each in folders]))

    async def _owned(self, owner_id: str, conversations: frozenset[str]) -> frozenset[str]:
        """Those of them that are that person's (R-2.326)."""
        if not conversations:
            return frozenset()
        return await self._database.read(lambda c: owned_among(c, owner_id, conversations))

    def _own_path(self, conversation_id: str) -> str:
        return str(self.own_workspace(conversation_id) or "")


def _read_in(folder: str) -> Iterator[str]:
    return (f"{folder}/{name}" for name in (".maia", *START_FILES))


def _folders(rows: Iterable[FolderRow]) -> list[Folder]:
    return [Folder(each.name, each.path) for each in rows]
