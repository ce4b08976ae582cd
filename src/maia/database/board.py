"""Cards as a board shows them: counted and read lane by lane, filtered, and put where a person wants them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import ColumnElement, Connection, Select, false, func, select, true, update

from maia.database.cards import Card, cards_query, completed, read_cards
from maia.database.search import holding
from maia.database.tables.conversations import CONVERSATIONS, LABELS, MESSAGES, STAGES

Grouping: TypeAlias = Literal["stage", "priority", "agent"]
State: TypeAlias = Literal["all", "active", "done"]
"""`done` is what was archived, or stands in a closed stage."""
_STEP = 1024
"""Room between two places, so that most moves touch one row only."""
_C = CONVERSATIONS.c
_GROUPS: Mapping[Grouping, ColumnElement[str]] = {
    "stage": func.coalesce(_C.stage_id, ""),
    "priority": _C.priority,
    "agent": func.coalesce(_C.agent, ""),
}
_ON_BOARDS = _C.is_sub.is_(false())
_IN_PLACE = (_C.is_pinned.desc(), _C.rank, _C.updated_at.desc(), _C.id)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which cards are wanted; empty values want all. `words` are in the title, or in a message where `in_messages`."""

    project_id: str = ""
    stage_id: str = ""
    priority: str = ""
    label: str = ""
    state: State = "all"
    words: tuple[str, ...] = ()
    in_messages: bool = False


@dataclass(frozen=True, slots=True)
class Lane:
    """The first cards of a group, and how many it has. `key` is a stage's id, a priority, an agent; empty for none."""

    key: str
    count: int
    cards: Sequence[Card]


def lanes(
    connection: Connection, owner_id: str, wanted: Filter, group: Grouping, sizes: Mapping[str, int], size: int
) -> list[Lane]:
    """All groups that have cards, with the first of them: `size`, or what `sizes` says of that group."""
    conditions = _conditions(connection, wanted)
    by = _GROUPS[group]
    counts = connection.execute(_mine(select(by, func.count()), owner_id, conditions).group_by(by)).all()
    read: list[tuple[str, int, list[Card]]] = []
    for key, count in counts:
        query = cards_query(owner_id).where(*conditions, _is(group, key))
        read.append((key, count, read_cards(connection, query.order_by(*_IN_PLACE).limit(sizes.get(key, size)))))
    whole = {card.id: card for card in completed(connection, [card for *_, cards in read for card in cards])}
    return [Lane(key, count, [whole[card.id] for card in cards]) for key, count, cards in read]


def listed(connection: Connection, owner_id: str, wanted: Filter, limit: int) -> Lane:
    """Cards in one list, pinned first, then the last changed ones."""
    conditions = _conditions(connection, wanted)
    count = connection.execute(_mine(select(func.count()), owner_id, conditions)).scalar() or 0
    query = cards_query(owner_id).where(*conditions)
    order = (_C.is_pinned.desc(), _C.updated_at.desc(), _C.id.desc())
    return Lane("", count, completed(connection, read_cards(connection, query.order_by(*order).limit(limit))))


def _mine(
    query: Select[*tuple[Any, ...]], owner_id: str, conditions: Sequence[ColumnElement[bool]]
) -> Select[*tuple[Any, ...]]:
    joined = CONVERSATIONS.outerjoin(STAGES, _C.stage_id == STAGES.c.id)
    return query.select_from(joined).where(_C.owner_id == owner_id, _C.deleted_at.is_(None), *conditions)


def _is(group: Grouping, key: str) -> ColumnElement[bool]:
    """Membership of a group in the form that an index serves."""
    column = {"stage": _C.stage_id, "priority": _C.priority, "agent": _C.agent}[group]
    return column == key if key else column.is_(None)


def _conditions(connection: Connection, wanted: Filter) -> list[ColumnElement[bool]]:
    named = {_C.project_id: wanted.project_id, _C.stage_id: wanted.stage_id, _C.priority: wanted.priority}
    conditions: list[ColumnElement[bool]] = [column == value for column, value in named.items() if value]
    conditions.append(_ON_BOARDS)
    if wanted.label:
        conditions.append(_C.id.in_(select(LABELS.c.conversation_id).where(LABELS.c.label == wanted.label)))
    if wanted.state != "all":
        is_done = (_C.status == "archived") | func.coalesce(STAGES.c.is_closed, False).is_(true())
        conditions.append(is_done if wanted.state == "done" else ~is_done)
    if wanted.words:
        conditions.append(holding(connection, wanted.words, titles_only=not wanted.in_messages))
    return conditions


# Home ----------------------------------------------------------------------------------------------------------------


