"""The JSON of working folders: of conversations, projects and types of projects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, StringConstraints

from maia.core.jsonvalue import JsonObject
from maia.web.api.body import Body
from maia.workspace.records import Folder, FolderRow


class FolderBody(Body):
    """A named root; without a name it has its folder's."""

    name: Annotated[str, StringConstraints(max_length=1000)] = ""
    path: Annotated[str, StringConstraints(max_length=8000)]


class FolderList(Body):
    folders: Annotated[list[FolderBody], Field(max_length=1000)]


def folders_of(bodies: list[FolderBody]) -> list[Folder]:
    """The folders that somebody sent."""
    return [Folder(each.name, each.path) for each in bodies]


def folders_json(rows: Sequence[FolderRow]) -> list[JsonObject]:
    """A list of folders, the primary one first."""
    return [{"name": row.name, "path": row.path, "isWorkspace": row.is_workspace} for row in rows]
