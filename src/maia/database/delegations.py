"""Rows of conversations that another one delegated: made under it, found by it, told to it when they are over."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

from sqlalchemy import Connection, Select, func, select, true, update

from maia.core.delegation import status_of
from maia.core.results import ToolStatus
from maia.database import late
from maia.database.approvals import status_after
from maia.database.conversations import Pin, Status, add_conversation, set_status
from maia.database.events import asks, events_of_turns
from maia.database.history import add_change
from maia.database.ids import now_ms
from maia.database.tables.conversations import CONVERSATIONS, DELEGATIONS, MESSAGES

DelegationKind: TypeAlias = Literal["specialist", "card", "sub"]
"""A specialist that is waited for, a card of the board, a thread beside the conversation."""
DEEPEST: Final = 5
"""Conversations above one another, the first one not counted (N-02.02)."""
_MOST: Final = 10_000
_C, _D, _M = CONVERSATIONS.c, DELEGATIONS.c, MESSAGES.c


@dataclass(frozen=True, slots=True)
class Delegated:
    """What is to be made: by which turn and call, for whom, and the model that this turn really ran on (N-06.04)."""

    kind: DelegationKind
    parent_id: str
    turn: int
    call_id: str
    provider_id: str
    model_id: str
    title: str
    lang: str
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Above:
    """A conversation that delegated, directly or over others; `provider_id` and `model_id` are what it ran on."""

    conversation_id: str
    title: str
    agent: str | None
    effort: str | None
    is_deleted: bool


@dataclass(frozen=True, slots=True)
class Child:
    """A delegated conversation as its parent sees it. Costs are sums in US dollars; None where nobody knows any."""

    id: str
    title: str
    agent: str | None
    status: Status
    kind: DelegationKind
    turn: int
    call_id: str
    outcome: str | None
    cost_usd: float | None
    has_estimate: bool
    created_at: int


def add_delegated(connection: Connection, owner_id: str, made: Delegated, project_id: str | None) -> str:
    """The new conversation, which follows its colleague's model or else the delegating one; its id."""
    title = made.title.replace("\x00", "\ufffd")
    new = add_conversation(connection, owner_id, title, made.lang, Pin("inherit"))
    values: dict[str, Any] = {"parent_id": made.parent_id, "is_sub": made.kind != "card", "agent": made.agent}
    values |= {"project_id": project_id, "title_by": "model"}
    connection.execute(update(CONVERSATIONS).where(_C.id == new).values(**values))
    row = {"conversation_id": new, "kind": made.kind, "turn": made.turn, "call_id": made.call_id}
    model = {"provider_id": made.provider_id, "model_id": made.model_id}
    connection.execute(DELEGATIONS.insert().values(**row, **model, created_at=now_ms()))
    return new


def renew(
    connection: Connection, conversation_id: str, turn: int, call_id: str, provider_id: str, model_id: str
) -> None:
    """It is gone on with by a call of a turn that ran on this model, which gets its result."""
    values: dict[str, Any] = {"turn": turn, "call_id": call_id, "provider_id": provider_id, "model_id": model_id}
    connection.execute(update(DELEGATIONS).where(_D.conversation_id == conversation_id).values(**values))
    late.forget(connection, [conversation_id])


def delegating_model(connection: Connection, conversation_id: str) -> tuple[str, str] | None:
    """What the turn that delegated this conversation ran on; None for one that nobody delegated."""
    found = connection.execute(select(_D.provider_id, _D.model_id).where(_D.conversation_id == conversation_id)).first()
    return None if found is None else (found.provider_id, found.model_id)


def kind_of(connection: Connection, conversation_id: str) -> DelegationKind | None:
    """As what it was delegated; None for one that nobody delegated."""
    return connection.execute(select(_D.kind).where(_D.conversation_id == conversation_id)).scalar()


def above(connection: Connection, conversation_id: str) -> list[Above]:
    """The conversations above one, the nearest first, at most `DEEPEST` of them."""
    found: list[Above] = []
    at = conversation_id
    while len(found) < DEEPEST:
        mine = select(_C.parent_id).where(_C.id == at).scalar_subquery()
        columns = (_C.id, _C.title, _C.agent, _C.effort, _C.deleted_at.is_not(None))
        row = connection.execute(select(*columns).where(_C.id == mine)).first()
        if row is None or row.id in {each.conversation_id for each in found} | {conversation_id}:
            return found
        found.append(Above(*row))
        at = row.id
    return found


def top_of(connection: Connection, conversation_id: str) -> str:
    """The conversation above all that delegated this one; itself where nobody did."""
    found = above(connection, conversation_id)
    return found[-1].conversation_id if found else conversation_id


def children_of(connection: Connection, conversation_id: str) -> Sequence[Child]:
    """What a conversation delegated, the first one first."""
    answers, last = _answers(), _last_outcome()
    query = (
        select(
            _C.id,
            _C.title,
            _C.agent,
            _C.status,
            _D.kind,
            _D.turn,
            _D.call_id,
            last,
            answers.c.usd,
            func.coalesce(answers.c.estimated, 0) > 0,
            _D.created_at,
        )
        .select_from(DELEGATIONS.join(CONVERSATIONS).outerjoin(answers, answers.c.conversation_id == _C.id))
        .where(_C.parent_id == conversation_id, _C.deleted_at.is_(None))
        .order_by(_D.created_at, _C.id)
    )
    return [Child(*row) for row in connection.execute(query)]


