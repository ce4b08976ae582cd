"""Rows of files that belong to a conversation: waiting for a message, sent with one, or written by a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, Select, delete, func, select, update

from maia.database.ids import new_id, now_ms
from maia.database.search import keep_words
from maia.database.tables.conversations import ATTACHMENTS, CONVERSATIONS

Origin: TypeAlias = Literal["person", "model"]
_A = ATTACHMENTS.c
_DIGESTS = (_A.digest, _A.sent_digest, _A.thumbnail_digest)


@dataclass(frozen=True, slots=True)
class AttachmentRow:
    """One file. `turn` is None while it waits to be sent; `path` is where a model wrote it, in its workspace.

    `changed_ns` is the moment of that file on the disk. `width` and `height` stand with pictures, as do the digests of
    the picture for models and of the thumbnail. `problem` says why no text or picture could be read.
    """

    id: str
    conversation_id: str
    turn: int | None
    name: str
    media_type: str
    kind: str
    size: int
    digest: str
    origin: Origin
    path: str | None
    changed_ns: int | None
    problem: str
    width: int | None
    height: int | None
    sent_digest: str | None
    sent_type: str | None
    thumbnail_digest: str | None
    is_cut: bool
    created_at: int


_COLUMNS = tuple(_A[each.name] for each in fields(AttachmentRow))


def add_attachment(connection: Connection, values: dict[str, Any]) -> str:
    """Another file; its id. `values` are columns of the table."""
    made = new_id()
    connection.execute(ATTACHMENTS.insert().values(id=made, created_at=now_ms(), **values))
    return made


def attachment(connection: Connection, attachment_id: str) -> AttachmentRow:
    """That file, whoever's it is; for the server's own work only."""
    return _rows(connection, select(*_COLUMNS).where(_A.id == attachment_id))[0]


def touch(connection: Connection, attachment_id: str, changed_ns: int) -> None:
    """Its file on the disk has another moment and the same content."""
    connection.execute(update(ATTACHMENTS).where(_A.id == attachment_id).values(changed_ns=changed_ns))


def attachments_of(connection: Connection, conversation_id: str) -> list[AttachmentRow]:
    """All files of a conversation, oldest first."""
    return _rows(connection, select(*_COLUMNS).where(_A.conversation_id == conversation_id))


def waiting(connection: Connection, conversation_id: str) -> list[AttachmentRow]:
    """Those that were not sent yet, oldest first."""
    query = select(*_COLUMNS).where(_A.conversation_id == conversation_id, _A.turn.is_(None), _A.origin == "person")
    return _rows(connection, query)


def sent_with(connection: Connection, conversation_id: str, turn: int) -> list[AttachmentRow]:
    """Those that went with the message of that turn."""
    query = select(*_COLUMNS).where(_A.conversation_id == conversation_id, _A.turn == turn, _A.origin == "person")
    return _rows(connection, query)


def attachment_of(connection: Connection, attachment_id: str, owner_id: str) -> AttachmentRow | None:
    """That file where it is in a conversation of that person that was not deleted."""
    mine = (CONVERSATIONS.c.owner_id == owner_id) & CONVERSATIONS.c.deleted_at.is_(None)
    joined = ATTACHMENTS.join(CONVERSATIONS, _A.conversation_id == CONVERSATIONS.c.id)
    query = select(*_COLUMNS).select_from(joined).where(_A.id == attachment_id, mine)
    return next(iter(_rows(connection, query)), None)


def texts_of(connection: Connection, ids: Sequence[str]) -> dict[str, str]:
    """What could be read of these files."""
    found = connection.execute(select(_A.id, _A.text).where(_A.id.in_(ids), _A.text.is_not(None)))
    return {row.id: row.text for row in found}


def mark_sent(connection: Connection, ids: Sequence[str], turn: int) -> bool:
    """They went with that turn's message, and are found by their words; False where one does not wait any more."""
    still = update(ATTACHMENTS).where(_A.id.in_(ids), _A.turn.is_(None)).values(turn=turn)
    if connection.execute(still).rowcount != len(ids):
        return False
    for row in connection.execute(select(_A.id, _A.conversation_id, _A.name, _A.text).where(_A.id.in_(ids))).all():
        keep_words(connection, row.conversation_id, row.id, f"{row.name}\n{row.text or ''}")
    return True


def remove_waiting(connection: Connection, attachment_id: str) -> bool:
    """Away with one that was not sent; False where it was."""
    gone = delete(ATTACHMENTS).where(_A.id == attachment_id, _A.turn.is_(None))
    return bool(connection.execute(gone).rowcount)


def kept_bytes(connection: Connection) -> int:
    """How much all files of this installation hold; the same content twice counts twice."""
    return int(connection.execute(select(func.coalesce(func.sum(_A.size), 0))).scalar_one())


def unknown_among(connection: Connection, digests: Sequence[str]) -> list[str]:
    """The contents of which no row knows."""
    known: set[str] = set()
    for column in _DIGESTS:
        known.update(connection.execute(select(column).where(column.in_(digests))).scalars())
    return [digest for digest in digests if digest not in known]


def _rows(connection: Connection, query: Select[*tuple[Any, ...]]) -> list[AttachmentRow]:
    return [AttachmentRow(*row) for row in connection.execute(query.order_by(_A.created_at, _A.id))]
