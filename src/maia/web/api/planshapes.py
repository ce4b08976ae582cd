"""The JSON of what work is sorted by: projects, their types, stages."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from maia.core.jsonvalue import JsonObject
from maia.web.api.body import Body
from maia.web.api.cardshapes import Id, Label, PriorityName
from maia.workspace.record.planning import LONGEST_NAME
from maia.workspace.records import Project, ProjectType, Stage

Name = Annotated[str, StringConstraints(max_length=LONGEST_NAME)]
Text = Annotated[str, StringConstraints(max_length=20_000)]


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


class Master(Body):
    prompt: Text


class Order(Body):
    ids: Annotated[list[Id], Field(max_length=1_000)]


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
