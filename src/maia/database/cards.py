"""Conversations as cards: the same rows (R-2.001) with their project, labels, owners, cost and place on the board."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, func, select, update

from maia.database.conversations import Status
from maia.database.delegations import subs_of, subtasks_of
from maia.database.ids import now_ms
from maia.database.tables.conversations import (
    CONVERSATION_OWNERS,
    CONVERSATIONS,
    EVENTS,
    LABELS,
    MESSAGES,
    PROJECTS,
    STAGES,
)
from maia.database.tables.people import USERS


@dataclass(frozen=True, slots=True)
class Card:
    """A conversation as the board and Home show it. Costs are sums in US dollars; None where nobody knows any.

    `outcome` is that of its last answer, `has_unknown_cost` tells that an answer is not in the sum, `moved_at` is when
    something last happened in a running one, `subtasks` how many that it delegated are done, of how many.
    """

    id: str
    title: str
    status: Status
    priority: str
    project_id: str | None
    project: str | None
    stage_id: str | None
    is_closed: bool
    agent: str | None
    due_on: str | None
    is_pinned: bool
    context_tokens: int | None
    context_window: int | None
    context_source: str | None
    turns: int
    created_at: int
    updated_at: int
    outcome: str | None = None
    cost_usd: float | None = None
    has_estimate: bool = False
    has_unknown_cost: bool = False
    labels: tuple[str, ...] = ()
    owners: tuple[tuple[str, str], ...] = ()
    moved_at: int | None = None
    subtasks: tuple[int, int] = (0, 0)


_C = CONVERSATIONS.c
_COLUMNS = (
    _C.id,
    _C.title,
    _C.status,
    _C.priority,
    _C.project_id,
    PROJECTS.c.name,
    _C.stage_id,
    func.coalesce(STAGES.c.is_closed, False),
    _C.agent,
    _C.due_on,
    _C.is_pinned,
    _C.context_tokens,
    _C.context_window,
    _C.context_source,
    _C.last_turn,
    _C.created_at,
    _C.updated_at,
)


def cards_query(owner_id: str) -> Select[*tuple[Any, ...]]:
    """The statement that `read_cards` takes: all cards of somebody that were not deleted, in no order."""
    joined = CONVERSATIONS.outerjoin(PROJECTS).outerjoin(STAGES, _C.stage_id == STAGES.c.id)
    return select(*_COLUMNS).select_from(joined).where(_C.owner_id == owner_id, _C.deleted_at.is_(None))


def read_cards(connection: Connection, query: Select[*tuple[Any, ...]]) -> list[Card]:
    """The cards of such a statement, without what `completed` adds."""
    return [Card(*row) for row in connection.execute(query)]


def card_of(connection: Connection, conversation_id: str, owner_id: str) -> Card | None:
    """One card, None for another person's and for none."""
    found = completed(connection, read_cards(connection, cards_query(owner_id).where(_C.id == conversation_id)))
    return found[0] if found else None


def completed(connection: Connection, cards: Sequence[Card]) -> list[Card]:
    """With the sums of their answers, labels and owners: a few queries, however many cards there are."""
    if not cards:
        return []
    ids = [card.id for card in cards]
    moved = _moved(connection, [card.id for card in cards if card.status == "running"])
    sums = {row[0]: row for row in connection.execute(_sums(ids))}
    labels = _grouped(connection.execute(_labels(ids)))
    owners = _grouped(connection.execute(_owners(ids)))
    subtasks = subtasks_of(connection, ids)
    return [
        replace(
            card,
            **_money(sums.get(card.id)),
            labels=tuple(label for (label,) in labels.get(card.id, ())),
            owners=tuple((user, name) for user, name in owners.get(card.id, ())),
            moved_at=moved.get(card.id),
            subtasks=subtasks.get(card.id, (0, 0)),
        )
        for card in cards
    ]


def _moved(connection: Connection, running: Sequence[str]) -> Mapping[str, int]:
    """When the last event of each of these came."""
    if not running:
        return {}
    last = (EVENTS.c.conversation_id == _C.id) & (EVENTS.c.seq == _C.last_seq)
    query = select(_C.id, EVENTS.c.at).select_from(CONVERSATIONS.join(EVENTS, last)).where(_C.id.in_(running))
    return {row[0]: row[1] for row in connection.execute(query)}


