"""The Files tab of a conversation (R-2.297)."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from maia.web.entry.auth import AtDesk, Owned, SignedIn
from maia.web.entry.strangers import NO_STORE
from maia.web.layout.frame import reader_of
from maia.workspace.files.gathering import shown_files

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/ui/conversations/{conversation_id}/rail/files")
async def files_panel(desk: AtDesk, person: SignedIn, row: Owned) -> Response:
    """The tab as it stands, the newest first; of a file that a model wrote again, the last one."""
    found = shown_files(await desk.workspace.attachments.of(row))
    return HTMLResponse(reader_of(desk, person).draw("filelist.html", row=row, found=found), headers=NO_STORE)
