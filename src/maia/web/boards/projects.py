"""The page of projects: what conversations are sorted by, their types, and the stages that all share (N-14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from maia.engine.context import fixed_words
from maia.web.api.planning import planner
from maia.web.boards.board import nicknames_of
from maia.web.drawing.words import COLOURS, ICONS, PRESSING_FIRST
from maia.web.entry.auth import AtDesk, Person, SignedIn
from maia.web.entry.desk import Desk
from maia.web.entry.strangers import NO_STORE
from maia.web.layout.frame import nav_parts, page_of, reader_of
from maia.web.layout.parts import LONGEST_SHOWN, Parts, follow, reached, shown_word
from maia.web.layout.stream import streamed
from maia.workspace.people.rights import may
from maia.workspace.problems import NotThere
from maia.workspace.record.defaults import Scope
from maia.workspace.records import FolderRow, Project, ProjectType, Stage

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
NEW: Final = "new"
_SCOPES: Final[Mapping[str, Scope]] = {"projects": "project", "types": "project_type"}
_FRESH: Final[Mapping[str, Project | ProjectType | Stage]] = {
    "projects": Project("", "", None, "", "", None, "", None),
    "types": ProjectType("", "", "normal", "", "", ""),
    "stages": Stage("", "", False, False, False, None, None),
}


@router.get("/projects")
async def projects(desk: AtDesk, person: SignedIn) -> Response:
    """Projects, types and stages."""
    parts = await _draw(desk, person)
    is_planner = may(person.user, "planning")
    return await page_of(
        desk, person, "projects.html", "/projects", parts=parts, shown=shown_word(parts), is_planner=is_planner
    )


@router.get("/ui/projects/stream")
async def stream(
    request: Request,
    desk: AtDesk,
    person: SignedIn,
    shown: Annotated[str, Query(max_length=LONGEST_SHOWN)] = "",
) -> Response:
    """What others change of them, as it changes."""

    async def draw() -> Parts:
        return {**await _draw(desk, person), **await nav_parts(desk, person, "/projects")}

    return streamed(desk, person, follow(desk, person, draw, reached(request, shown)))


@router.get("/ui/projects/master", dependencies=[Depends(planner)])
async def edit_master(desk: AtDesk, person: SignedIn) -> Response:
    """The form of what is told in all conversations, with what nobody changes of it above (N-12.01)."""
    html = reader_of(desk, person).draw(
        "master.html", prompt=await desk.workspace.planning.master(), fixed=fixed_words("workspace")
    )
    return HTMLResponse(html, headers=NO_STORE)


@router.get("/ui/projects/{kind}/{row_id}", dependencies=[Depends(planner)])
async def edit(desk: AtDesk, person: SignedIn, kind: Literal["projects", "types", "stages"], row_id: str) -> Response:
    """The form of one of them, or of a new one. Raises `NotThere`."""
    found, types, stages = await desk.workspace.planning.all()
    rows: Mapping[str, Sequence[Project | ProjectType | Stage]] = {"projects": found, "types": types, "stages": stages}
    row = _FRESH[kind] if row_id == NEW else next((each for each in rows[kind] if each.id == row_id), None)
    if row is None:
        raise NotThere("planning.not_found")
    html = reader_of(desk, person).draw(
        "plan.html",
        kind=kind,
        row=row,
        types=types,
        folders=await _folders(desk, kind, row.id),
        colleagues=await desk.workspace.cards.colleagues(),
        pressing=PRESSING_FIRST,
        colours=COLOURS,
        icons=ICONS,
    )
    return HTMLResponse(html, headers=NO_STORE)


async def _folders(desk: Desk, kind: str, row_id: str) -> Sequence[FolderRow]:
    return await desk.workspace.defaults.of(_SCOPES[kind], row_id) if kind in _SCOPES and row_id else ()


async def _draw(desk: Desk, person: Person) -> Parts:
    """The sections by their ids."""
    found, types, stages = await desk.workspace.planning.all()
    pieces = reader_of(desk, person).pieces("plans.html")
    folders = {each.id: await _folders(desk, "projects", each.id) for each in found}
    shared: dict[str, Any] = {"names": await nicknames_of(desk), "is_planner": may(person.user, "planning")}
    return {
        "plan-projects": pieces.projects(found, types, folders, **shared),
        "plan-types": pieces.types(types, found, is_planner=shared["is_planner"]),
        "plan-stages": pieces.stages(stages, **shared),
        "plan-master": pieces.master(await desk.workspace.planning.master(), is_planner=shared["is_planner"]),
    }
