"""A turn that nobody waits for and that is refused before it begins: it stays as a failed one, for people to see."""

from __future__ import annotations

import asyncio

from sqlalchemy import Connection

from maia.core.costs import Cost
from maia.core.endings import Failure
from maia.core.errors import MaiaError
from maia.core.events import Event, TurnEnded, TurnStarted, UserSaid
from maia.core.reason import Reason
from maia.database import messages
from maia.database.approvals import status_after
from maia.database.conversations import ConversationRow, set_status
from maia.database.database import Database
from maia.database.events import Stamped
from maia.database.ids import now_ms
from maia.workspace.delegating.upward import Upward
from maia.workspace.log import Log
from maia.workspace.meta import TurnSums


async def keep_refused(
    database: Database, log: Log, row: ConversationRow, text: str, by: str, error: MaiaError
) -> None:
    """Store the message, and its failed answer with the refusal's words (R-2.057), both whoever goes away meanwhile."""
    await asyncio.shield(asyncio.ensure_future(_kept(database, log, row, text, by, error)))


async def _kept(database: Database, log: Log, row: ConversationRow, text: str, by: str, error: MaiaError) -> None:
    said = text.replace("\x00", "\ufffd")
    turn = (await database.write(lambda c: messages.open_turn(c, row.id, None, said))).turn
    code = getattr(error, "code", error.key)
    failure = Failure("other", code=code, why=Reason(error.key, dict(error.values)))
    ended = TurnEnded("failed", "unknown", "", None, Cost(), "", "", 0, 0, 0, failure=failure)
    happened: tuple[Event, ...] = (TurnStarted(turn, "", ""), UserSaid(text, by=by), ended)
    sums, upward = TurnSums(), Upward(log)

    def along(connection: Connection) -> None:
        messages.note_turn(connection, row.id, turn, row.status, None)
        messages.close_answer(connection, row.id, turn, sums.ending(ended))
        set_status(connection, row.id, status_after(connection, row.id, turn))
        upward.note(connection, row.id, ended.outcome)

    now = now_ms()
    events = [Stamped(now, each) for each in happened]
    await asyncio.wrap_future(log.write(row.id, turn, events, along))
    upward.tell()