def _sums(ids: Sequence[str]) -> Select[*tuple[Any, ...]]:
    answers, outer = MESSAGES.c, MESSAGES.alias("last").c
    last = (
        select(outer.outcome)
        .where(outer.conversation_id == answers.conversation_id, outer.role == "assistant", outer.outcome.is_not(None))
        .order_by(outer.turn.desc())
        .limit(1)
        .scalar_subquery()
    )
    return (
        select(
            answers.conversation_id,
            func.sum(answers.cost_usd),
            func.count().filter(answers.cost_source == "estimated", answers.cost_usd.is_not(None)),
            func.count().filter(answers.cost_usd.is_(None)),
            last,
        )
        .where(answers.conversation_id.in_(ids), answers.role == "assistant", answers.outcome.is_not(None))
        .group_by(answers.conversation_id)
    )


def _money(sums: Row[*tuple[Any, ...]] | None) -> dict[str, Any]:
    if sums is None:
        return {}
    _, usd, estimated, unknown, outcome = sums
    return {"cost_usd": usd, "has_estimate": estimated > 0, "has_unknown_cost": unknown > 0, "outcome": outcome}


def _labels(ids: Sequence[str]) -> Select[*tuple[Any, ...]]:
    return select(LABELS.c.conversation_id, LABELS.c.label).where(LABELS.c.conversation_id.in_(ids)).order_by("label")


def _owners(ids: Sequence[str]) -> Select[*tuple[Any, ...]]:
    owners = CONVERSATION_OWNERS
    query = select(owners.c.conversation_id, USERS.c.id, USERS.c.name).select_from(owners.join(USERS))
    return query.where(owners.c.conversation_id.in_(ids)).order_by(USERS.c.name)


def _grouped(rows: Iterable[Row[*tuple[Any, ...]]]) -> Mapping[str, list[tuple[Any, ...]]]:
    grouped: dict[str, list[tuple[Any, ...]]] = {}
    for conversation, *rest in rows:
        grouped.setdefault(conversation, []).append(tuple(rest))
    return grouped


# Changes -------------------------------------------------------------------------------------------------------------


def set_fields(connection: Connection, conversation_id: str, values: Mapping[str, Any], *, is_news: bool) -> None:
    """Other values of the columns of a conversation; with `is_news` it counts as changed now."""
    more: dict[str, Any] = {"updated_at": now_ms()} if is_news else {}
    if values or more:
        connection.execute(update(CONVERSATIONS).where(_C.id == conversation_id).values(**values, **more))


def set_labels(connection: Connection, conversation_id: str, labels: Iterable[str]) -> None:
    """These labels and no others."""
    connection.execute(delete(LABELS).where(LABELS.c.conversation_id == conversation_id))
    for label in sorted(set(labels)):
        connection.execute(LABELS.insert().values(conversation_id=conversation_id, label=label))


def set_owners(connection: Connection, conversation_id: str, users: Iterable[str]) -> None:
    """These people answer for it, and no others; those that there are not are left out."""
    owners, asked = CONVERSATION_OWNERS, set(users)
    connection.execute(delete(owners).where(owners.c.conversation_id == conversation_id))
    known = connection.execute(select(USERS.c.id).where(USERS.c.id.in_(asked))).scalars().all()
    for user in known:
        connection.execute(owners.insert().values(conversation_id=conversation_id, user_id=user))


def people(connection: Connection) -> Sequence[tuple[str, str]]:
    """Everybody who may answer for a conversation, by name."""
    query = select(USERS.c.id, USERS.c.name).where(USERS.c.archived_at.is_(None)).order_by(USERS.c.name, USERS.c.id)
    return [(row[0], row[1]) for row in connection.execute(query)]


def labels_in_use(connection: Connection, owner_id: str) -> Sequence[str]:
    """All labels of somebody's conversations."""
    joined = LABELS.join(CONVERSATIONS)
    query = select(LABELS.c.label).select_from(joined).where(_C.owner_id == owner_id, _C.deleted_at.is_(None))
    return list(connection.execute(query.distinct().order_by(LABELS.c.label)).scalars())


def set_deleted(connection: Connection, conversation_id: str, owner_id: str, *, deleted: bool) -> bool:
    """Out of sight with its sub-conversations, or back again; whether that changed anything (N-15.08)."""
    is_mine = (_C.id == conversation_id, _C.owner_id == owner_id)
    before = connection.execute(select(_C.deleted_at).where(*is_mine)).first()
    if before is None or (before.deleted_at is None) != deleted:
        return False
    ids = (conversation_id, *subs_of(connection, conversation_id))
    together = _C.deleted_at.is_not_distinct_from(before.deleted_at)  # what was deleted before stays so
    changed = update(CONVERSATIONS).where(_C.id.in_(ids), together)
    connection.execute(changed.values(deleted_at=now_ms() if deleted else None))
    return True
