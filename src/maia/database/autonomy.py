"""Rows of autonomy: the level of each category, and every refusal that needed no person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import Connection, func, select, update

from maia.database.ids import new_id, now_ms
from maia.database.tables.conversations import AUTONOMY_LEVELS, CONVERSATIONS, DENIALS
from maia.database.tables.people import USERS

Checkpoint: TypeAlias = Literal["deterministic", "judge", "lockout"]
"""Who refused: a rule or a protected place, the check of a call, or the lock after several denials."""
_L, _D = AUTONOMY_LEVELS.c, DENIALS.c


@dataclass(frozen=True, slots=True)
class LevelRow:
    """A level that was set; `changed_by` is a name, None for somebody who is gone."""

    category: str
    level: int
    changed_at: int
    changed_by: str | None


@dataclass(frozen=True, slots=True)
class Denied:
    """A refusal to be kept. `reason` is a short code: no path, no argument, no value stands in it."""

    conversation_id: str
    tool: str
    checkpoint: Checkpoint
    reason: str
    counts: bool
    at: int


@dataclass(frozen=True, slots=True)
class DenialRow:
    """A refusal as it was kept, with whose conversation it was. The title is for the owner of it alone."""

    id: str
    conversation_id: str
    owner_id: str
    owner: str
    title: str
    tool: str
    checkpoint: Checkpoint
    reason: str
    at: int


def levels(connection: Connection) -> Sequence[LevelRow]:
    """The levels that somebody set."""
    joined = AUTONOMY_LEVELS.outerjoin(USERS, _L.changed_by == USERS.c.id)
    query = select(_L.category, _L.level, _L.changed_at, USERS.c.name).select_from(joined)
    return [LevelRow(*row) for row in connection.execute(query)]


def keep_level(connection: Connection, category: str, level: int, by: str) -> None:
    """Set one."""
    kept = {"level": level, "changed_at": now_ms(), "changed_by": by}
    if not connection.execute(update(AUTONOMY_LEVELS).where(_L.category == category).values(**kept)).rowcount:
        connection.execute(AUTONOMY_LEVELS.insert().values(category=category, **kept))


def add_denial(connection: Connection, denied: Denied) -> None:
    """Keep a refusal."""
    values = {name: getattr(denied, name) for name in Denied.__slots__}
    connection.execute(DENIALS.insert().values(id=new_id(), **values))


def denials(connection: Connection, limit: int, before: tuple[int, str] | None = None) -> Sequence[DenialRow]:
    """The last refusals, the newest first; `before` is (at, id) of the last one seen."""
    joined = DENIALS.join(CONVERSATIONS, _D.conversation_id == CONVERSATIONS.c.id).join(
        USERS, CONVERSATIONS.c.owner_id == USERS.c.id
    )
    owner = (CONVERSATIONS.c.owner_id, USERS.c.name, CONVERSATIONS.c.title)
    columns = (_D.id, _D.conversation_id, *owner, _D.tool, _D.checkpoint, _D.reason, _D.at)
    query = select(*columns).select_from(joined).order_by(_D.at.desc(), _D.id.desc()).limit(limit)
    if before is not None:
        at, last = before
        query = query.where((_D.at < at) | ((_D.at == at) & (_D.id < last)))
    return [DenialRow(*row) for row in connection.execute(query)]


def denials_by_reason(connection: Connection, since: int) -> Mapping[tuple[str, str], int]:
    """How many refusals there were from that moment on, by (checkpoint, reason)."""
    query = select(_D.checkpoint, _D.reason, func.count()).where(_D.at >= since).group_by(_D.checkpoint, _D.reason)
    return {(row[0], row[1]): row[2] for row in connection.execute(query)}


def counted_denials(connection: Connection, since: int) -> Sequence[tuple[str, int]]:
    """(conversation, when) of each refusal that counts for the lock, the oldest first."""
    query = select(_D.conversation_id, _D.at).where(_D.at >= since, _D.counts).order_by(_D.at, _D.id)
    return [(row.conversation_id, row.at) for row in connection.execute(query)]
