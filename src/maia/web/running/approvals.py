"""One request with the exact call, beside the others of the queue."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse, Response

from maia.web.entry.auth import AtDesk, SignedIn
from maia.web.layout.frame import page_of
from maia.workspace.approvals import may_decide

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

Show = Annotated[Literal["waiting", "decided"], Query()]


@router.get("/approvals/{approval_id}")
async def one_approval(desk: AtDesk, person: SignedIn, approval_id: str, show: Show = "waiting") -> Response:
    """The request, whatever became of it."""
    queue = desk.workspace.approvals
    chosen = await queue.one(person.user, approval_id)
    waiting = await queue.listed(person.user, decided=False)
    rows = waiting if show == "waiting" else await queue.listed(person.user, decided=True)
    folders = await desk.workspace.work_folders.of(chosen.conversation_id)
    return await page_of(
        desk,
        person,
        "approvals.html",
        "/autonomy",
        folders,
        show=show,
        rows_shown=rows,
        waiting=len(waiting),
        chosen=chosen,
        folder=next((each.path for each in folders), ""),
        blocks_of_chosen=await queue.proposal(chosen),
        may_decide=may_decide(person.user),
    )
