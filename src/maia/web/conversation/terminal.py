"""The page of terminal sessions: those of a folder, opened here, and how a conversation goes on in a terminal."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse, Response

from maia.core.errors import MaiaError
from maia.core.text import visible
from maia.web.entry.auth import AtDesk, SignedIn
from maia.web.entry.failures import status_of
from maia.web.layout.frame import page_of
from maia.workspace.sessions import Listed

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
_SHOWN = 200


@router.get("/terminal")
async def terminal(desk: AtDesk, person: SignedIn, folder: Annotated[str, Query(max_length=4_096)] = "") -> Response:
    """The sessions of a folder, where one is named; the folders that this person works in, to choose from."""
    found: list[Listed] = []
    refused: MaiaError | None = None
    if folder.strip():
        try:
            found = [*await desk.workspace.sessions.listed(person.user, folder.strip())]
        except MaiaError as error:
            refused = error
    page = await page_of(
        desk,
        person,
        "terminal.html",
        "/terminal",
        folder=folder.strip(),
        known=await desk.workspace.sessions.folders(person.user),
        sessions=found[:_SHOWN],
        more=max(0, len(found) - _SHOWN),
        problem=visible(person.say(refused.key, **refused.values)) if refused is not None else "",
    )
    page.status_code = status_of(refused) if refused is not None else 200
    return page
