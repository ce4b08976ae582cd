"""Conversations as cards: their fields, notes and history, their places on the board, search, deletion with undo."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from maia.core.events import RecordChanged, RecordPart
from maia.core.jsonvalue import JsonObject
from maia.database import board, cards, conversations, history, messages, projects, search
from maia.database.cards import Card
from maia.database.conversations import ConversationRow
from maia.database.database import Database
from maia.database.delegations import is_busy_below
from maia.database.events import Stamped
from maia.database.history import Entry, EntryKind, Tracked
from maia.database.ids import new_id, now_ms
from maia.database.users import User
from maia.workspace.colleagues import Colleague, named
from maia.workspace.delegating.handing import Handing
from maia.workspace.delegating.late import LateResults
from maia.workspace.delegating.upward import Upward
from maia.workspace.folders import WorkFolders
from maia.workspace.log import Along, Log
from maia.workspace.news import News
from maia.workspace.problems import NotYours, Unusable
from maia.workspace.record.fields import (
    checked_agent,
    checked_labels,
    checked_note,
    wanted,
)
from maia.workspace.staff import Staff

MOST_FOUND = 50
_EXCERPT = 160
_TRACKED: Mapping[str, Tracked] = {
    "priority": "priority",
    "due_on": "due",
    "project_id": "project",
    "stage_id": "stage",
}


@dataclass(frozen=True, slots=True)
class Found:
    """A conversation that was searched for; `excerpt` is of the message with the words, empty for the title."""

    row: ConversationRow
    excerpt: str


@dataclass(frozen=True, slots=True)
class Place:
    """In front of the card `beside`, or behind it; without one the last of its stage, or the first with `is_after`."""

    beside: str | None = None
    is_after: bool = False


class Cards:
    """The record around each chat. Other people's conversations are `NotYours` everywhere."""

    def __init__(
        self,
        database: Database,
        log: Log,
        folders: WorkFolders,
        staff: Staff,
        news: News,
        handing: Handing,
        late: LateResults,
    ) -> None:
        self._database = database
        self.handing = handing
        self._folders = folders
        self._log = log
        self._staff = staff
        self._news = news
        self._late = late

    # Reading

    async def colleagues(self, row: ConversationRow | None = None) -> Sequence[Colleague]:
        """The agents that people talk to; with those that the conversation's folder brings along (R-2.008)."""
        return await self._staff.colleagues(row)

    async def people(self) -> Sequence[tuple[str, str]]:
        """Who may answer for a conversation: (id, name)."""
        return await self._database.read(cards.people)

    async def card(self, user: User, row: ConversationRow) -> Card:
        """One card. Raises `NotYours` when it was deleted meanwhile."""
        found = await self._database.read(lambda c: cards.card_of(c, row.id, user.id))
        if found is None:
            raise NotYours("workspace.not_found")
        return found

    async def search(self, user: User, query: str) -> Sequence[Found]:
        """Conversations with all these words in the title or in one message, the last changed first."""

        def find(connection: Connection) -> list[Found]:
            words = search.asked_for(query)
            found: list[Found] = []
            for conversation_id, message_id in search.matching(connection, user.id, words, MOST_FOUND):
                row = conversations.conversation_of(connection, conversation_id, user.id)
                if row is not None:
                    said = messages.text_of(connection, message_id) if message_id else ""
                    found.append(Found(row, excerpt_of(said, words)))
            return found

        return await self._database.read(find)

    async def prompt(self, row: ConversationRow) -> str:
        """What a person wrote for the model of this conversation (N-12.01)."""
        return await self._database.read(lambda c: conversations.prompt_of(c, row.id))

    # Changing

    async def prepared(
        self, user: User, asked: JsonObject, changed: ConversationRow | None = None
    ) -> Callable[[Connection, str], None]:
        """Set the fields that `asked` names, all or none, and keep the changes of tracked ones: in another transaction.

        What a new conversation begins with is no change. Raises `Unusable` for a value that cannot be; the work raises
        `NotYours` when the conversation is gone.
        """
        is_new = changed is None
        values = wanted(asked)
        labels = checked_labels(asked["labels"]) if "labels" in asked else None
        looks = "agent" in asked or "project_id" in values or "stage_id" in values
        known = await self._staff.colleagues(changed) if looks else ()

        def work(connection: Connection, conversation_id: str) -> None:
            row = conversations.conversation_of(connection, conversation_id, user.id)
            if row is None:
                raise NotYours("workspace.not_found")
            own = {**values, **_agent(connection, row, asked, values, known)}
            own |= _binding(row, own)
            if is_new and "priority" not in own and own.get("project_id"):
                own["priority"] = _first_priority(connection, own["project_id"])
            changes = _changes(connection, row, own)
            if any(field == "stage" for field, *_ in changes):
                own["rank"] = 0  # a place in one stage says nothing in another: it stands among the new ones
            if own.get("project_id", row.project_id) != row.project_id:
                self._folders.of_project(connection, row.id, own["project_id"])
            cards.set_fields(connection, row.id, own, is_news=bool(changes) or "agent" in own)
            if labels is not None:
                cards.set_labels(connection, row.id, labels)
            if "owners" in asked:
                cards.set_owners(connection, row.id, asked["owners"])
            for field, old, new in () if is_new else changes:
                history.add_change(connection, row.id, field, old, new, user.id)

        return work

    async def move(self, user: User, row: ConversationRow, asked: JsonObject, place: Place = Place()) -> None:
        """Set fields as `prepared` does, and put the card into its place of the stage, all or none."""
        work = await self.prepared(user, asked, row)

        def move(connection: Connection) -> None:
            work(connection, row.id)
            board.put(connection, user.id, row.id, place.beside, is_after=place.is_after)

        await self._write(row, _parts(asked), move)
        await self.handing.look(row.id, row.stage_id)

    async def delete(self, user: User, row: ConversationRow) -> None:
        """Out of sight; `restore` takes it back. Raises `Unusable` while an answer is being written there or below."""

        def work(connection: Connection) -> None:
            now = conversations.conversation_of(connection, row.id, user.id)
            if (now is not None and now.status == "running") or is_busy_below(connection, row.id):
                raise Unusable("card.delete_running")
            cards.set_deleted(connection, row.id, user.id, deleted=True)

        await self._seen_above(row.id, work)
        self._owed_to(row.parent_id)

    async def restore(self, user: User, conversation_id: str) -> ConversationRow:
        """What was deleted is back. Raises `NotYours` where nothing of theirs was."""
        await self._seen_above(conversation_id, lambda c: cards.set_deleted(c, conversation_id, user.id, deleted=False))
        row = await self._database.read(lambda c: conversations.conversation_of(c, conversation_id, user.id))
        if row is None:
            raise NotYours("workspace.not_found")
        self._owed_to(row.parent_id)
        return row

    async def _seen_above(self, conversation_id: str, work: Callable[[Connection], Any]) -> None:
        """What comes or goes is seen above it, too: who waited for it waits no more, or again."""
        upward = Upward(self._log)

        def along(connection: Connection) -> None:
            work(connection)
            upward.note(connection, conversation_id)

        await self._database.write(along)
        upward.tell()
        self._news.tell(conversation_id)

    def _owed_to(self, parent_id: str | None) -> None:
        """A run above may have waited for this one alone, and for the others no more."""
        if parent_id is not None:
            self._late.came(parent_id)

    async def _write(self, row: ConversationRow, parts: tuple[RecordPart, ...], along: Along) -> None:
        """Write something, and tell the readers of the conversation which parts of it are other."""
        event = Stamped(now_ms(), RecordChanged(parts))
        await asyncio.shield(asyncio.wrap_future(self._log.write(row.id, row.last_turn, [event], along)))

    # History

    async def note(self, user: User, row: ConversationRow, note: str) -> str:
        """Keep a person's note; the model never reads it (R-2.301). Raises `Unusable`."""
        clean, made = checked_note(note), new_id()
        await self._write(row, ("history",), lambda c: history.add_note(c, row.id, clean, user.id, made))
        return made

    async def history(
        self, row: ConversationRow, kind: EntryKind | None, limit: int, before: str | None = None
    ) -> Sequence[Entry]:
        """The newest entries, the newest first (R-2.299)."""
        return await self._database.read(lambda c: history.entries_of(c, row.id, kind, limit, before))


