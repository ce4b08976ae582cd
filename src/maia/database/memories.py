"""Rows of what is remembered for a person: notes for everywhere, a project or its kind (N-11.08)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, func, or_, select, update

from maia.database.ids import new_id, now_ms
from maia.database.tables.conversations import CONVERSATIONS, MESSAGES, PROJECTS
from maia.database.tables.memory import MEMORIES

NoteScope: TypeAlias = Literal["global", "type", "project"]
NoteOrigin: TypeAlias = Literal["person", "agent", "tool", "import", "channel"]
_N, _C, _M = MEMORIES.c, CONVERSATIONS.c, MESSAGES.c


@dataclass(frozen=True, slots=True)
class NoteRow:
    """One note. A standing one is told with every message; a flagged one reads like orders and is never recalled."""

    id: str
    scope: NoteScope
    scope_id: str
    text: str
    origin: NoteOrigin
    is_standing: bool
    is_important: bool
    is_flagged: bool
    conversation_id: str | None
    created_at: int
    changed_at: int


@dataclass(frozen=True, slots=True)
class Weighable:
    """What a note is found by. `words` are folded, each between spaces."""

    id: str
    words: str
    vector: bytes | None
    scope: NoteScope
    origin: NoteOrigin
    is_standing: bool
    is_important: bool
    conversation_id: str | None
    changed_at: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a conversation stands: whose it is, its project and the kind of that."""

    conversation_id: str
    owner_id: str
    title: str
    project_id: str | None
    type_id: str | None


@dataclass(frozen=True, slots=True)
class Said:
    """A message of an earlier conversation."""

    id: str
    title: str
    text: str
    created_at: int


_NOTE = tuple(_N[name] for name in NoteRow.__slots__)
_PLACE = (
    select(_C.id, _C.owner_id, _C.title, _C.project_id, PROJECTS.c.type_id)
    .select_from(CONVERSATIONS.outerjoin(PROJECTS))
    .where(_C.id == bindparam("wanted"), _C.deleted_at.is_(None))
)
_WEIGHABLE = tuple(_N[name] for name in Weighable.__slots__)


def place_of(connection: Connection, conversation_id: str) -> Place | None:
    """Where that conversation stands now; None where there is none any more."""
    found = connection.execute(_PLACE, {"wanted": conversation_id}).first()
    return None if found is None else Place(*found)


def add_note(connection: Connection, user_id: str, values: Mapping[str, Any]) -> str:
    """A new note; its id."""
    made, now = new_id(), now_ms()
    connection.execute(MEMORIES.insert().values(id=made, user_id=user_id, created_at=now, changed_at=now, **values))
    return made


def change_note(connection: Connection, user_id: str, note_id: str, values: Mapping[str, Any]) -> bool:
    """Other values; whether that person has such a note."""
    mine = and_(_N.id == note_id, _N.user_id == user_id)
    return bool(connection.execute(update(MEMORIES).where(mine).values(changed_at=now_ms(), **values)).rowcount)


def forget_note(connection: Connection, user_id: str, note_id: str) -> bool:
    """Remove it; whether that person had such a note."""
    return bool(connection.execute(delete(MEMORIES).where(_N.id == note_id, _N.user_id == user_id)).rowcount)


def count_notes(connection: Connection, user_id: str) -> int:
    """How many notes somebody has."""
    return connection.execute(select(func.count()).where(_N.user_id == user_id)).scalar_one()


def has_notes(connection: Connection, user_id: str) -> bool:
    """Whether somebody has any note."""
    return connection.execute(select(_N.id).where(_N.user_id == user_id).limit(1)).first() is not None


def notes_of(
    connection: Connection, user_id: str, ids: Sequence[str] | None = None, before: str | None = None, limit: int = 1000
) -> list[NoteRow]:
    """That person's notes, the newest first; only those of the ids, where they are given."""
    query = select(*_NOTE).where(_N.user_id == user_id)
    if ids is not None:
        query = query.where(_N.id.in_(ids))
    if before is not None:
        query = query.where(_N.id < before)
    return [NoteRow(*row) for row in connection.execute(query.order_by(_N.id.desc()).limit(limit))]


def weighable(connection: Connection, user_id: str, limit: int) -> list[Weighable]:
    """What all notes of that person are found by, flagged ones too: for a person who looks for them."""
    query = select(*_WEIGHABLE).where(_N.user_id == user_id).order_by(_N.id.desc()).limit(limit)
    return [Weighable(*row) for row in connection.execute(query)]


def weighable_at(connection: Connection, place: Place, limit: int) -> list[Weighable]:
    """What may be recalled there: global notes, those of its project and of the kind of that; no flagged one."""
    query = select(*_WEIGHABLE).where(_open_to(place)).order_by(_N.id.desc()).limit(limit)
    return [Weighable(*row) for row in connection.execute(query)]


def notes_at(connection: Connection, place: Place, ids: Sequence[str]) -> Mapping[str, NoteRow]:
    """Of the notes with these ids those that may be recalled there."""
    query = select(*_NOTE).where(_open_to(place), _N.id.in_(ids))
    return {row.id: NoteRow(*row) for row in connection.execute(query)}


def _open_to(place: Place) -> ColumnElement[bool]:
    scopes: list[ColumnElement[bool]] = [_N.scope == "global"]
    for scope, scope_id in (("project", place.project_id), ("type", place.type_id)):
        if scope_id is not None:
            scopes.append(and_(_N.scope == scope, _N.scope_id == scope_id))
    return and_(_N.user_id == place.owner_id, _N.is_flagged.is_(False), or_(*scopes))


def said_at(connection: Connection, place: Place, ids: Sequence[str]) -> Mapping[str, Said]:
    """Of the messages with these ids those of that person's other conversations in the same scope (N-11.08)."""
    projects: list[ColumnElement[bool]] = [_C.project_id.is_(None)]
    if place.project_id is not None:
        projects.append(_C.project_id == place.project_id)
    if place.type_id is not None:
        projects.append(PROJECTS.c.type_id == place.type_id)
    query = (
        select(_M.id, _C.title, _M.text, _M.created_at)
        .select_from(MESSAGES.join(CONVERSATIONS).outerjoin(PROJECTS))
        .where(
            _M.id.in_(ids),
            _C.owner_id == place.owner_id,
            _C.id != place.conversation_id,
            _C.deleted_at.is_(None),
            or_(*projects),
        )
    )
    return {cast(str, row.id): Said(*row) for row in connection.execute(query)}
