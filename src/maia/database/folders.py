"""Rows of working folders: of a conversation, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import Connection, bindparam, delete, func, select

from maia.database.ids import new_id
from maia.database.tables.conversations import CONVERSATIONS, FOLDERS, PROJECTS

Scope: TypeAlias = Literal["conversation", "project", "project_type"]
_F = FOLDERS.c
_LIST = (
    select(_F.name, _F.path, _F.is_workspace)
    .where(_F.scope == bindparam("of"), _F.scope_id == bindparam("of_id"))
    .order_by(_F.position)
)


@dataclass(frozen=True, slots=True)
class FolderRow:
    """A named root (R-2.312). `is_workspace` is the conversation's own, which nobody chose."""

    name: str
    path: str
    is_workspace: bool = False


def folders_of(connection: Connection, scope: Scope, scope_id: str) -> tuple[FolderRow, ...]:
    """The list, the primary one first."""
    found = connection.execute(_LIST, {"of": scope, "of_id": scope_id})
    return tuple(FolderRow(*row) for row in found)


def inherited(connection: Connection, project_id: str) -> tuple[FolderRow, ...]:
    """What conversations of a project begin with: its list, else that of its type, empty where neither has one."""
    kind = select(PROJECTS.c.type_id).where(PROJECTS.c.id == project_id)
    type_id = connection.execute(kind).scalar()
    own = folders_of(connection, "project", project_id)
    return own or (folders_of(connection, "project_type", type_id) if type_id else ())


def places_seen_by(connection: Connection, user_id: str, most: int) -> Sequence[str]:
    """Primary folders of projects and types, then of that person's own conversations, the last changed first."""
    c = CONVERSATIONS.c
    first = (_F.position == 0, _F.is_workspace.is_(False))
    shared = select(_F.path).where(_F.scope != "conversation", *first).order_by(_F.path).limit(most)
    own = (
        select(_F.path, func.max(c.updated_at))
        .join(CONVERSATIONS, c.id == _F.scope_id)
        .where(_F.scope == "conversation", *first, c.owner_id == user_id, c.deleted_at.is_(None))
        .group_by(_F.path)
        .order_by(func.max(c.updated_at).desc())
        .limit(most)
    )
    found = [*connection.execute(shared).scalars(), *connection.execute(own).scalars()]
    return tuple(dict.fromkeys(found))[:most]


def set_folders(connection: Connection, scope: Scope, scope_id: str, folders: Sequence[FolderRow]) -> None:
    """Another list in place of the one there was."""
    connection.execute(delete(FOLDERS).where(_F.scope == scope, _F.scope_id == scope_id))
    for position, each in enumerate(folders):
        connection.execute(
            FOLDERS.insert().values(
                id=new_id(),
                scope=scope,
                scope_id=scope_id,
                position=position,
                name=each.name,
                path=each.path,
                is_workspace=each.is_workspace,
            )
        )


def owned_among(connection: Connection, owner_id: str, conversations: Iterable[str]) -> frozenset[str]:
    """Those of the conversations that are that person's."""
    c = CONVERSATIONS.c
    named = list(conversations)
    return frozenset(connection.execute(select(c.id).where(c.owner_id == owner_id, c.id.in_(named))).scalars())
