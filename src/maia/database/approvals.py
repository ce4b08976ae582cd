"""Rows of calls that wait for a person: placed, decided once, used once (R-2.238–R-2.242)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, Row, Select, and_, func, select, true, update

from maia.core.jsonvalue import JsonObject
from maia.database.conversations import Status
from maia.database.ids import new_id, now_ms
from maia.database.tables.conversations import APPROVALS, CONVERSATIONS, FOLDERS
from maia.database.tables.people import USERS

ApprovalStatus: TypeAlias = Literal["open", "approved", "refused", "used", "auto", "dropped"]
"""`approved` until the call was made, then `used`; `auto` for one that nobody was asked about, which is reported here;
`dropped` when its turn was stopped before anybody was asked."""
Verdict: TypeAlias = Literal["approved", "refused"]
_A = APPROVALS.c
_ASKER, _DECIDER = USERS.alias("asker"), USERS.alias("decider")


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that a person must decide on. `reason` is the rule's, as key and values.

    `is_background`: its turn waits for the decision, and goes on by it.
    """

    conversation_id: str
    turn: int
    call_id: str
    tool: str
    arguments: JsonObject
    digest: str
    preview: str
    reason: JsonObject
    category: str = ""
    is_background: bool = False


@dataclass(frozen=True, slots=True)
class ApprovalRow:
    """One request with who asked and who decided. `owner_id` is whose conversation it is.

    `problem` says why a run that waited for it could not go on. `folder` is the first one of the conversation, None
    where it has none.
    """

    id: str
    conversation_id: str
    turn: int
    call_id: str
    tool: str
    arguments: JsonObject
    preview: str
    reason: JsonObject
    category: str
    is_background: bool
    problem: str
    status: ApprovalStatus
    created_at: int
    decided_at: int | None
    used_at: int | None
    owner_id: str
    title: str
    model_id: str | None
    provider_id: str | None
    asker: str
    decider: str | None
    folder: str | None


_COLUMNS = (
    _A.id,
    _A.conversation_id,
    _A.turn,
    _A.call_id,
    _A.tool,
    _A.arguments,
    _A.preview,
    _A.reason,
    _A.category,
    _A.is_background,
    _A.problem,
    _A.status,
    _A.created_at,
    _A.decided_at,
    _A.used_at,
    CONVERSATIONS.c.owner_id,
    CONVERSATIONS.c.title,
    CONVERSATIONS.c.model_id,
    CONVERSATIONS.c.provider_id,
    _ASKER.c.name.label("asker"),
    _DECIDER.c.name.label("decider"),
    FOLDERS.c.path.label("folder"),
)


def place(connection: Connection, asked: Asked) -> str:
    """Put a call into the queue; the same call that waits already is asked for once. The id of its row."""
    again = connection.execute(
        update(APPROVALS)
        .where(_A.conversation_id == asked.conversation_id, _A.digest == asked.digest, _A.status == "open")
        .values(turn=asked.turn, call_id=asked.call_id, is_background=asked.is_background)
        .returning(_A.id)
    ).first()
    if again is not None:
        return str(again.id)
    made = new_id()
    values = {name: getattr(asked, name) for name in Asked.__slots__}
    connection.execute(APPROVALS.insert().values(id=made, created_at=now_ms(), **values))
    return made


def report(connection: Connection, asked: Asked) -> str:
    """Keep a call that was made without asking anybody, so that it can be read later (N-07.02); the id of its row."""
    made, now = new_id(), now_ms()
    values = {name: getattr(asked, name) for name in Asked.__slots__}
    moments = {"created_at": now, "decided_at": now, "used_at": now}
    connection.execute(APPROVALS.insert().values(id=made, status="auto", **moments, **values))
    return made


def claim(connection: Connection, conversation_id: str, digest: str) -> str | None:
    """Use one approval of exactly this call, the oldest; None when there is none that is not used yet (R-2.242)."""
    oldest = (
        select(_A.id)
        .where(_A.conversation_id == conversation_id, _A.digest == digest, _A.status == "approved")
        .order_by(_A.created_at)
        .limit(1)
        .scalar_subquery()
    )
    used = connection.execute(
        update(APPROVALS)
        .where(_A.id == oldest, _A.status == "approved")
        .values(status="used", used_at=now_ms())
        .returning(_A.id)
    ).first()
    return None if used is None else str(used.id)


def give_back(connection: Connection, approval_id: str) -> None:
    """The call for which it was used was never made."""
    connection.execute(
        update(APPROVALS).where(_A.id == approval_id, _A.status == "used").values(status="approved", used_at=None)
    )


def drop(connection: Connection, approval_id: str) -> None:
    """Nobody needs to decide any more."""
    connection.execute(update(APPROVALS).where(_A.id == approval_id, _A.status == "open").values(status="dropped"))


def decide(connection: Connection, approval_id: str, verdict: Verdict, by: str) -> bool:
    """Decide on a call; False when that was done before, by whomever (R-2.241)."""
    done = connection.execute(
        update(APPROVALS)
        .where(_A.id == approval_id, _A.status == "open")
        .values(status=verdict, decided_at=now_ms(), decided_by=by)
    )
    return done.rowcount == 1


