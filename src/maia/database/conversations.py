"""Rows of conversations: made, found by their owner, listed, changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias, cast

from sqlalchemy import BindParameter, Connection, Row, ScalarSelect, Select, bindparam, false, select, update

from maia.database.history import add_change
from maia.database.ids import new_id, now_ms
from maia.database.search import TITLE, keep_words
from maia.database.tables.conversations import CONVERSATIONS, MESSAGES, STAGES

Status: TypeAlias = Literal["idle", "running", "waiting", "waiting_approval", "waiting_plan", "archived"]
"""The six statuses (R-2.018)."""
TitleBy: TypeAlias = Literal["message", "model", "person"]


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """One conversation. Times are milliseconds since 1970, UTC.

    `parent_id` delegated it; with `is_sub` it stands with that one alone, on no board and in no list. `prompt` is what
    people wrote for its model; None where it was not read, as in lists.
    """

    id: str
    owner_id: str
    title: str
    title_by: TitleBy
    status: Status
    priority: str
    provider_id: str | None
    model_id: str | None
    model_binding: str
    model_by_person: bool
    effort: str | None
    agent: str | None
    project_id: str | None
    stage_id: str | None
    due_on: str | None
    is_pinned: bool
    lang: str
    last_seq: int
    last_turn: int
    created_at: int
    updated_at: int
    home_of: str | None = None
    parent_id: str | None = None
    is_sub: bool = False
    prompt: str | None = None


_C = CONVERSATIONS.c
_COLUMNS = (
    _C.id,
    _C.owner_id,
    _C.title,
    _C.title_by,
    _C.status,
    _C.priority,
    _C.provider_id,
    _C.model_id,
    _C.model_binding,
    _C.model_by_person,
    _C.effort,
    _C.agent,
    _C.project_id,
    _C.stage_id,
    _C.due_on,
    _C.is_pinned,
    _C.lang,
    _C.last_seq,
    _C.last_turn,
    _C.created_at,
    _C.updated_at,
    _C.home_of,
    _C.parent_id,
    _C.is_sub,
)


_OWNED = select(*_COLUMNS, _C.prompt).where(
    _C.id == bindparam("wanted"), _C.owner_id == bindparam("owner"), _C.deleted_at.is_(None)
)
_PROMPT = select(_C.prompt).where(_C.id == bindparam("wanted"))
_STATUS = select(_C.status).where(_C.id == bindparam("wanted"))
_OUTCOME = (
    select(MESSAGES.c.outcome)
    .where(
        MESSAGES.c.conversation_id == bindparam("wanted"),
        MESSAGES.c.role == "assistant",
        MESSAGES.c.outcome.is_not(None),
    )
    .order_by(MESSAGES.c.turn.desc())
    .limit(1)
)
"""That of the last answer that ended."""
_CHANGE = update(CONVERSATIONS).where(_C.id == bindparam("wanted"))
"""Sets the columns that are given beside `wanted`."""


def _conversation(row: Row[*tuple[Any, ...]]) -> ConversationRow:
    return ConversationRow(*row)


@dataclass(frozen=True, slots=True)
class Pin:
    """What a conversation keeps of who answers it. `by_person`: a person chose the pair, so nothing may replace it."""

    binding: str = "pinned"
    provider_id: str | None = None
    model_id: str | None = None
    by_person: bool = False

    def columns(self) -> dict[str, Any]:
        return {
            "model_binding": self.binding,
            "provider_id": self.provider_id,
            "model_id": self.model_id,
            "model_by_person": self.by_person,
        }


def add_conversation(
    connection: Connection, owner_id: str, title: str, lang: str, pin: Pin | None = None, effort: str | None = None
) -> str:
    """A new conversation of that person, in the first stage of the board; its id."""
    made, now = new_id(), now_ms()
    by: TitleBy = "person" if title else "message"
    row = {"id": made, "owner_id": owner_id, "title": title, "title_by": by, "lang": lang, "effort": effort}
    kept = (pin or Pin()).columns()
    placed = {"stage_id": _first_stage(), "created_at": now, "updated_at": now}
    connection.execute(CONVERSATIONS.insert().values(**row, **kept, **placed))
    if title:
        keep_words(connection, made, TITLE, title)
    return made


def set_pin(connection: Connection, conversation_id: str, pin: Pin) -> None:
    """Another binding."""
    connection.execute(update(CONVERSATIONS).where(_C.id == conversation_id).values(**pin.columns()))


def set_window(connection: Connection, conversation_id: str, window: int | None) -> None:
    """The window of who answers from now on; how much of it is full stays what the last turn found (R-2.102)."""
    connection.execute(update(CONVERSATIONS).where(_C.id == conversation_id).values(context_window=window))


def set_effort(connection: Connection, conversation_id: str, effort: str | None) -> None:
    """Another level; None is what it inherits."""
    connection.execute(update(CONVERSATIONS).where(_C.id == conversation_id).values(effort=effort))


def _first_stage() -> ScalarSelect[str]:
    stages = STAGES.c
    query = select(stages.id).where(stages.is_closed.is_(False)).order_by(stages.position, stages.id)
    return query.limit(1).scalar_subquery()


def conversation_of(connection: Connection, conversation_id: str, owner_id: str) -> ConversationRow | None:
    """That conversation if it is that person's, else None, whether it is somebody else's or nobody's (N-20.04)."""
    found = connection.execute(_OWNED, {"wanted": conversation_id, "owner": owner_id}).first()
    return None if found is None else _conversation(found)


