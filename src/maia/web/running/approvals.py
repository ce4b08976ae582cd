"""The page of approvals: what waits for a decision, what was decided, and one request with the exact call."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse, Response

from maia.web.entry.auth import AtDesk, SignedIn
from maia.web.layout.frame import page_of
from maia.workspace.approvals import may_decide

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
_LAST = 5
"""Decisions that stand below what waits."""

Show = Annotated[Literal["waiting", "decided"], Query()]


@router.get("/approvals")
async def all_approvals(desk: AtDesk, person: SignedIn, show: Show = "waiting") -> Response:
    """The queue with its first request."""
    return await _draw(desk, person, show, None)


@router.get("/approvals/{approval_id}")
async def one_approval(desk: AtDesk, person: SignedIn, approval_id: str, show: Show = "waiting") -> Response:
    """The queue with one of its requests, whatever became of it."""
    return await _draw(desk, person, show, approval_id)


async def _draw(desk: AtDesk, person: SignedIn, show: str, chosen_id: str | None) -> Response:
    queue = desk.workspace.approvals
    chosen = await queue.one(person.user, chosen_id) if chosen_id else None
    waiting = await queue.listed(person.user, decided=False)
    decided = await queue.listed(person.user, decided=True)
    rows = waiting if show == "waiting" else decided
    if chosen is None and rows:
        chosen = rows[0]
    folders = await desk.workspace.work_folders.of(chosen.conversation_id) if chosen else ()
    return await page_of(
        desk,
        person,
        "approvals.html",
        "/approvals",
        folders,
        show=show,
        rows_shown=rows,
        waiting=len(waiting),
        last=decided[:_LAST] if show == "waiting" else (),
        chosen=chosen,
        folder=next((each.path for each in folders), ""),
        blocks_of_chosen=await queue.proposal(chosen) if chosen else (),
        is_asked_for=chosen_id is not None,
        may_decide=may_decide(person.user),
    )