def approval(connection: Connection, approval_id: str) -> ApprovalRow | None:
    """One request, whoever asked."""
    found = connection.execute(_query().where(_A.id == approval_id)).first()
    return None if found is None else _approval(found)


def list_approvals(connection: Connection, owner_id: str | None, *, decided: bool, limit: int) -> Sequence[ApprovalRow]:
    """Requests that wait, the oldest first, or those that were decided, the last one first; of one person or of all."""
    query = _query().where(_A.status.in_(("approved", "refused", "used", "auto")) if decided else _A.status == "open")
    if owner_id is not None:
        query = query.where(CONVERSATIONS.c.owner_id == owner_id)
    query = query.order_by(*((_A.decided_at.desc(), _A.id.desc()) if decided else (_A.created_at, _A.id)))
    return [_approval(row) for row in connection.execute(query.limit(limit))]


def of_turn(connection: Connection, conversation_id: str, turn: int) -> Sequence[ApprovalRow]:
    """The requests of one turn that waits, the oldest first."""
    mine = _query().where(_A.conversation_id == conversation_id, _A.turn == turn, _A.is_background)
    return [_approval(row) for row in connection.execute(mine.order_by(_A.created_at, _A.id))]


def waiting_runs(connection: Connection) -> Sequence[tuple[str, int]]:
    """(conversation, turn) of each background run whose last turn has an approval that was not used."""
    joined = APPROVALS.join(CONVERSATIONS, _A.conversation_id == CONVERSATIONS.c.id)
    mine = (_A.is_background, _A.status == "approved", _A.problem == "", _A.turn == CONVERSATIONS.c.last_turn)
    query = select(_A.conversation_id, _A.turn).select_from(joined).where(*mine, CONVERSATIONS.c.deleted_at.is_(None))
    return [(row.conversation_id, row.turn) for row in connection.execute(query.distinct())]


def note_problem(connection: Connection, conversation_id: str, turn: int, problem: str) -> None:
    """The run that waited for these could not go on."""
    mine = (_A.conversation_id == conversation_id, _A.turn == turn, _A.is_background, _A.status == "approved")
    connection.execute(update(APPROVALS).where(*mine).values(problem=problem))


def count_open(connection: Connection, owner_id: str | None) -> int:
    """How many wait for a decision."""
    query = (
        select(func.count())
        .select_from(APPROVALS.join(CONVERSATIONS, _A.conversation_id == CONVERSATIONS.c.id))
        .where(_A.status == "open", CONVERSATIONS.c.deleted_at.is_(None))
    )
    if owner_id is not None:
        query = query.where(CONVERSATIONS.c.owner_id == owner_id)
    return connection.execute(query).scalar() or 0


def status_after(connection: Connection, conversation_id: str, turn: int) -> Status:
    """What a conversation is when that turn is over: waiting while a call of it does, or anything below (R-2.015)."""
    mine = select(_A.id).where(_A.conversation_id == conversation_id, _A.turn == turn, _A.status == "open")
    below = CONVERSATIONS.c
    inside = (below.parent_id == conversation_id, below.is_sub.is_(true()), below.deleted_at.is_(None))
    waiting = below.status.in_(("waiting", "waiting_approval"))
    theirs = set(connection.execute(select(below.status).where(*inside, waiting).distinct()).scalars())
    if "waiting_approval" in theirs or connection.execute(mine.limit(1)).first() is not None:
        return "waiting_approval"
    return "waiting" if theirs else "idle"


def settle_status(connection: Connection, conversation_id: str) -> None:
    """A conversation in which no call waits any more is idle, or waits for an answer below it."""
    found = connection.execute(
        select(CONVERSATIONS.c.last_turn).where(
            CONVERSATIONS.c.id == conversation_id, CONVERSATIONS.c.status == "waiting_approval"
        )
    ).first()
    if found is not None:
        now = status_after(connection, conversation_id, found.last_turn)
        connection.execute(update(CONVERSATIONS).where(CONVERSATIONS.c.id == conversation_id).values(status=now))


def _query() -> Select[*tuple[Any, ...]]:
    """Requests of conversations that were not deleted."""
    of = FOLDERS.c
    first = and_(of.scope == "conversation", of.scope_id == _A.conversation_id, of.position == 0)
    joined = (
        APPROVALS.join(CONVERSATIONS, _A.conversation_id == CONVERSATIONS.c.id)
        .join(_ASKER, CONVERSATIONS.c.owner_id == _ASKER.c.id)
        .outerjoin(_DECIDER, _A.decided_by == _DECIDER.c.id)
        .outerjoin(FOLDERS, first)
    )
    return select(*_COLUMNS).select_from(joined).where(CONVERSATIONS.c.deleted_at.is_(None))


def _approval(row: Row[*tuple[Any, ...]]) -> ApprovalRow:
    return ApprovalRow(*row)
