"""Rows of terminal sessions that were opened as conversations: which one, and how far it was taken over."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, select

from maia.database.ids import now_ms
from maia.database.tables.conversations import CONVERSATIONS, FOLDERS, OPENED_SESSIONS

_O = OPENED_SESSIONS.c
_C = CONVERSATIONS.c


@dataclass(frozen=True, slots=True)
class OpenedRow:
    """`session_turns` turns of the session stand in the conversation, whose last turn then was `last_turn`."""

    conversation_id: str
    name: str
    session_turns: int
    last_turn: int


def opened_from(connection: Connection, owner_id: str, folder: str) -> Sequence[OpenedRow]:
    """That person's conversations from the sessions of a folder, the last opened first."""
    query = (
        select(_O.conversation_id, _O.name, _O.session_turns, _O.last_turn)
        .join(CONVERSATIONS, _C.id == _O.conversation_id)
        .where(_O.folder == folder, _C.owner_id == owner_id, _C.deleted_at.is_(None))
        .order_by(_O.opened_at.desc(), _O.conversation_id.desc())
    )
    return [OpenedRow(*row) for row in connection.execute(query)]


def opened_as(connection: Connection, conversation_id: str, folder: str) -> OpenedRow | None:
    """The session of that folder which a conversation was opened from, if it was."""
    query = select(_O.conversation_id, _O.name, _O.session_turns, _O.last_turn)
    row = connection.execute(query.where(_O.conversation_id == conversation_id, _O.folder == folder)).first()
    return None if row is None else OpenedRow(*row)


def keep_opened(connection: Connection, folder: str, row: OpenedRow) -> None:
    """A conversation stands for a session from here on, or for more of it."""
    connection.execute(delete(OPENED_SESSIONS).where(_O.conversation_id == row.conversation_id))
    connection.execute(
        OPENED_SESSIONS.insert().values(
            conversation_id=row.conversation_id,
            folder=folder,
            name=row.name,
            session_turns=row.session_turns,
            last_turn=row.last_turn,
            opened_at=now_ms(),
        )
    )


def working_in(connection: Connection, folders: Collection[str], limit: int) -> Sequence[tuple[str, str, int]]:
    """Conversations that work in one of these folders, whoever owns them: (id, title, last change), newest first."""
    there = select(FOLDERS.c.scope_id).where(FOLDERS.c.scope == "conversation", FOLDERS.c.path.in_(folders))
    query = select(_C.id, _C.title, _C.updated_at).where(_C.id.in_(there), _C.deleted_at.is_(None))
    found = connection.execute(query.order_by(_C.updated_at.desc()).limit(limit))
    return [(row.id, row.title, row.updated_at) for row in found]


def worked_in(connection: Connection, owner_id: str, limit: int) -> Sequence[str]:
    """Folders of that person's conversations, beside own workspaces, the last used first."""
    latest = func.max(_C.updated_at)
    query = (
        select(FOLDERS.c.path)
        .join(CONVERSATIONS, _C.id == FOLDERS.c.scope_id)
        .where(FOLDERS.c.scope == "conversation", FOLDERS.c.is_workspace.is_(False), _C.owner_id == owner_id)
        .group_by(FOLDERS.c.path)
        .order_by(latest.desc(), FOLDERS.c.path)
    )
    return connection.execute(query.limit(limit)).scalars().all()
