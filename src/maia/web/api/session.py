"""Signing in and out, and who is signed in."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from maia.core.jsonvalue import JsonObject
from maia.web.api.shapes import Credentials, Preferences
from maia.web.entry.auth import AtDesk, Person, SignedIn
from maia.web.entry.cookies import device_of, drop_cookie, set_cookies
from maia.workspace.people.accounts import csrf_token

router = APIRouter(prefix="/session", tags=["session"])
open_router = APIRouter(prefix="/session", tags=["session"])


@open_router.post("", status_code=201)
async def sign_in(request: Request, desk: AtDesk, body: Credentials) -> Response:
    """Sign in: a cookie, and the token that goes as `X-CSRF-Token` with everything that changes something."""
    address = request.client.host if request.client else ""
    browser = request.headers.get("user-agent", "")
    signed = await desk.workspace.accounts.sign_in(
        body.email, body.password, address, browser, device_of(request, desk)
    )
    answer = JSONResponse(
        {"csrf": csrf_token(signed.token), "user": {"id": signed.user.id, "name": signed.user.name}}, 201
    )
    set_cookies(answer, request, desk, signed)
    return answer


@router.get("")
async def who_am_i(person: SignedIn) -> JsonObject:
    """Who is signed in."""
    return _me(person)


@router.delete("", status_code=204)
async def sign_out(desk: AtDesk, person: SignedIn) -> Response:
    """Sign out of this browser."""
    await desk.workspace.accounts.sign_out(person.token)
    answer = Response(status_code=204)
    drop_cookie(answer, desk)
    return answer


@router.patch("/preferences")
async def prefer(desk: AtDesk, person: SignedIn, body: Preferences) -> JsonObject:
    """Language, theme and density; null is what the browser says."""
    return await desk.workspace.accounts.prefer(person.user, body.model_dump(exclude_unset=True))


def _me(person: Person) -> JsonObject:
    user = person.user
    return {
        "id": user.id,
        "name": user.name,
        "email": user.email,
        "role": user.role,
        "lang": person.lang,
        "csrf": person.csrf,
        "preferences": user.preferences,
    }
