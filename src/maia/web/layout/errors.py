"""The page of an error: with the navigation where somebody is signed in."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from maia.core.errors import MaiaError
from maia.web.entry.auth import NotSignedIn, reader
from maia.web.entry.desk import desk_of
from maia.web.entry.strangers import error_page, next_step
from maia.web.layout.frame import page_of
from maia.workspace.problems import StorageError


async def failed_page(request: Request, status: int, words: str) -> Response:
    """What went wrong, in the words of its reader. A page of this kind never fails itself: the bare one is left."""
    try:
        person = await reader(request)
        step = next_step(person.say, status)
        page = await page_of(desk_of(request), person, "errorinside.html", "", (), words=words, **step)
    except (NotSignedIn, MaiaError, StorageError):
        return error_page(request, status, words)
    page.status_code = status
    return page
