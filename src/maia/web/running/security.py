"""The page of security: what was refused without asking anybody, and what guards this installation."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse, Response

from maia.web.drawing.autonomywords import CHECKPOINTS, FOREIGN, REFUSALS
from maia.web.drawing.isolation import SANDBOXES
from maia.web.entry.auth import AtDesk, SignedIn
from maia.web.layout.frame import page_of
from maia.web.layout.marks import mark_of_page
from maia.web.layout.places import place_of
from maia.workspace.autonomy.security import LISTED

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/security")
async def security_page(desk: AtDesk, person: SignedIn, before: Annotated[str, Query(max_length=80)] = "") -> Response:
    """For owners and administrators; `NotAllowed` for anybody else."""
    found = await desk.workspace.security.guarded(person.user)
    rows = await desk.workspace.security.denials(person.user, place_of(before))
    earlier = f"{rows[-1].at}-{rows[-1].id}" if len(rows) == LISTED else ""
    return await page_of(
        desk,
        person,
        "security.html",
        "/security",
        found=found,
        denials=rows,
        state=await mark_of_page(desk, person, "/security"),
        before=before,
        earlier=earlier,
        refusals=REFUSALS,
        checkpoints=CHECKPOINTS,
        foreign=FOREIGN,
        sandbox=SANDBOXES[found.sandbox.status],
    )