def pressing(connection: Connection, owner_id: str, today: str, limit: int) -> tuple[list[Card], int]:
    """Open cards that wait for a person, failed, or are due by `today`; the first due, then the last changed.

    Gives at most `limit` of them, and how many there are.
    """
    waits = _C.status.in_(("waiting", "waiting_plan"))
    is_due = (_C.due_on <= today) & func.coalesce(STAGES.c.is_closed, False).is_not(true())
    last = (
        select(MESSAGES.c.outcome)
        .where(MESSAGES.c.conversation_id == _C.id, MESSAGES.c.turn == _C.last_turn, MESSAGES.c.role == "assistant")
        .scalar_subquery()
    )
    failed = (_C.status == "idle") & (last == "failed")
    query = cards_query(owner_id).where(_ON_BOARDS, _C.status != "archived", waits | is_due | failed)
    return _first(connection, query, _PRESSING, limit)


_PRESSING = (func.coalesce(_C.due_on, "9999"), _C.updated_at.desc(), _C.id)


def latest(connection: Connection, owner_id: str, limit: int, status: str | None = None) -> tuple[list[Card], int]:
    """The cards that changed last, of one status or all but archived ones: at most `limit`, and how many there are."""
    wanted = _C.status == status if status else _C.status != "archived"
    query = cards_query(owner_id).where(_ON_BOARDS, wanted)
    return _first(connection, query, (_C.updated_at.desc(), _C.id.desc()), limit)


def _first(
    connection: Connection, query: Select[*tuple[Any, ...]], order: Sequence[ColumnElement[Any]], limit: int
) -> tuple[list[Card], int]:
    cards = completed(connection, read_cards(connection, query.order_by(*order).limit(limit)))
    if len(cards) < limit:
        return cards, len(cards)
    return cards, connection.execute(query.with_only_columns(func.count())).scalar_one()


@dataclass(frozen=True, slots=True)
class Spent:
    """What answers cost since a moment, in US dollars, apart by who says so; `unknown` answers reported nothing."""

    reported: float
    estimated: float
    unknown: int


def spent(connection: Connection, owner_id: str, since: int) -> Spent:
    """All answers of somebody's conversations since `since`, deleted ones too: they were paid for."""
    m = MESSAGES.c
    is_estimate = m.cost_source == "estimated"
    query = (
        select(
            func.sum(m.cost_usd).filter(~is_estimate),
            func.sum(m.cost_usd).filter(is_estimate),
            func.count().filter(m.cost_usd.is_(None)),
        )
        .select_from(MESSAGES.join(CONVERSATIONS, m.conversation_id == _C.id))
        .where(_C.owner_id == owner_id, m.role == "assistant", m.outcome.is_not(None), m.created_at >= since)
    )
    reported, estimated, unknown = connection.execute(query).one()
    return Spent(reported or 0.0, estimated or 0.0, unknown)


# Places --------------------------------------------------------------------------------------------------------------


def put(connection: Connection, owner_id: str, card_id: str, beside: str | None, *, is_after: bool) -> None:
    """Put a card of a stage in front of, or behind, the card `beside` of the same stage.

    Without it, or where it stands in that stage no more, the card becomes the last one, or the first where `is_after`.
    """
    stage = connection.execute(select(_C.stage_id).where(_C.id == card_id, _C.owner_id == owner_id)).first()
    if stage is None:
        return
    for _ in range(2):
        column = _column(connection, owner_id, stage[0], card_id)
        at = next((n for n, (card, _) in enumerate(column) if card == beside), None)
        at = (0 if is_after else len(column)) if at is None else at + is_after
        rank = _between(column[at - 1][1] if at else None, column[at][1] if at < len(column) else None)
        if rank is not None:
            connection.execute(update(CONVERSATIONS).where(_C.id == card_id).values(rank=rank))
            return
        _spread(connection, owner_id, stage[0])


def _column(connection: Connection, owner_id: str, stage_id: str | None, without: str) -> list[tuple[str, int]]:
    in_stage = _in_stage(owner_id, stage_id)
    query = select(_C.id, _C.rank).where(*in_stage, _C.id != without).order_by(_C.rank, _C.updated_at.desc(), _C.id)
    return [(row[0], row[1]) for row in connection.execute(query)]


def _in_stage(owner_id: str, stage_id: str | None) -> tuple[ColumnElement[bool], ...]:
    return _C.owner_id == owner_id, _C.deleted_at.is_(None), _C.stage_id.is_not_distinct_from(stage_id)


def _between(above: int | None, below: int | None) -> int | None:
    """A place between two; None where there is no room."""
    if above is None:
        return 0 if below is None else below - _STEP
    if below is None:
        return above + _STEP
    return (above + below) // 2 if below - above > 1 else None


def _spread(connection: Connection, owner_id: str, stage_id: str | None) -> None:
    """Room between all cards of a stage, in one statement."""
    n = func.row_number().over(order_by=(_C.rank, _C.updated_at.desc(), _C.id))
    order = select(_C.id.label("card"), (n * _STEP).label("place")).where(*_in_stage(owner_id, stage_id)).subquery()
    connection.execute(update(CONVERSATIONS).where(_C.id == order.c.card).values(rank=order.c.place))