def _parts(asked: JsonObject) -> tuple[RecordPart, ...]:
    """What of the record is other after such a change; another project brings its folders (R-2.139)."""
    return ("fields", "history", "folders") if "projectId" in asked else ("fields", "history")


def _agent(
    connection: Connection,
    row: ConversationRow,
    asked: JsonObject,
    values: Mapping[str, Any],
    known: Sequence[Colleague],
) -> dict[str, Any]:
    """The agent that was asked for, else the one that comes along while none has answered yet."""
    is_locked = row.last_turn > 0 or row.home_of is not None
    if "agent" in asked:
        wish = asked["agent"] or None
        return {} if wish == row.agent else {"agent": checked_agent(wish, known, is_locked=is_locked)}
    agent = None if is_locked else _assigned(connection, values, known)
    return {"agent": agent} if agent else {}


def _assigned(connection: Connection, values: Mapping[str, Any], known: Sequence[Colleague]) -> str | None:
    """The agent that comes with a project (R-2.140) or a stage (N-14.05), where there is such a colleague."""
    project = projects.project(connection, values["project_id"]) if values.get("project_id") else None
    stage = next((each for each in projects.stages(connection) if each.id == values.get("stage_id")), None)
    offered = (stage and stage.agent) or (project and project.agent)
    return offered if named(known, offered) else None


