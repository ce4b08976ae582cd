"""Rows of messages: what a person said and what a model answered, one of each a turn, with what it took (R-2.212)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from sqlalchemy import Connection, Row, bindparam, select, update

from maia.core.jsonvalue import JsonObject
from maia.database.conversations import Status, note_status
from maia.database.ids import new_id, now_ms
from maia.database.problems import ConversationGone
from maia.database.search import TITLE, keep_words
from maia.database.spending import Spent, add_spent, purpose_of_turn, today
from maia.database.tables.conversations import ATTACHMENTS, CONVERSATIONS, MESSAGES

MessageRole: TypeAlias = Literal["user", "assistant"]
_M = MESSAGES.c
_INSERT = MESSAGES.insert()
_NEXT_TURN = (
    update(CONVERSATIONS)
    .where(CONVERSATIONS.c.id == bindparam("wanted"), CONVERSATIONS.c.deleted_at.is_(None))
    .values(last_turn=CONVERSATIONS.c.last_turn + 1)
    .returning(CONVERSATIONS.c.last_turn, CONVERSATIONS.c.last_seq)
)
_SAID = (
    select(_M.id, _M.text, CONVERSATIONS.c.title)
    .join(CONVERSATIONS, CONVERSATIONS.c.id == _M.conversation_id)
    .where(_M.conversation_id == bindparam("wanted"), _M.turn == bindparam("number"), _M.role == "user")
)
_COLUMNS = (_M.id, _M.turn, _M.role, _M.author_id, _M.text, _M.first_seq, _M.created_at, _M.ended_at, _M.turn_meta)


@dataclass(frozen=True, slots=True)
class MessageRow:
    """One message. `turn_meta` is None for what a person said and for an answer that is still being written."""

    id: str
    turn: int
    role: MessageRole
    author_id: str | None
    text: str
    first_seq: int
    created_at: int
    ended_at: int | None
    turn_meta: JsonObject | None


@dataclass(frozen=True, slots=True)
class Ending:
    """What is kept in columns of their own when an answer is over, for sums and searches."""

    text: str
    outcome: str
    provider_id: str
    model_id: str
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    cost_source: str
    turn_meta: JsonObject


def _message(row: Row[*tuple[Any, ...]]) -> MessageRow:
    return MessageRow(*row)


class Opened(NamedTuple):
    """A turn that was placed: its number, and the ids of the answer that begins and of what was said."""

    turn: int
    answer: str
    said: str


def open_turn(
    connection: Connection, conversation_id: str, author_id: str | None, text: str, **changed: object
) -> Opened:
    """A person's message and the answer that begins; the conversation is running from here on.

    `changed` are columns of the conversation that are others from here on. What nobody waits for is left to
    `note_turn`. Raises `ConversationGone` where it was deleted meanwhile.
    """
    now = now_ms()
    return _placed(connection, conversation_id, author_id, text, now, status="running", updated_at=now, **changed)


def note_turn(connection: Connection, conversation_id: str, turn: int, old: Status, author_id: str | None) -> None:
    """What `open_turn` left: that the conversation runs is in its history, and its words are found."""
    note_status(connection, conversation_id, old, "running", author_id)
    index_turn(connection, conversation_id, turn)


def place_turn(connection: Connection, conversation_id: str, author_id: str | None, text: str, at: int) -> Opened:
    """As `open_turn`, for a turn that nobody runs here, at its own time; it can be found."""
    placed = _placed(connection, conversation_id, author_id, text, at)
    keep_words(connection, conversation_id, placed.said, text)
    return placed


def _placed(
    connection: Connection, conversation_id: str, author_id: str | None, text: str, at: int, **changed: object
) -> Opened:
    placed = connection.execute(_NEXT_TURN, {"wanted": conversation_id, **changed}).first()
    if placed is None:
        raise ConversationGone(conversation_id)
    turn, seq = placed
    shared = {"conversation_id": conversation_id, "turn": turn, "first_seq": seq + 1, "created_at": at}
    said, answer = new_id(), new_id()
    connection.execute(
        _INSERT,
        [
            {"id": said, "role": "user", "author_id": author_id, "text": text, **shared},
            {"id": answer, "role": "assistant", "author_id": None, "text": "", **shared},
        ],
    )
    return Opened(turn, answer, said)


def index_turn(connection: Connection, conversation_id: str, turn: int) -> None:
    """The conversation is found by what was said in that turn, and by its title."""
    row = connection.execute(_SAID, {"wanted": conversation_id, "number": turn}).first()
    if row is not None:
        keep_words(connection, conversation_id, row.id, row.text)
        keep_words(connection, conversation_id, TITLE, row.title)


def close_answer(
    connection: Connection,
    conversation_id: str,
    turn: int,
    ending: Ending,
    ended_at: int | None = None,
    *,
    agent: str | None = None,
    at_least: int = 0,
) -> str:
    """The answer of that turn is over, now unless it is told when; its id. `agent` is who answered, if one did.

    `at_least` tokens count as spent where nobody told their sum, as of a program that was stopped.
    """
    row = connection.execute(
        update(MESSAGES)
        .where(_M.conversation_id == conversation_id, _M.turn == turn, _M.role == "assistant")
        .values(
            text=ending.text,
            ended_at=now_ms() if ended_at is None else ended_at,
            outcome=ending.outcome,
            provider_id=ending.provider_id,
            model_id=ending.model_id,
            tokens_in=ending.tokens_in,
            tokens_out=ending.tokens_out,
            cost_usd=ending.cost_usd,
            cost_source=ending.cost_source,
            turn_meta=ending.turn_meta,
        )
        .returning(_M.id)
    ).one()
    keep_words(connection, conversation_id, row.id, ending.text)
    who, tokens = (ending.provider_id, ending.model_id), (ending.tokens_in or at_least or None, ending.tokens_out)
    add_spent(connection, today(), Spent(purpose_of_turn(agent), *who, *tokens, ending.cost_usd))
    return cast(str, row.id)


def messages_of(
    connection: Connection, conversation_id: str, limit: int | None, before_turn: int | None = None
) -> list[MessageRow]:
    """The last messages of a conversation, oldest first; only those of turns before `before_turn`, if it is given."""
    query = select(*_COLUMNS).where(_M.conversation_id == conversation_id)
    if before_turn is not None:
        query = query.where(_M.turn < before_turn)
    query = query.order_by(_M.turn.desc(), _M.role).limit(limit)
    return [_message(row) for row in connection.execute(query)][::-1]


def unfinished(connection: Connection, conversation_id: str) -> Sequence[int]:
    """Turns whose answer nobody is writing any more after the server ended."""
    query = select(_M.turn).where(_M.conversation_id == conversation_id, _M.role == "assistant", _M.outcome.is_(None))
    return [cast(int, turn) for turn in connection.execute(query).scalars()]


def text_of(connection: Connection, message_id: str) -> str:
    """What a message says, or a file that went with one; empty where there is none of that id."""
    said = connection.execute(select(_M.text).where(_M.id == message_id)).scalar()
    if said is None:
        said = connection.execute(select(ATTACHMENTS.c.text).where(ATTACHMENTS.c.id == message_id)).scalar()
    return said or ""
