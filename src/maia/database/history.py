"""Rows of history: notes of people and changes of tracked fields, apart from what agents do (R-2.298–R-2.304)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, Row, bindparam, func, select

from maia.database.ids import new_id, now_ms
from maia.database.tables.conversations import HISTORY
from maia.database.tables.people import USERS

EntryKind: TypeAlias = Literal["note", "change"]
Tracked: TypeAlias = Literal["stage", "project", "priority", "status", "due", "task"]
"""The fields whose changes are kept (R-2.304), and the tasks that were given to colleagues, each with its outcome."""
_H = HISTORY.c
_INSERT = HISTORY.insert()
_LAST = select(func.max(_H.at)).where(_H.conversation_id == bindparam("wanted"))
_COLUMNS = (_H.id, _H.at, _H.kind, _H.field, _H.old, _H.new, _H.note, USERS.c.name)


@dataclass(frozen=True, slots=True)
class Entry:
    """A note, or one change of one field: stages and projects by the name that they had, the others by their code.

    `by` is the name of who did it, None for maia itself. `at` is in milliseconds since 1970, UTC.
    """

    id: str
    at: int
    kind: EntryKind
    field: Tracked | None
    old: str | None
    new: str | None
    note: str | None
    by: str | None


def _entry(row: Row[*tuple[Any, ...]]) -> Entry:
    return Entry(*row)


def add_note(connection: Connection, conversation_id: str, note: str, by: str, made: str) -> None:
    """A person's note, under the id `made`."""
    row = {"id": made, "conversation_id": conversation_id, "at": _next_moment(connection, conversation_id)}
    connection.execute(HISTORY.insert().values(kind="note", note=note, user_id=by, **row))


def add_change(
    connection: Connection, conversation_id: str, field: Tracked, old: str | None, new: str | None, by: str | None
) -> None:
    """A field was changed. Nothing is written where both values are the same."""
    if old == new:
        return
    row = {"id": new_id(), "conversation_id": conversation_id, "at": _next_moment(connection, conversation_id)}
    connection.execute(_INSERT, {"kind": "change", "field": field, "old": old, "new": new, "user_id": by, **row})


def _next_moment(connection: Connection, conversation_id: str) -> int:
    """Now, but after the entry before: what happened in one millisecond, or while a clock jumped, stays in order."""
    last = connection.execute(_LAST, {"wanted": conversation_id}).scalar()
    return max(now_ms(), (last or 0) + 1)


def entries_of(
    connection: Connection, conversation_id: str, kind: EntryKind | None, limit: int, before: str | None = None
) -> Sequence[Entry]:
    """The newest entries, the newest first; those older than the entry `before`, if it is given."""
    query = select(*_COLUMNS).select_from(HISTORY.outerjoin(USERS)).where(_H.conversation_id == conversation_id)
    if kind is not None:
        query = query.where(_H.kind == kind)
    if before is not None:
        last = select(_H.at).where(_H.id == before, _H.conversation_id == conversation_id).scalar_subquery()
        query = query.where((_H.at < last) | ((_H.at == last) & (_H.id < before)))
    return [_entry(row) for row in connection.execute(query.order_by(_H.at.desc(), _H.id.desc()).limit(limit))]
