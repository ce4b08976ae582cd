"""Rows of events: the append-only log of a conversation, numbered by the database (R-2.454)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Select, bindparam, delete, func, select, update

from maia.core.codec import UnreadableEvent, dump_event, load_event
from maia.core.events import Event, ReasoningDelta, TextDelta, ToolCallDrafted, ToolOutput, is_question
from maia.database.problems import ConversationGone
from maia.database.tables.conversations import CONVERSATIONS, EVENTS

PROGRESS = (TextDelta, ReasoningDelta, ToolCallDrafted, ToolOutput)
"""Pieces of what a later event of the turn holds whole."""
_E = EVENTS.c
_ADVANCE = (
    update(CONVERSATIONS)
    .where(CONVERSATIONS.c.id == bindparam("wanted"))
    .values(last_seq=CONVERSATIONS.c.last_seq + bindparam("n"))
    .returning(CONVERSATIONS.c.last_seq)
)
_INSERT = EVENTS.insert()


@dataclass(frozen=True, slots=True)
class Stamped:
    """An event with its time in milliseconds since 1970, UTC, not yet numbered."""

    at: int
    event: Event


@dataclass(frozen=True, slots=True)
class Logged:
    """An event as it stands in the log. `turn` is 0 for what happened before the first one."""

    seq: int
    at: int
    turn: int
    event: Event


def append_events(
    connection: Connection, conversation_id: str, turn: int, events: Sequence[Stamped]
) -> tuple[Logged, ...]:
    """Write events at the end of the log; they come back with their numbers. Raises `ConversationGone`."""
    last = connection.execute(_ADVANCE, {"wanted": conversation_id, "n": len(events)}).scalar()
    if last is None:
        raise ConversationGone(conversation_id)
    first = last - len(events) + 1
    logged = tuple(Logged(first + n, each.at, turn, each.event) for n, each in enumerate(events))
    connection.execute(_INSERT, [_values(conversation_id, each) for each in logged])
    return logged


def _values(conversation_id: str, logged: Logged) -> dict[str, object]:
    event = logged.event
    return {
        "conversation_id": conversation_id,
        "seq": logged.seq,
        "turn": logged.turn,
        "at": logged.at,
        "kind": type(event).__name__,
        "is_progress": isinstance(event, PROGRESS),
        "event": dump_event(event),
    }


def forget_progress(connection: Connection, conversation_id: str, turn: int) -> None:
    """Drop the pieces of a turn that is over: its later events hold all of what they said."""
    connection.execute(
        delete(EVENTS).where(_E.conversation_id == conversation_id, _E.turn == turn, _E.is_progress.is_(True))
    )


def events_after(connection: Connection, conversation_id: str, seq: int, limit: int | None) -> tuple[Logged, ...]:
    """What came after that number, oldest first; at most `limit` rows, where there is a limit."""
    query = _query(conversation_id).where(_E.seq > seq).order_by(_E.seq).limit(limit)
    return tuple(_read(connection, query))


def events_of_turns(connection: Connection, conversation_id: str, first: int, last: int) -> tuple[Logged, ...]:
    """All events of these turns, both included, oldest first."""
    query = _query(conversation_id).where(_E.turn >= first, _E.turn <= last).order_by(_E.seq)
    return tuple(_read(connection, query))


def asks(logged: Iterable[Logged]) -> bool:
    """Whether a question was put to the person in these events, which waits for their next message."""
    return any(is_question(each.event) for each in logged)


def turn_at(connection: Connection, conversation_id: str, seq: int) -> int:
    """The turn to which the log had come with that number."""
    query = select(func.max(_E.turn)).where(_E.conversation_id == conversation_id, _E.seq <= seq)
    return connection.execute(query).scalar() or 0


def turns_after(connection: Connection, conversation_id: str, seq: int, turn: int) -> Sequence[int]:
    """The turns before that one of which something came into the log after that number."""
    query = select(_E.turn).where(_E.conversation_id == conversation_id, _E.seq > seq, _E.turn > 0, _E.turn < turn)
    return sorted(connection.execute(query.distinct()).scalars())


def _query(conversation_id: str) -> Select[int, int, int, str]:
    return select(_E.seq, _E.at, _E.turn, _E.event).where(_E.conversation_id == conversation_id)


def _read(connection: Connection, query: Select[int, int, int, str]) -> Iterator[Logged]:
    """Rows that a newer version wrote and this one does not know are left out."""
    for seq, at, turn, line in connection.execute(query):
        try:
            event = load_event(json.loads(line))
        except (ValueError, UnreadableEvent):
            continue
        if event is not None:
            yield Logged(seq, at, turn, event)
