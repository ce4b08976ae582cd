"""Rows of results that are owed: a specialist waits for a person, and whoever gave it a task goes on without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import Connection, Select, Update, case, select, update

from maia.database.tables.conversations import CONVERSATIONS, DELEGATIONS, MESSAGES

AwaitedBy: TypeAlias = Literal["", "run", "reader", "told"]
"""Who has not got the result: nobody; a run, which goes on by it; a chat, whose people are told; one that was told."""
WaitsFor: TypeAlias = Literal["", "approval", "answer"]
"""What somebody below needs of a person: nothing, a decision on a call, an answer to a question."""

_C, _D, _M = CONVERSATIONS.c, DELEGATIONS.c, MESSAGES.c


@dataclass(frozen=True, slots=True)
class Late:
    """A result that came when nobody waited in a turn any more: what was said in `turn` of that conversation.

    The outcome `waiting_approval` is that of a run whose calls were refused: it stays stopped.
    """

    conversation_id: str
    title: str
    agent: str
    turn: int
    awaited_by: AwaitedBy


def owe(connection: Connection, conversation_id: str, awaited_by: AwaitedBy) -> None:
    """The result will come later."""
    connection.execute(_of(conversation_id).values(awaited_by=awaited_by, late_turn=0))


def owe_again(connection: Connection, conversation_id: str) -> None:
    """What came was not the end: it waits for a person once more."""
    again = case((_D.awaited_by == "told", "reader"), else_=_D.awaited_by)
    connection.execute(_of(conversation_id).where(_D.awaited_by != "").values(awaited_by=again, late_turn=0))


def settle(connection: Connection, conversation_id: str, turn: int, *, is_refused: bool = False) -> bool:
    """A turn brought the result, whoever asked there; whether somebody wants it.

    With `is_refused` it is over without one: no run goes on by that.
    """
    values: dict[str, Any] = {"late_turn": turn}
    if is_refused:
        values["awaited_by"] = case((_D.awaited_by == "run", "reader"), else_=_D.awaited_by)
    return bool(connection.execute(_of(conversation_id).where(_D.awaited_by != "").values(**values)).rowcount)


def forget(connection: Connection, conversation_ids: Sequence[str]) -> None:
    """These results were got, or will be by a call that waits for them."""
    gone = update(DELEGATIONS).where(_D.conversation_id.in_(conversation_ids))
    connection.execute(gone.values(awaited_by="", late_turn=0))


def tell(connection: Connection, conversation_ids: Sequence[str]) -> None:
    """People were told that they are there."""
    told = update(DELEGATIONS).where(_D.conversation_id.in_(conversation_ids), _D.awaited_by != "")
    connection.execute(told.values(awaited_by="told"))


def waits_below(connection: Connection, conversation_id: str) -> WaitsFor:
    """What the specialists of a conversation wait for whose results are owed to it."""
    states = set(connection.execute(_below(conversation_id, _C.status).where(_D.late_turn == 0)).scalars())
    return "" if not states else "answer" if "waiting" in states else "approval"


def late_below(connection: Connection, conversation_id: str) -> Sequence[Late]:
    """The results that came for a conversation and were not read there, the oldest conversation first."""
    query = _below(conversation_id, _C.id, _C.title, _C.agent, _D.late_turn, _D.awaited_by)
    return [Late(*row) for row in connection.execute(query.where(_D.late_turn > 0).order_by(_D.created_at, _C.id))]


def expecting(connection: Connection) -> Sequence[str]:
    """The conversations for which results came that were not read there."""
    query = select(_C.parent_id).select_from(DELEGATIONS.join(CONVERSATIONS)).where(*_IS_OWED, _D.late_turn > 0)
    return [parent for parent in connection.execute(query.distinct()).scalars() if parent is not None]


def is_run(connection: Connection, conversation_id: str, turn: int) -> bool:
    """Whether no person asked for that turn."""
    said = (_M.conversation_id == conversation_id, _M.turn == turn, _M.role == "user")
    found = connection.execute(select(_M.author_id).where(*said)).first()
    return found is not None and found.author_id is None


_IS_OWED: Final = (_D.awaited_by != "", _C.deleted_at.is_(None))


def _of(conversation_id: str) -> Update:
    return update(DELEGATIONS).where(_D.conversation_id == conversation_id)


def _below(conversation_id: str, *columns: Any) -> Select[*tuple[Any, ...]]:
    joined = DELEGATIONS.join(CONVERSATIONS)
    return select(*columns).select_from(joined).where(_C.parent_id == conversation_id, *_IS_OWED)
