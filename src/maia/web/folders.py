"""The Folders tab: the named roots of a conversation, the first one primary (R-2.312–R-2.318, R-2.349)."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from maia.web.auth import AtDesk, Owned, SignedIn
from maia.web.frame import reader_of
from maia.web.strangers import NO_STORE

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/ui/conversations/{conversation_id}/rail/folders")
async def folders_panel(desk: AtDesk, person: SignedIn, row: Owned) -> Response:
    """The tab as it stands."""
    folders = await desk.workspace.folders(row)
    return HTMLResponse(reader_of(desk, person).draw("folders.html", row=row, folders=folders), headers=NO_STORE)
