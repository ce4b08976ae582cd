"""The JSON of cards, their history, and what they are sorted by."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from maia.core.types import JsonObject
from maia.web.api.body import Body
from maia.web.clock import moment
from maia.workspace.cards import Place
from maia.workspace.fields import LONGEST_NOTE
from maia.workspace.planning import LONGEST_NAME
from maia.workspace.records import Card, Entry, Project, ProjectType, Stage

Id = Annotated[str, StringConstraints(max_length=60)]
Label = Annotated[str, StringConstraints(max_length=200)]
Name = Annotated[str, StringConstraints(max_length=LONGEST_NAME)]
Text = Annotated[str, StringConstraints(max_length=20_000)]
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
    owners: Annotated[list[Id], Field(max_length=100)] | None = None

    def asked(self) -> JsonObject:
        """What was really sent, by its names outside."""
        sent = self.model_fields_set & CardFields.model_fields.keys()
        given = self.model_dump(by_alias=True, include=set(sent))
        never_null = ("priority", "pinned", "labels", "owners")
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


class ProjectFields(Body):
    name: Name | None = None
    type_id: Id | None = Field(None, alias="typeId")
    description: Text | None = None
    colour: Label | None = None
    agent: Label | None = None
    prompt: Text | None = None


class TypeFields(Body):
    name: Name | None = None
    priority: PriorityName | None = None
    icon: Label | None = None
    colour: Label | None = None
    prompt: Text | None = None


class StageFields(Body):
    name: Name | None = None
    is_closed: bool | None = Field(None, alias="closed")
    is_folded: bool | None = Field(None, alias="folded")
    is_bot: bool | None = Field(None, alias="bot")
    agent: Label | None = None
    wip_limit: Annotated[int, Field(ge=1, le=10_000)] | None = Field(None, alias="wipLimit")


class Order(Body):
    ids: Annotated[list[Id], Field(max_length=1_000)]


def card_json(card: Card) -> JsonObject:
    """A conversation as a card; `costUsd` is null where nobody knows any cost."""
    return {
        "id": card.id,
        "title": card.title,
        "status": card.status,
        "priority": card.priority,
        "projectId": card.project_id,
        "project": card.project,
        "stageId": card.stage_id,
        "agent": card.agent,
        "dueOn": card.due_on,
        "pinned": card.is_pinned,
        "contextTokens": card.context_tokens,
        "contextWindow": card.context_window,
        "labels": list(card.labels),
        "owners": [{"id": user, "name": name} for user, name in card.owners],
        "costUsd": card.cost_usd,
        "costIsEstimated": card.has_estimate,
        "costIsPartial": card.has_unknown_cost,
        "outcome": card.outcome,
        "createdAt": moment(card.created_at),
        "updatedAt": moment(card.updated_at),
    }


def entry_json(entry: Entry) -> JsonObject:
    """A note or a change."""
    shared: JsonObject = {"id": entry.id, "at": moment(entry.at), "kind": entry.kind, "by": entry.by}
    if entry.kind == "note":
        return {**shared, "note": entry.note}
    return {**shared, "field": entry.field, "old": entry.old, "new": entry.new}


def project_json(row: Project) -> JsonObject:
    return {
        "id": row.id,
        "name": row.name,
        "typeId": row.type_id,
        "description": row.description,
        "colour": row.colour,
        "agent": row.agent,
        "prompt": row.prompt,
    }


def type_json(row: ProjectType) -> JsonObject:
    return {
        "id": row.id,
        "name": row.name,
        "priority": row.priority,
        "icon": row.icon,
        "colour": row.colour,
        "prompt": row.prompt,
    }


def stage_json(row: Stage) -> JsonObject:
    return {
        "id": row.id,
        "name": row.name,
        "closed": row.is_closed,
        "folded": row.is_folded,
        "bot": row.is_bot,
        "agent": row.agent,
        "wipLimit": row.wip_limit,
    }
