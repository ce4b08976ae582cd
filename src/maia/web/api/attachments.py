"""Files of conversations: sent up as plain bodies, listed, given back, removed (R-2.173, R-2.259)."""

from __future__ import annotations

from email.utils import formatdate
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Query
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response

from maia.core.jsonvalue import JsonObject
from maia.web.api.shapes import attachment_json
from maia.web.entry.auth import AtDesk, Owned, SignedIn
from maia.web.entry.desk import desk_of
from maia.workspace.problems import NotYours
from maia.workspace.records import AttachmentRow

router = APIRouter(tags=["attachments"])

SHOWN: Final = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp", "text/plain"))
"""Types that a browser may show by itself; everything else is only ever saved, HTML and SVG among it."""
_POLICY: Final = "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; sandbox"
"""Whatever a file turns out to be in a browser: it has no origin, runs nothing and reaches nobody."""
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post("/conversations/{conversation_id}/attachments", status_code=201, openapi_extra=_BODY)
async def upload(
    request: Request, desk: AtDesk, row: Owned, name: Annotated[str, Query(min_length=1, max_length=1000)]
) -> Response:
    """Send a file as it is, as the body; it waits for the next message. Its type is found by its content alone."""
    try:
        made = await desk.workspace.attachments.take_in(row, name, request.stream())
    except ClientDisconnect:  # nobody reads the answer; nothing was kept
        return Response(status_code=400)
    return JSONResponse(attachment_json(made), 201)


@router.get("/conversations/{conversation_id}/attachments")
async def list_attachments(desk: AtDesk, row: Owned) -> JsonObject:
    """All files of a conversation, oldest first: those that wait (`turn` is null), were sent, or a model wrote."""
    return {"attachments": [attachment_json(each) for each in await desk.workspace.attachments.of(row)]}


@router.get("/attachments/{attachment_id}")
async def get_attachment(desk: AtDesk, person: SignedIn, attachment_id: str) -> JsonObject:
    """What is known of one file."""
    return attachment_json(await desk.workspace.attachments.one(person.user, attachment_id))


@router.delete("/attachments/{attachment_id}", status_code=204)
async def remove_attachment(desk: AtDesk, person: SignedIn, attachment_id: str) -> None:
    """Remove a file that was not sent; one that was stays with its message (409)."""
    await desk.workspace.attachments.remove(person.user, attachment_id)


@router.get("/attachments/{attachment_id}/content", response_class=FileResponse)
async def content(request: Request, desk: AtDesk, person: SignedIn, attachment_id: str) -> Response:
    """The file itself, also in ranges. Pictures and plain text may be shown, everything else is saved."""
    row = await desk.workspace.attachments.one(person.user, attachment_id)
    shown = row.media_type in SHOWN
    media_type = row.media_type if shown else "application/octet-stream"
    if media_type == "text/plain":
        media_type = "text/plain; charset=utf-8"
    how = "inline" if shown else "attachment"
    return _served(request, row, row.digest, media_type, {"content-disposition": _named(how, row)})


@router.get("/attachments/{attachment_id}/thumbnail", response_class=FileResponse)
async def thumbnail(request: Request, desk: AtDesk, person: SignedIn, attachment_id: str) -> Response:
    """A small WebP of a picture, made anew from its pixels."""
    row = await desk.workspace.attachments.one(person.user, attachment_id)
    if row.thumbnail_digest is None:
        raise NotYours("files.not_found")
    return _served(request, row, row.thumbnail_digest, "image/webp", {})


def _served(request: Request, row: AttachmentRow, digest: str, media_type: str, headers: dict[str, str]) -> Response:
    path = desk_of(request).workspace.attachments.path(digest)
    if not path.is_file():
        raise NotYours("files.not_found")
    own = {
        "content-security-policy": _POLICY,
        "cache-control": "private, no-cache",
        "etag": f'"{digest}"',
        # of the row: the same content may have been there for somebody else before
        "last-modified": formatdate(row.created_at / 1000, usegmt=True),
    }
    if request.headers.get("if-none-match") == own["etag"]:
        return Response(status_code=304, headers=own)
    return FileResponse(path, headers={**own, **headers}, media_type=media_type)


def _named(how: str, row: AttachmentRow) -> str:
    """The name for all browsers: plain letters, and the whole one beside them (RFC 6266)."""
    plain = row.name.encode("ascii", "replace").decode().replace('"', "_").replace("\\", "_").replace("?", "_")
    return f"{how}; filename=\"{plain}\"; filename*=UTF-8''{quote(row.name, safe='')}"
