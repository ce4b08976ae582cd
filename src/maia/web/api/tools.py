"""All tools of the product, read only: a row grants nothing (N-08.01, N-08.02)."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import StringConstraints

from maia.core.jsonvalue import JsonObject
from maia.web.api.body import Body
from maia.web.drawing.names import common_name
from maia.web.entry.auth import AtDesk
from maia.workspace.autonomy.categories import Category
from maia.workspace.autonomy.tools import ToolRow, chosen

router = APIRouter(prefix="/tools", tags=["tools"])


class ToolQuery(Body):
    q: Annotated[str, StringConstraints(max_length=200)] = ""
    category: Category | Literal[""] = ""
    risk: Literal["green", "yellow", "red", ""] = ""


@router.get("")
async def list_tools(desk: AtDesk, query: Annotated[ToolQuery, Query()]) -> JsonObject:
    """Each tool with its input schema; `asks` where a call waits for somebody unless a rule allows it."""
    rows = await asyncio.to_thread(desk.workspace.tools.all)
    found = chosen(rows, common_name, query.q, query.category, query.risk)
    return {"tools": [tool_json(row) for row in found]}


def tool_json(row: ToolRow) -> JsonObject:
    """A tool under its common name; `rule` is the name that permission rules use."""
    return {
        "id": common_name(row.name),
        "rule": row.name,
        "description": row.description,
        "category": row.kind.category,
        "risk": row.kind.risk,
        "asks": row.kind.asks,
        "inputSchema": row.schema,
    }