def _binding(row: ConversationRow, own: Mapping[str, Any]) -> dict[str, Any]:
    """With a colleague a conversation follows the colleague's model, unless a person chose one (R-2.047)."""
    if own.get("agent") and row.model_binding == "pinned" and not row.model_by_person:
        return {"model_binding": "inherit"}
    if "agent" in own and own["agent"] is None and row.model_binding == "inherit":
        return {"model_binding": "pinned"}
    return {}


def _first_priority(connection: Connection, project_id: str) -> str:
    """What new conversations of a project begin with (N-14.03)."""
    project = projects.project(connection, project_id)
    types = {each.id: each.priority for each in projects.project_types(connection)}
    return types.get(project.type_id or "", "normal") if project else "normal"


def _changes(
    connection: Connection, row: ConversationRow, values: Mapping[str, Any]
) -> list[tuple[Tracked, str | None, str | None]]:
    """What really changes, as people read it later: stages and projects by name. Raises `Unusable` for unknown ones."""
    changed = [column for column in _TRACKED if column in values and values[column] != getattr(row, column)]
    names: dict[str, dict[str, str]] = {}
    if "stage_id" in changed:
        names["stage_id"] = {each.id: each.name for each in projects.stages(connection)}
    if "project_id" in changed:
        names["project_id"] = {each.id: each.name for each in projects.projects(connection)}
    changes: list[tuple[Tracked, str | None, str | None]] = []
    for column in changed:
        old, new = getattr(row, column), values[column]
        if column in names:
            if new is not None and new not in names[column]:
                raise Unusable(f"card.no_{_TRACKED[column]}")
            before = projects.project(connection, old) if column == "project_id" and old else None
            old, new = before.name if before else names[column].get(old or ""), names[column].get(new or "")
        changes.append((_TRACKED[column], old, new))
    return changes


def excerpt_of(said: str, words: Sequence[str]) -> str:
    """The part of a message around the first of the words, on one line."""
    line = " ".join(said.split())
    folded = line.casefold()
    at = min((found for word in words if (found := folded.find(word)) >= 0), default=0)
    start = max(0, at - _EXCERPT // 3)
    if start:
        start = line.find(" ", start, at) + 1 or start
    part = line[start : start + _EXCERPT]
    return ("…" if start else "") + part + ("…" if start + _EXCERPT < len(line) else "")
