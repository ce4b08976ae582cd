"""The folders that new conversations of a project, or of a type of projects, begin with (R-2.316, R-2.317, N-14.06)."""

from __future__ import annotations

from typing import Final, Literal

from fastapi import APIRouter, Depends

from maia.core.jsonvalue import JsonObject
from maia.web.api.foldershapes import FolderList, folders_json, folders_of
from maia.web.api.planning import planner
from maia.web.entry.auth import AtDesk, SignedIn
from maia.workspace.record.defaults import Scope

router = APIRouter(tags=["planning"])
Kind = Literal["projects", "project-types"]
_SCOPES: Final[dict[Kind, Scope]] = {"projects": "project", "project-types": "project_type"}


@router.get("/{kind}/{row_id}/folders")
async def read_defaults(desk: AtDesk, kind: Kind, row_id: str) -> JsonObject:
    """The list, the primary one first; a project without one takes that of its type."""
    return {"folders": folders_json(await desk.workspace.defaults.of(_SCOPES[kind], row_id))}


@router.put("/{kind}/{row_id}/folders", dependencies=[Depends(planner)])
async def set_defaults(desk: AtDesk, person: SignedIn, kind: Kind, row_id: str, body: FolderList) -> JsonObject:
    """Another list; conversations that are there keep theirs."""
    await desk.workspace.defaults.keep(person.user, _SCOPES[kind], row_id, folders_of(body.folders))
    return await read_defaults(desk, kind, row_id)
