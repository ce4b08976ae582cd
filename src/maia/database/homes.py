"""Home threads: the one conversation that a person has with each colleague (N-05.13)."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, select, update

from maia.database.conversations import Pin, add_conversation
from maia.database.tables.conversations import CONVERSATIONS

_C = CONVERSATIONS.c


class Home(NamedTuple):
    """The home thread with that colleague."""

    agent: str
    id: str
    is_running: bool


def homes_of(connection: Connection, owner_id: str) -> list[Home]:
    """The home threads of a person."""
    kept = (_C.owner_id == owner_id, _C.home_of.is_not(None), _C.deleted_at.is_(None))
    return [Home(*row) for row in connection.execute(select(_C.home_of, _C.id, _C.status == "running").where(*kept))]


def add_home(connection: Connection, owner_id: str, agent: str, title: str, lang: str, pin: Pin) -> str:
    """Make it; its id. One that was deleted is none any more: should it come back, it is a conversation like others."""
    deleted = (_C.owner_id == owner_id, _C.home_of == agent, _C.deleted_at.is_not(None))
    connection.execute(update(CONVERSATIONS).where(*deleted).values(home_of=None))
    made = add_conversation(connection, owner_id, title, lang, pin)
    connection.execute(update(CONVERSATIONS).where(_C.id == made).values(agent=agent, home_of=agent))
    return made
