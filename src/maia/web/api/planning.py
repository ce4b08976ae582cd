"""Projects, their types and the stages of all; changing them is for the owner and administrators (N-14)."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel
from starlette.responses import Response

from maia.core.jsonvalue import JsonObject
from maia.web.api.foldershapes import folders_of
from maia.web.api.planshapes import (
    Master,
    Order,
    ProjectFields,
    StageFields,
    TypeFields,
    project_json,
    stage_json,
    type_json,
)
from maia.web.api.shapes import NewConversation, conversation_json
from maia.web.entry.auth import AtDesk, SignedIn
from maia.workspace.people.rights import may
from maia.workspace.problems import NotAllowed, Unusable

router = APIRouter(tags=["planning"])


async def planner(person: SignedIn) -> None:
    """Who may change what all people share. Raises `NotAllowed`."""
    if not may(person.user, "planning"):
        raise NotAllowed("planning.not_allowed")


by_planner = APIRouter(tags=["planning"], dependencies=[Depends(planner)])
Ordered = Literal["types", "stages"]


def _sent(body: BaseModel, *, is_new: bool = False) -> dict[str, Any]:
    """The columns that a body names; a name, flags and texts are never null."""
    sent = body.model_dump(include=set(body.model_fields_set))
    may_be_null = ("agent", "type_id", "wip_limit")
    values = {name: value for name, value in sent.items() if value is not None or name in may_be_null}
    if is_new and "name" not in values:
        raise Unusable("planning.name_needed")
    return values


@router.get("/projects")
async def list_projects(desk: AtDesk) -> JsonObject:
    """Projects by name, with their types and the stages in their order."""
    projects, types, stages = await desk.workspace.planning.all()
    return {
        "projects": [project_json(each) for each in projects],
        "types": [type_json(each) for each in types],
        "stages": [stage_json(each) for each in stages],
    }


@by_planner.post("/projects", status_code=201)
async def add_project(desk: AtDesk, body: ProjectFields) -> JsonObject:
    """A new project: `{name, typeId?, description?, colour?, agent?, prompt?}`."""
    return {"id": await desk.workspace.planning.add("projects", _sent(body, is_new=True))}


@by_planner.patch("/projects/{row_id}")
async def change_project(desk: AtDesk, row_id: str, body: ProjectFields) -> JsonObject:
    """Other values of a project."""
    await desk.workspace.planning.change("projects", row_id, _sent(body))
    return project_json(await desk.workspace.planning.project(row_id))


@by_planner.delete("/projects/{row_id}", status_code=204)
async def remove_project(desk: AtDesk, row_id: str) -> Response:
    """Archive a project: no conversation can be put into it any more, those in it keep it."""
    await desk.workspace.planning.remove("projects", row_id)
    return Response(status_code=204)


@by_planner.post("/project-types", status_code=201)
async def add_type(desk: AtDesk, body: TypeFields) -> JsonObject:
    """A new type: `{name, priority?, icon?, colour?, prompt?}`."""
    return {"id": await desk.workspace.planning.add("types", _sent(body, is_new=True))}


@by_planner.patch("/project-types/{row_id}", status_code=204)
async def change_type(desk: AtDesk, row_id: str, body: TypeFields) -> Response:
    """Other values of a type."""
    await desk.workspace.planning.change("types", row_id, _sent(body))
    return Response(status_code=204)


@by_planner.delete("/project-types/{row_id}", status_code=204)
async def remove_type(desk: AtDesk, row_id: str) -> Response:
    """Take a type away; its projects have none then."""
    await desk.workspace.planning.remove("types", row_id)
    return Response(status_code=204)


@by_planner.post("/stages", status_code=201)
async def add_stage(desk: AtDesk, body: StageFields) -> JsonObject:
    """A new stage, the last one: `{name, closed?, folded?, bot?, agent?, wipLimit?}`."""
    return {"id": await desk.workspace.planning.add("stages", _sent(body, is_new=True))}


@by_planner.patch("/stages/{row_id}", status_code=204)
async def change_stage(desk: AtDesk, row_id: str, body: StageFields) -> Response:
    """Other values of a stage."""
    await desk.workspace.planning.change("stages", row_id, _sent(body))
    return Response(status_code=204)


@by_planner.delete("/stages/{row_id}", status_code=204)
async def remove_stage(desk: AtDesk, row_id: str) -> Response:
    """Take a stage away; its conversations have none then."""
    await desk.workspace.planning.remove("stages", row_id)
    return Response(status_code=204)


@router.get("/prompts/master")
async def master_prompt(desk: AtDesk) -> JsonObject:
    """What is told in all conversations; who maia is and its rules stand above it and are not changed."""
    return {"prompt": await desk.workspace.planning.master()}


@by_planner.put("/prompts/master")
async def change_master(desk: AtDesk, person: SignedIn, body: Master) -> JsonObject:
    """Other words for all conversations, from their next turn on; empty for none."""
    await desk.workspace.planning.set_master(person.user, body.prompt)
    return {"prompt": await desk.workspace.planning.master()}


@by_planner.put("/order/{kind}", status_code=204)
async def order(desk: AtDesk, kind: Ordered, body: Order) -> Response:
    """The order of types or of stages: all ids, the first one first."""
    await desk.workspace.planning.order(kind, body.ids)
    return Response(status_code=204)


@router.post("/projects/{row_id}/conversations", status_code=201)
async def add_card(desk: AtDesk, person: SignedIn, row_id: str, body: NewConversation) -> JsonObject:
    """A new conversation on the board of a project, by the rules of any other (R-2.073)."""
    project = await desk.workspace.planning.project(row_id)
    asked = {**body.asked(), "projectId": project.id}
    folders = folders_of(body.folders)
    made = await desk.workspace.create(person.user, body.title, person.lang, folders, body.start, fields=asked)
    return conversation_json(made)
