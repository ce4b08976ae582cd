"""Reads the record of what was done (`settings.note_act` writes it)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, and_, or_, select

from maia.core.jsonvalue import JsonObject
from maia.database.tables.people import AUDIT, USERS


@dataclass(frozen=True, slots=True)
class Act:
    """One line: what was done, when, and by whom; `by` is None for the server itself and for who is gone."""

    id: str
    at: int
    action: str
    by: str | None
    by_name: str | None
    conversation_id: str | None
    details: JsonObject


def acts(connection: Connection, limit: int, before: tuple[int, str] | None = None, action: str = "") -> Sequence[Act]:
    """The last lines, the newest first. `before` is (at, id) of the last one seen, `action` a beginning of its name."""
    query = (
        select(AUDIT, USERS.c.name)
        .outerjoin(USERS, USERS.c.id == AUDIT.c.user_id)
        .order_by(AUDIT.c.at.desc(), AUDIT.c.id.desc())
        .limit(limit)
    )
    if before is not None:
        at, last = before
        query = query.where(or_(AUDIT.c.at < at, and_(AUDIT.c.at == at, AUDIT.c.id < last)))
    if action:
        query = query.where(AUDIT.c.action.startswith(action, autoescape=True))
    return [
        Act(row.id, row.at, row.action, row.user_id, row.name, row.conversation_id, row.details or {})
        for row in connection.execute(query)
    ]
