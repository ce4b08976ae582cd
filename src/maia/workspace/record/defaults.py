"""Folders that new conversations of a project begin with: its own list, else that of its type (R-2.316, R-2.317)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from sqlalchemy import Connection, select

from maia.database.database import Database
from maia.database.folders import FolderRow, folders_of, set_folders
from maia.database.tables.conversations import PROJECT_TYPES, PROJECTS
from maia.database.users import User
from maia.folders.lists import Folder
from maia.workspace.folders import WorkFolders
from maia.workspace.problems import NotThere

Scope: TypeAlias = Literal["project", "project_type"]
_TABLES = {"project": PROJECTS, "project_type": PROJECT_TYPES}


class DefaultFolders:
    """Lists of projects and types; conversations copy them, later changes reach only new ones."""

    def __init__(self, database: Database, folders: WorkFolders) -> None:
        self._database = database
        self._folders = folders

    async def of(self, scope: Scope, row_id: str) -> tuple[FolderRow, ...]:
        """The list as it is kept, the primary one first. Raises `NotThere`."""

        def find(connection: Connection) -> tuple[FolderRow, ...]:
            _must_be(connection, scope, row_id)
            return folders_of(connection, scope, row_id)

        return await self._database.read(find)

    async def keep(self, user: User, scope: Scope, row_id: str, folders: Sequence[Folder]) -> None:
        """Another list, checked whole. Raises `NotThere`, `FolderRefused`, `ListRefused`."""
        checked = await self._folders.checked(user.id, folders)
        rows = [FolderRow(each.name, each.path) for each in checked]

        def keep(connection: Connection) -> None:
            _must_be(connection, scope, row_id)
            set_folders(connection, scope, row_id, rows)

        await self._database.write(keep)


def _must_be(connection: Connection, scope: Scope, row_id: str) -> None:
    table = _TABLES[scope]
    if connection.execute(select(table.c.id).where(table.c.id == row_id)).first() is None:
        raise NotThere("planning.not_found")