def _answers() -> Any:
    is_estimate = (_M.cost_source == "estimated") & _M.cost_usd.is_not(None)
    return (
        select(
            _M.conversation_id, func.sum(_M.cost_usd).label("usd"), func.count().filter(is_estimate).label("estimated")
        )
        .where(_M.role == "assistant", _M.outcome.is_not(None))
        .group_by(_M.conversation_id)
        .subquery()
    )


def _last_outcome() -> Any:
    """The outcome of the last answer of a conversation; NULL while it is written."""
    last = (_M.conversation_id == _C.id) & (_M.turn == _C.last_turn) & (_M.role == "assistant")
    return select(_M.outcome).where(last).scalar_subquery()


def subs_of(connection: Connection, conversation_id: str) -> Sequence[str]:
    """The sub-conversations below one, on all levels."""
    found: list[str] = []
    level = [conversation_id]
    while level and len(found) < _MOST:
        query = select(_C.id).where(_C.parent_id.in_(level), _C.is_sub.is_(true()), _C.id.not_in([*found, *level]))
        level = [cast(str, each) for each in connection.execute(query).scalars()]
        found += level
    return found


def is_busy_below(connection: Connection, conversation_id: str) -> bool:
    """Whether an answer is being written in a sub-conversation of it."""
    busy = select(_C.id).where(_C.id.in_(subs_of(connection, conversation_id)), _C.status == "running")
    return connection.execute(busy.limit(1)).first() is not None


def subtasks_of(connection: Connection, ids: Collection[str]) -> Mapping[str, tuple[int, int]]:
    """(done, all) of what each of these delegated (N-15.04)."""
    is_done = _last_outcome() == "finished"
    query: Select[*tuple[Any, ...]] = (
        select(_C.parent_id, func.count().filter(is_done), func.count())
        .where(_C.parent_id.in_(ids), _C.deleted_at.is_(None))
        .group_by(_C.parent_id)
    )
    return {row[0]: (row[1], row[2]) for row in connection.execute(query)}


@dataclass(frozen=True, slots=True)
class Handed:
    """A call of a conversation above, in that turn, which is over while its result is owed; how that stands."""

    conversation_id: str
    turn: int
    call_id: str
    status: Literal["running"] | ToolStatus


def handed(connection: Connection, conversation_id: str) -> Handed | None:
    """The call for which this conversation works; None where nobody is owed a result of it."""
    late_answer = (_M.conversation_id == _C.id) & (_M.turn == _D.late_turn) & (_M.role == "assistant")
    query = (
        select(_C.parent_id, _D.turn, _D.call_id, _C.status, _C.deleted_at, _D.late_turn, _M.outcome)
        .select_from(DELEGATIONS.join(CONVERSATIONS).outerjoin(MESSAGES, late_answer))
        .where(_C.id == conversation_id, _D.awaited_by != "")
    )
    row = connection.execute(query).first()
    if row is None or row.parent_id is None:
        return None
    if row.deleted_at is not None:
        status = "unknown"
    elif row.status == "running":
        status = "running"
    else:
        status = status_of(row.outcome or "stopped") if row.late_turn else "pending"
    return Handed(row.parent_id, row.turn, row.call_id, status)


# Over ----------------------------------------------------------------------------------------------------------------


def tell_above(connection: Connection, conversation_id: str, outcome: str = "") -> list[tuple[str, int]]:
    """A conversation is in another state: those above wait with it, or wait no more. Who shows it: (id, last turn).

    With the `outcome` of a card's run that waits for nobody, its parent's history hears of that once.
    """
    shows: list[tuple[str, int]] = []
    at = conversation_id
    for _ in range(DEEPEST):
        row = connection.execute(select(_C.parent_id, _C.is_sub, _C.title).where(_C.id == at)).first()
        if row is None or row.parent_id is None:
            break
        parent = cast(str, row.parent_id)
        if outcome not in ("", "waiting_approval") and at == conversation_id and not row.is_sub:
            _tell_history(connection, parent, at, row.title, outcome)
        turn = connection.execute(select(_C.last_turn).where(_C.id == parent)).scalar() or 0
        shows.append((parent, turn))
        if not row.is_sub or not _settled(connection, parent):
            break
        at = parent
    return shows


def _tell_history(connection: Connection, parent: str, card: str, title: str, outcome: str) -> None:
    first = update(DELEGATIONS).where(_D.conversation_id == card, _D.told_at.is_(None)).values(told_at=now_ms())
    if connection.execute(first).rowcount:
        add_change(connection, parent, "task", title, outcome, None)


def _settled(connection: Connection, conversation_id: str) -> bool:
    """Whether a conversation in which nothing runs has another status now."""
    row = connection.execute(select(_C.status, _C.last_turn).where(_C.id == conversation_id)).first()
    if row is None or row.status not in ("idle", "waiting", "waiting_approval"):
        return False
    if row.status == "waiting" and asks(events_of_turns(connection, conversation_id, row.last_turn, row.last_turn)):
        return False
    now = status_after(connection, conversation_id, row.last_turn)
    if now != row.status:
        set_status(connection, conversation_id, now)
    return now != row.status
