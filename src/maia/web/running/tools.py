"""The page of tools: what there is, what it does and how much harm it can do."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse, Response

from maia.web.api.tools import ToolQuery
from maia.web.drawing.autonomywords import ABOUT
from maia.web.drawing.names import common_name
from maia.web.entry.auth import AtDesk, SignedIn
from maia.web.layout.frame import page_of
from maia.workspace.autonomy.tools import chosen

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/tools")
async def tools_page(desk: AtDesk, person: SignedIn, query: Annotated[ToolQuery, Query()]) -> Response:
    """All tools, or those that were looked for."""
    rows = await asyncio.to_thread(desk.workspace.tools.all)
    found = chosen(rows, common_name, query.q, query.category, query.risk)
    kinds = {row.kind.category for row in rows}
    is_filtered = bool(query.q or query.category or query.risk)
    values = {"query": query, "kinds": kinds, "about": ABOUT, "all": len(rows), "is_filtered": is_filtered}
    return await page_of(desk, person, "tools.html", "/tools", (), tools=found, **values)
