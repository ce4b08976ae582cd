"""The page Observability: what memory reached the models of each provider (R-2.127)."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse, Response

from maia.web.entry.auth import AtDesk, SignedIn
from maia.web.layout.frame import page_of

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

PERIODS: Final = (7, 30, 90)
"""Days (N-18.02)."""


@router.get("/observability")
async def observability_page(
    desk: AtDesk, person: SignedIn, days: Annotated[int, Query(ge=1, le=90)] = PERIODS[0]
) -> Response:
    """Providers beside each other, over the last days."""
    rows = await desk.workspace.memory_delivery(days)
    return await page_of(
        desk, person, "observability.html", "/observability", delivered=rows, days=days, periods=PERIODS
    )
