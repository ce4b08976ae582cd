"""The panel of what a turn's model received: sections with sizes and badges, and the text of one (R-2.086–R-2.113)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse, Response

from maia.web.entry.auth import AtDesk, Owned, SignedIn
from maia.web.layout.frame import page_of
from maia.web.layout.stream import LARGEST

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/conversations/{conversation_id}/context")
async def context_panel(
    desk: AtDesk,
    person: SignedIn,
    row: Owned,
    turn: Annotated[int | None, Query(ge=1, le=LARGEST)] = None,
    section: Annotated[int, Query(ge=1, le=LARGEST)] = 1,
    sent: Annotated[bool, Query(strict=False)] = False,
) -> Response:
    """One turn, the last one that is kept unless named, with one of its sections opened."""
    kept = await desk.workspace.composed(row)
    number = turn or (kept[0] if kept else row.last_turn)
    found = await desk.workspace.composition(row, number)
    sections = found.sections if found else ()
    chosen = sections[min(section, len(sections)) - 1] if sections else None
    return await page_of(
        desk,
        person,
        "context.html",
        f"/conversations/{row.id}",
        row=row,
        turn=number,
        newer=min((each for each in kept if each > number), default=None),
        older=max((each for each in kept if each < number), default=None),
        found=found,
        chosen=chosen,
        place=sections.index(chosen) + 1 if chosen else 0,
        largest=max((each.tokens for each in sections), default=1),
        as_sent=sent and chosen is not None and chosen.sent is not None,
    )