def conversation(connection: Connection, conversation_id: str) -> ConversationRow | None:
    """That conversation, whoever's it is; for the server's own work only."""
    found = connection.execute(select(*_COLUMNS).where(_C.id == conversation_id)).first()
    return None if found is None else _conversation(found)


def list_conversations(
    connection: Connection, owner_id: str, limit: int, before: tuple[int, str] | None = None, *, archived: bool = False
) -> Sequence[ConversationRow]:
    """Somebody's conversations but sub-conversations, the last changed first.

    `before` is (updated_at, id) of the last one seen.
    """
    at, last = before or (0, "")
    given = {"owner": owner_id, "at": at, "last": last, "most": limit}
    return [_conversation(row) for row in connection.execute(_listing(archived, before is not None), given).all()]


@cache
def _listing(archived: bool, goes_on: bool) -> Select[*tuple[Any, ...]]:
    """The statement of a list, made once: putting it together takes as long as running it."""
    wanted = _C.status == "archived" if archived else _C.status != "archived"
    mine = (_C.owner_id == bindparam("owner"), _C.deleted_at.is_(None), _C.is_sub.is_(false()))
    query = select(*_COLUMNS).where(*mine, wanted)
    if goes_on:
        at: BindParameter[int] = bindparam("at")
        last: BindParameter[str] = bindparam("last")
        query = query.where((_C.updated_at < at) | ((_C.updated_at == at) & (_C.id < last)))
    return query.order_by(_C.updated_at.desc(), _C.id.desc()).limit(bindparam("most"))


def conversations_with(connection: Connection, owner_id: str, agent: str, limit: int) -> Sequence[ConversationRow]:
    """Somebody's conversations with that agent, archived ones too, the last changed first."""
    mine = (_C.owner_id == owner_id, _C.agent == agent, _C.deleted_at.is_(None))
    query = select(*_COLUMNS).where(*mine).order_by(_C.updated_at.desc(), _C.id.desc()).limit(limit)
    return [_conversation(row) for row in connection.execute(query)]


def prompt_of(connection: Connection, conversation_id: str) -> str:
    """What a person wrote for the model of this conversation alone."""
    return connection.execute(_PROMPT, {"wanted": conversation_id}).scalar() or ""


def set_title(connection: Connection, conversation_id: str, title: str, by: TitleBy) -> None:
    """Another title."""
    connection.execute(_CHANGE, {"wanted": conversation_id, "title": title, "title_by": by})
    keep_words(connection, conversation_id, TITLE, title)


def name_by_model(connection: Connection, conversation_id: str, title: str) -> bool:
    """A model's title in the place of the first words; False where a person's is there, which stays (R-2.131)."""
    is_first = (_C.id == conversation_id) & (_C.title_by == "message")
    named = connection.execute(update(CONVERSATIONS).where(is_first).values(title=title, title_by="model")).rowcount
    if named:
        keep_words(connection, conversation_id, TITLE, title)
    return bool(named)


def set_status(connection: Connection, conversation_id: str, status: Status, by: str | None = None) -> None:
    """Another status, which is tracked (R-2.018); the conversation counts as changed."""
    old = connection.execute(_STATUS, {"wanted": conversation_id}).scalar()
    connection.execute(_CHANGE, {"wanted": conversation_id, "status": status, "updated_at": now_ms()})
    if old is not None:
        note_status(connection, conversation_id, old, status, by)


def note_status(connection: Connection, conversation_id: str, old: Status, status: Status, by: str | None) -> None:
    """The history hears of another status.

    Idle after an answer that failed is `failed` there, as every page calls it (N-15.05).
    """
    if old == status:
        return
    outcome = connection.execute(_OUTCOME, {"wanted": conversation_id}).scalar() if "idle" in (old, status) else None
    was, now = ("failed" if each == "idle" and outcome == "failed" else each for each in (old, status))
    add_change(connection, conversation_id, "status", was, now, by)


def pinned(provider_id: str, model_id: str) -> dict[str, object]:
    """The columns with which this model answers from here on; nobody chose it but maia (R-2.033)."""
    return {"provider_id": provider_id, "model_id": model_id, "model_by_person": False}


def running(connection: Connection) -> list[str]:
    """The conversations in which an answer was being written."""
    return [cast(str, found) for found in connection.execute(select(_C.id).where(_C.status == "running")).scalars()]
