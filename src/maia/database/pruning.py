"""Rows that pile up by themselves, as refusals do: they are kept for a time, and only so many of them."""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement, Connection, Table, delete, select, true

from maia.database.tables.conversations import DENIALS
from maia.database.tables.people import AUDIT

KEPT_DAYS: Final = 90
MOST_ROWS: Final = 20_000
_DAY_MS: Final = 86_400_000


def prune_refusals(connection: Connection, now: int, refused: str, most: int = MOST_ROWS) -> int:
    """Drop old refusals of calls, and of messages, which the audit has under `refused`; how many went.

    What people did stays in the audit for good. `now` is in milliseconds since 1970.
    """
    before = now - KEPT_DAYS * _DAY_MS
    return _prune(connection, DENIALS, true(), before, most) + _prune(
        connection, AUDIT, AUDIT.c.action == refused, before, most
    )


def _prune(connection: Connection, table: Table, mine: ColumnElement[bool], before: int, most: int) -> int:
    newest = select(table.c.at).where(mine).order_by(table.c.at.desc(), table.c.id.desc())
    last = connection.execute(newest.offset(most).limit(1)).scalar()
    bound = before if last is None else max(before, int(last) + 1)
    return connection.execute(delete(table).where(mine, table.c.at < bound)).rowcount
