"""What one request changes of a conversation is written together, and told to its readers, or nothing is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection

from maia.core.events import Event, RecordChanged, RecordPart, SessionRenamed
from maia.core.jsonvalue import JsonObject
from maia.database import conversations
from maia.database.conversations import ConversationRow
from maia.database.events import Stamped
from maia.database.ids import now_ms
from maia.database.users import User
from maia.folders.lists import Folder
from maia.workspace.choosing import Change, answering, changed_pin
from maia.workspace.colleagues import Assigned, Colleague
from maia.workspace.composition import window_of
from maia.workspace.folders import WorkFolders
from maia.workspace.log import Along, Log
from maia.workspace.models.binding import Answerer
from maia.workspace.models.catalogue import Catalogue
from maia.workspace.models.shelf import Shelf
from maia.workspace.problems import NotYours, Unusable
from maia.workspace.record.cards import Cards
from maia.workspace.staff import Staff
from maia.workspace.titles import checked_title


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody wants to be other; None stays as it is. `fields` are those of `Cards.prepared`."""

    fields: JsonObject = field(default_factory=dict[str, Any])
    title: str | None = None
    choice: Change | None = None
    archived: bool | None = None
    folders: Sequence[Folder] | None = None


class Changing:
    """Changes of conversations by people."""

    def __init__(self, log: Log, folders: WorkFolders, models: Shelf, cards: Cards, staff: Staff) -> None:
        self._log = log
        self._folders = folders
        self._models = models
        self._cards = cards
        self._staff = staff

    async def change(self, user: User, row: ConversationRow, asked: Asked) -> None:
        """All of it, or none. Raises `Unusable`, `FolderRefused`, `ListRefused`, `Unfit`, `NotYours`."""
        work = await self._prepared(user, row, asked)
        if not work:
            return

        def along(connection: Connection) -> None:
            for each in work:
                each(connection)

        now = now_ms()
        events = [Stamped(now, event) for event in _events(asked)]
        await asyncio.shield(asyncio.wrap_future(self._log.write(row.id, row.last_turn, events, along)))
        if "projectId" in asked.fields:
            await self._folders.settle(row.id)
        await self._cards.handing.look(row.id, row.stage_id)

    async def _prepared(self, user: User, row: ConversationRow, asked: Asked) -> list[Along]:
        """What is to be written, in its order; what can be refused without the database is refused here."""
        work: list[Along] = []
        if asked.fields:
            fields = await self._cards.prepared(user, asked.fields, row)
            work.append(lambda c: fields(c, row.id))
        if asked.folders is not None:
            work.append(self._folders.to_keep(row.id, await self._folders.checked(user.id, asked.folders)))
        if asked.title is not None:
            title = checked_title(asked.title)
            work.append(lambda c: conversations.set_title(c, row.id, title, "person"))
        if asked.choice is not None:
            choice, known = asked.choice, await self._models.known()
            agent = asked.fields.get("agent", row.agent) or None
            colleague = (await self._staff.of(replace(row, agent=agent))).colleague
            work.append(lambda c: _choose(c, _now(c, user, row), choice, known, colleague))
        if asked.archived is not None:
            archived = asked.archived
            work.append(lambda c: _archive(c, _now(c, user, row), archived=archived))
        return work


def _now(connection: Connection, user: User, row: ConversationRow) -> ConversationRow:
    """The conversation as it is by now. Raises `NotYours` when it is gone."""
    found = conversations.conversation_of(connection, row.id, user.id)
    if found is None:
        raise NotYours("workspace.not_found")
    return found


def _choose(
    connection: Connection, row: ConversationRow, choice: Change, known: Catalogue, colleague: Colleague | None
) -> None:
    """Another model, binding or level, from the next message on (R-2.074–R-2.076)."""
    pin, effort = changed_pin(row, choice, known, colleague)
    conversations.set_pin(connection, row.id, pin)
    conversations.set_effort(connection, row.id, effort)
    if choice.pair is not None or choice.binding is not None:
        found = answering(replace(row, **pin.columns()), known, Assigned(colleague)).found
        window = window_of(known.model(found.pair), found.pair.provider) if isinstance(found, Answerer) else None
        conversations.set_window(connection, row.id, window)


def _archive(connection: Connection, row: ConversationRow, *, archived: bool) -> None:
    """Close it, or open it again (R-2.017)."""
    if row.status == "running":
        raise Unusable("workspace.archive_running")
    if (row.status == "archived") != archived:
        conversations.set_status(connection, row.id, "archived" if archived else "idle", row.owner_id)


def _events(asked: Asked) -> Iterator[Event]:
    """What readers of the conversation are told."""
    if asked.title is not None:
        yield SessionRenamed(checked_title(asked.title))
    yield RecordChanged(_parts(asked))


def _parts(asked: Asked) -> tuple[RecordPart, ...]:
    """The parts of the record that are other then."""
    is_tracked = bool(asked.fields) or asked.archived is not None
    has_folders = asked.folders is not None or "projectId" in asked.fields
    changed: dict[RecordPart, bool] = {
        "fields": is_tracked or has_folders or asked.choice is not None,
        "history": is_tracked,
        "folders": has_folders,
    }
    return tuple(part for part, is_other in changed.items() if is_other)
