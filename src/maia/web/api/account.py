"""Everybody's own account: their name, their password, and where they are signed in."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import StringConstraints
from starlette.requests import Request
from starlette.responses import Response

from maia.core.jsonvalue import JsonObject
from maia.web.api.body import Body
from maia.web.drawing.clock import moment
from maia.web.entry.auth import AtDesk, SignedIn
from maia.workspace.records import SignIn

router = APIRouter(prefix="/session", tags=["session"])
Password = Annotated[str, StringConstraints(max_length=5000)]


class OwnName(Body):
    name: Annotated[str, StringConstraints(max_length=1000)]


class NewPassword(Body):
    current: Password
    password: Password


@router.patch("/name")
async def rename(desk: AtDesk, person: SignedIn, body: OwnName) -> JsonObject:
    """Another name."""
    return {"name": await desk.workspace.people.rename(person.user, body.name)}


@router.put("/password", status_code=204)
async def set_password(request: Request, desk: AtDesk, person: SignedIn, body: NewPassword) -> Response:
    """Another password. The present one is asked for; all other browsers are signed out. 401 `wrong`, 429."""
    address = request.client.host if request.client else ""
    await desk.workspace.people.set_password(person.user, person.token, body.current, body.password, address)
    return Response(status_code=204)


@router.get("/sign-ins")
async def sign_ins(desk: AtDesk, person: SignedIn) -> JsonObject:
    """The browsers in which you are signed in, the last used first."""
    found = await desk.workspace.people.sign_ins(person.user, person.token)
    return {"signIns": [sign_in_json(each, is_this=is_this) for each, is_this in found]}


@router.delete("/sign-ins")
async def end_others(desk: AtDesk, person: SignedIn) -> JsonObject:
    """Sign out of all other browsers, at once."""
    return {"ended": await desk.workspace.people.end_others(person.user, person.token)}


@router.delete("/sign-ins/{sign_in_id}", status_code=204)
async def end_one(desk: AtDesk, person: SignedIn, sign_in_id: str) -> Response:
    """Sign out of one browser, at once."""
    await desk.workspace.people.end_sign_in(person.user, sign_in_id)
    return Response(status_code=204)


def sign_in_json(row: SignIn, *, is_this: bool) -> JsonObject:
    """One browser."""
    return {
        "id": row.id,
        "browser": row.browser,
        "createdAt": moment(row.created_at),
        "seenAt": moment(row.seen_at),
        "isThis": is_this,
    }
