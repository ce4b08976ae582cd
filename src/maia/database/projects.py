"""Rows of projects, their types, and the stages that all projects share (N-14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, delete, func, select, update

from maia.database.ids import new_id, now_ms
from maia.database.tables.conversations import PROJECT_TYPES, PROJECTS, STAGES


@dataclass(frozen=True, slots=True)
class Project:
    """A project. `agent` is the name of its default agent."""

    id: str
    name: str
    type_id: str | None
    description: str
    colour: str
    agent: str | None
    prompt: str
    archived_at: int | None


@dataclass(frozen=True, slots=True)
class ProjectType:
    """A kind of project. `priority` is what its new conversations begin with."""

    id: str
    name: str
    priority: str
    icon: str
    colour: str
    prompt: str


@dataclass(frozen=True, slots=True)
class Stage:
    """A column of the board. In a closed one work is over; `agent` is assigned to what enters."""

    id: str
    name: str
    is_closed: bool
    is_folded: bool
    is_bot: bool
    agent: str | None
    wip_limit: int | None


_P, _T, _S = PROJECTS.c, PROJECT_TYPES.c, STAGES.c
_PROJECT = (_P.id, _P.name, _P.type_id, _P.description, _P.colour, _P.agent, _P.prompt, _P.archived_at)
_TYPE = (_T.id, _T.name, _T.priority, _T.icon, _T.colour, _T.prompt)
_STAGE = (_S.id, _S.name, _S.is_closed, _S.is_folded, _S.is_bot, _S.agent, _S.wip_limit)


def projects(connection: Connection) -> Sequence[Project]:
    """All projects in use, by name."""
    query = select(*_PROJECT).where(_P.archived_at.is_(None)).order_by(func.lower(_P.name), _P.id)
    return [Project(*row) for row in connection.execute(query)]


def project(connection: Connection, project_id: str) -> Project | None:
    """One project, in use or archived."""
    found = connection.execute(select(*_PROJECT).where(_P.id == project_id)).first()
    return None if found is None else Project(*found)


def project_types(connection: Connection) -> Sequence[ProjectType]:
    """All types in their order."""
    return [ProjectType(*row) for row in connection.execute(select(*_TYPE).order_by(_T.position, _T.id))]


def stages(connection: Connection) -> Sequence[Stage]:
    """All stages, from the first to the last."""
    return [Stage(*row) for row in connection.execute(select(*_STAGE).order_by(_S.position, _S.id))]


def add(connection: Connection, table: Table, values: Mapping[str, Any]) -> str:
    """A new project, type or stage, the last of its kind; its id."""
    made = new_id()
    more: dict[str, Any] = {"created_at": now_ms()} if table is PROJECTS else {"position": _next(connection, table)}
    connection.execute(table.insert().values(id=made, **more, **values))
    return made


def _next(connection: Connection, table: Table) -> int:
    last = connection.execute(select(func.max(table.c.position))).scalar()
    return 0 if last is None else last + 1


def change(connection: Connection, table: Table, row_id: str, values: Mapping[str, Any]) -> bool:
    """Other values; whether there is such a row."""
    if not values:
        return connection.execute(select(table.c.id).where(table.c.id == row_id)).first() is not None
    return bool(connection.execute(update(table).where(table.c.id == row_id).values(**values)).rowcount)


def remove(connection: Connection, table: Table, row_id: str) -> bool:
    """Take a type or a stage away; what referred to it has none from then on. Whether there was one."""
    return bool(connection.execute(delete(table).where(table.c.id == row_id)).rowcount)


def put_in_order(connection: Connection, table: Table, ids: Sequence[str]) -> None:
    """These rows stand in this order, before those that are not named."""
    known = connection.execute(select(table.c.id).order_by(table.c.position, table.c.id)).scalars().all()
    order = [*ids, *(each for each in known if each not in ids)]
    for position, row_id in enumerate(order):
        connection.execute(update(table).where(table.c.id == row_id).values(position=position))
