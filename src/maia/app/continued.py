"""A conversation of the workspace goes on at a terminal: its turns become a session file of the folder.

The database is only read, beside a server that may have it; what is said at the terminal goes into the file. Opening
the session in the workspace brings it back (`workspace.sessions`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from itertools import count

from sqlalchemy import URL, Connection

from maia import __version__
from maia.app.ground import Ground
from maia.core.errors import SessionProblem
from maia.core.events import Event, ModelChanged, Notice, SessionStarted
from maia.database.address import database_url
from maia.database.conversations import ConversationRow, conversation
from maia.database.events import events_after
from maia.database.opened import opened_as, working_in
from maia.database.reading import reading
from maia.folders.workspaces import find_location
from maia.store.journal import JsonlJournal, SessionExists
from maia.store.sessions import Sessions
from maia.workspace.takeover import Handed, handed

SHOWN = 200


def continued(ground: Ground, name: str) -> str | None:
    """The session in this folder that goes on with the conversation of that id, made where there is none.

    None where there is no such conversation. Blocks. Raises `DatabaseProblem`, `SessionProblem`.
    """
    sessions = Sessions(ground.folders.sessions)
    with reading(_url(ground)) as connection:
        row = conversation(connection, name)
        if row is None:
            return None
        if (session := _untouched(connection, ground, row)) is not None and sessions.path(session).is_file():
            return session
        turns = handed(events_after(connection, row.id, 0, None))
    if turns.last is None:
        raise SessionProblem("session.conversation_empty", name=name)
    same = (each for each in sessions.list() if (each.conversation, each.turns) == (row.id, turns.last.turn))
    found = next(same, None)
    return found.name if found is not None else _written(ground, sessions, row, turns)


def workspace_conversations(ground: Ground) -> Sequence[tuple[str, str, float]]:
    """Conversations that work in this folder, the newest first: (id, title, last change in seconds since 1970).

    Blocks. Raises `DatabaseProblem`.
    """
    launch = ground.folders.launch
    with reading(_url(ground)) as connection:
        found = working_in(connection, {str(launch), os.path.realpath(launch)}, SHOWN)
    return [(each, title, changed / 1000) for each, title, changed in found]


# Inside ---------------------------------------------------------------------------------------------------------------


def _url(ground: Ground) -> URL:
    return database_url(ground.env.get("MAIA_DATABASE_URL"), find_location(ground.env, ground.folders.home).data)


def _untouched(connection: Connection, ground: Ground, row: ConversationRow) -> str | None:
    """The session of this folder that the conversation was opened from, while nothing was said there since."""
    opened = opened_as(connection, row.id, os.path.realpath(ground.folders.launch))
    return opened.name if opened is not None and opened.last_turn == row.last_turn else None


def _written(ground: Ground, sessions: Sessions, row: ConversationRow, turns: Handed) -> str:
    """A new session file with these turns; whole, or none."""
    journal = _created(sessions, row.id)
    try:
        for event, at in _file(ground, journal.name, row, turns):
            journal.append(event, at)
        if journal.problem:
            raise SessionProblem("session.unwritable", name=journal.name, problem=journal.problem)
    except BaseException:
        journal.path.unlink(missing_ok=True)
        raise
    finally:
        journal.close()
    return journal.name


def _created(sessions: Sessions, conversation_id: str) -> JsonlJournal:
    for number in count(1):
        with suppress(SessionExists):
            return sessions.create_named(f"conversation_{conversation_id}" + (f"_{number}" if number > 1 else ""))
    raise AssertionError("the numbers never end")


def _file(ground: Ground, name: str, row: ConversationRow, turns: Handed) -> list[tuple[Event, float | None]]:
    last = turns.last
    assert last is not None, "an empty conversation is refused before"
    key = "session.continued_running" if row.status == "running" else "session.continued"
    values = {"title": row.title or row.id, "when": datetime.now().strftime("%Y-%m-%d %H:%M")}
    return [
        (SessionStarted(name, str(ground.folders.launch), __version__, (), row.id, last.turn), None),
        (ModelChanged(last.model, last.provider, "resumed"), None),
        *((each.event, each.at / 1000) for each in turns.events),
        (Notice("info", key, values), None),
    ]
