"""Signing in elsewhere: to the provider, and back."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from maia.core.errors import MaiaError
from maia.core.text import visible
from maia.web.entry.auth import AtDesk
from maia.web.entry.cookies import binding_of, keep_binding, set_cookies
from maia.web.entry.desk import Desk
from maia.web.entry.failures import status_of
from maia.web.entry.strangers import LONGEST_PLACE, NO_STORE, inside, signin_page, stranger, stranger_page
from maia.workspace.people.oidc import RETURN, Oidc

open_router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


def _the(desk: Desk) -> Oidc:
    if desk.oidc is None:
        raise HTTPException(404)
    return desk.oidc


def _refused(request: Request, error: MaiaError) -> Response:
    words = visible(stranger(request).say(error.key, **error.values))
    return signin_page(request, status_of(error), problem=words)


@open_router.get("/signin/oidc")
async def begin(
    request: Request, desk: AtDesk, where: Annotated[str, Query(alias="next", max_length=LONGEST_PLACE)] = "/"
) -> Response:
    """Send this browser to the provider."""
    public = desk.public or f"{request.url.scheme}://{request.url.netloc}"
    try:
        asked = await _the(desk).begin(public, inside(where))
    except MaiaError as error:
        return _refused(request, error)
    answer = RedirectResponse(asked.url, 303, headers=NO_STORE)
    keep_binding(answer, request, desk, asked.binding)
    return answer


@open_router.get(RETURN)
async def end(request: Request, desk: AtDesk) -> Response:
    """It is back. A page of ours leads on: a browser that comes from elsewhere brings no strict cookie with it."""
    oidc = _the(desk)
    answer = {name: value[:4000] for name, value in request.query_params.items()}
    try:
        identity, where = await oidc.end(answer, binding_of(request, desk))
        signed = await desk.workspace.entering.admit(oidc.provider, identity, request.headers.get("user-agent", ""))
    except MaiaError as error:
        return _refused(request, error)
    page = stranger_page(request, "onward.html", where=inside(where))
    set_cookies(page, request, desk, signed)
    return page
