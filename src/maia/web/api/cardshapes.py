"""The JSON of conversations as records: their fields, their cards, their history."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from maia.core.jsonvalue import JsonObject
from maia.web.api.body import Body
from maia.web.drawing.clock import moment
from maia.workspace.record.cards import Place
from maia.workspace.record.fields import LONGEST_NOTE, LONGEST_PROMPT
from maia.workspace.records import Card, ConversationRow, Entry

Id = Annotated[str, StringConstraints(max_length=60, pattern=r"^[^\x00]*$")]
Label = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00]*$")]
PriorityName = Literal["low", "normal", "high", "urgent"]


class CardFields(Body):
    """The business fields of a conversation; what is not sent stays as it is, null takes a value away."""

    priority: PriorityName | None = None
    project_id: Id | None = Field(None, alias="projectId")
    stage_id: Id | None = Field(None, alias="stageId")
    due_on: Label | None = Field(None, alias="dueOn")
    agent: Label | None = None
    pinned: bool | None = None
    labels: Annotated[list[Label], Field(max_length=100)] | None = None
    prompt: Annotated[str, StringConstraints(max_length=LONGEST_PROMPT)] | None = None
    owners: Annotated[list[Id], Field(max_length=100)] | None = None

    def asked(self) -> JsonObject:
        """What was really sent, by its names outside."""
        sent = self.model_fields_set & CardFields.model_fields.keys()
        given = self.model_dump(by_alias=True, include=set(sent))
        never_null = ("priority", "pinned", "labels", "owners", "prompt")
        return {name: value for name, value in given.items() if value is not None or name not in never_null}


class Moved(CardFields):
    """Where to, and the card there that it stands in front of or behind; `first` puts it above all others."""

    before: Id | None = None
    after: Id | None = None
    first: bool = False

    @property
    def place(self) -> Place:
        return Place(self.after or self.before, is_after=bool(self.after) or (self.first and not self.before))


class NewNote(Body):
    note: Annotated[str, StringConstraints(max_length=LONGEST_NOTE)]


def record_json(row: ConversationRow | Card) -> JsonObject:
    """What a conversation and its card have in common: they are the same row (R-2.001)."""
    return {
        "id": row.id,
        "title": row.title,
        "status": row.status,
        "priority": row.priority,
        "projectId": row.project_id,
        "stageId": row.stage_id,
        "agent": row.agent,
        "dueOn": row.due_on,
        "pinned": row.is_pinned,
        "createdAt": moment(row.created_at),
        "updatedAt": moment(row.updated_at),
    }


def card_json(card: Card) -> JsonObject:
    """A conversation as a card; `costUsd` is null where nobody knows any cost."""
    return {
        **record_json(card),
        "project": card.project,
        "contextTokens": card.context_tokens,
        "contextWindow": card.context_window,
        "labels": list(card.labels),
        "owners": [{"id": user, "name": name} for user, name in card.owners],
        "costUsd": card.cost_usd,
        "costIsEstimated": card.has_estimate,
        "costIsPartial": card.has_unknown_cost,
        "outcome": card.outcome,
        "subTasks": {"done": card.subtasks[0], "all": card.subtasks[1]},
    }


def entry_json(entry: Entry) -> JsonObject:
    """A note or a change."""
    shared: JsonObject = {"id": entry.id, "at": moment(entry.at), "kind": entry.kind, "by": entry.by}
    if entry.kind == "note":
        return {**shared, "note": entry.note}
    return {**shared, "field": entry.field, "old": entry.old, "new": entry.new}
