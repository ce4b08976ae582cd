"""The page of approvals and autonomy: what waits for a decision, above the level of each category (N-07.01)."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from maia.web.entry.auth import AtDesk, Person, SignedIn
from maia.web.entry.desk import Desk
from maia.web.layout.frame import nav_parts, page_of, reader_of
from maia.web.layout.parts import LONGEST_SHOWN, Parts, follow, reached, shown_word
from maia.web.layout.stream import streamed
from maia.workspace.approvals import may_decide
from maia.workspace.autonomy.ruling import LEVELS

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
_LAST = 5
"""Decisions that stand below what waits."""

Show = Annotated[Literal["waiting", "decided"], Query()]


@router.get("/autonomy")
async def autonomy_page(desk: AtDesk, person: SignedIn, show: Show = "waiting") -> Response:
    """The queue, or what was decided, and the levels below it."""
    parts = await _draw(desk, person, show)
    return await page_of(
        desk,
        person,
        "autonomy.html",
        "/autonomy",
        show=show,
        parts=parts,
        shown=shown_word(parts),
        steps=LEVELS,
        may_decide=may_decide(person.user),
    )


@router.get("/ui/autonomy/stream")
async def stream(
    request: Request,
    desk: AtDesk,
    person: SignedIn,
    shown: Annotated[str, Query(max_length=LONGEST_SHOWN)] = "",
    show: Show = "waiting",
) -> Response:
    """What changes in the queue, whoever decides (N-07.10)."""

    async def draw() -> Parts:
        return {**await _draw(desk, person, show), **await nav_parts(desk, person, "/autonomy")}

    return streamed(desk, person, follow(desk, person, draw, reached(request, shown)))


@router.get("/approvals")
async def all_approvals(show: Show = "waiting") -> Response:
    """Where the queue stood before."""
    return RedirectResponse("/autonomy" if show == "waiting" else f"/autonomy?show={show}", 303)


async def _draw(desk: Desk, person: Person, show: str) -> Parts:
    queue = desk.workspace.approvals
    waiting = await queue.listed(person.user, decided=False)
    decided = await queue.listed(person.user, decided=True)
    pieces = reader_of(desk, person).pieces("queue.html")
    may, reader = may_decide(person.user), person.user.id
    if show == "decided":
        queued = pieces.decisions(decided, reader)
    else:
        queued = pieces.queue(waiting, decided[:_LAST], may, reader)
    levels = reader_of(desk, person).pieces("levels.html").listing(await desk.workspace.levels.all(), LEVELS, may)
    return {"queue-views": pieces.views(show, len(waiting)), "queue": queued, "levels-list": levels}
