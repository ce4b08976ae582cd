"""The pages about people: everybody and their rights, the audit, one's own account, and joining by a link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from maia.core.errors import MaiaError
from maia.core.text import visible
from maia.web.drawing.acts import ActWords
from maia.web.drawing.words import Sign
from maia.web.entry.auth import AtDesk, SignedIn
from maia.web.entry.browsers import browser_name
from maia.web.entry.cookies import set_cookies
from maia.web.entry.failures import status_of
from maia.web.entry.forms import form_of
from maia.web.entry.strangers import error_page, stranger, stranger_page
from maia.web.layout.frame import page_of
from maia.web.layout.places import place_of
from maia.workspace.people.people import LINK_DAYS, LISTED
from maia.workspace.people.rights import RIGHTS, Right, may_manage
from maia.workspace.records import ROLES, Member, Role, Standing

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
open_router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

STANDINGS: Final[Mapping[Standing, Sign]] = {
    "active": Sign("check", "muted", "people.standing.active"),
    "invited": Sign("clock", "info", "people.standing.invited"),
    "archived": Sign("idle", "muted", "people.standing.archived"),
}
ROLE_WORDS: Final[Mapping[Role, str]] = {
    "owner": "people.role.owner",
    "admin": "people.role.admin",
    "user": "people.role.user",
    "guest": "people.role.guest",
}
RIGHT_WORDS: Final[Mapping[Right, str]] = {
    "chat": "people.right.chat",
    "approve": "people.right.approve",
    "models": "people.right.models",
    "agents": "people.right.agents",
    "opencode": "people.right.opencode",
    "planning": "people.right.planning",
    "privacy_read": "people.right.privacy_read",
    "privacy": "people.right.privacy",
    "users": "people.right.users",
    "audit": "people.right.audit",
}


@router.get("/users")
async def everybody(desk: AtDesk, person: SignedIn) -> Response:
    """Everybody, inviting somebody, and who may do what."""
    rows = await desk.workspace.people.all(person.user)

    def managed(row: Member) -> bool:
        return not row.is_first and row.user.id != person.user.id and may_manage(person.user, row.user.role)

    return await page_of(
        desk,
        person,
        "users.html",
        "/users",
        members=rows,
        managed={row.user.id for row in rows if managed(row)},
        given=[role for role in ROLES if may_manage(person.user, role)],
        roles=ROLE_WORDS,
        standings=STANDINGS,
        link_days=LINK_DAYS,
        rights=[(RIGHT_WORDS[right], roles) for right, roles in RIGHTS.items()],
    )


@router.get("/audit")
async def the_audit(desk: AtDesk, person: SignedIn, before: Annotated[str, Query(max_length=80)] = "") -> Response:
    """What was done here, the newest first."""
    acts = await desk.workspace.people.acts(person.user, place_of(before))
    earlier = f"{acts[-1].at}-{acts[-1].id}" if len(acts) == LISTED else ""
    names = {row.user.id: row.user.name for row in await desk.workspace.people.all(person.user)}
    words = ActWords(person.say, names, desk.workspace.models.name_of)
    told = [(each, words.told(each)) for each in acts]
    return await page_of(desk, person, "audit.html", "/users", acts=told, earlier=earlier, before=before)


@router.get("/account")
async def own_account(desk: AtDesk, person: SignedIn) -> Response:
    """One's own name, password and sign-ins."""
    found = await desk.workspace.people.sign_ins(person.user, person.token)
    named = [(each, is_this, browser_name(each.browser)) for each, is_this in found]
    return await page_of(desk, person, "account.html", "/account", sign_ins=named, roles=ROLE_WORDS)


# Joining -------------------------------------------------------------------------------------------------------------


@open_router.get("/join")
async def join_page(request: Request, desk: AtDesk, token: Annotated[str, Query(max_length=200)] = "") -> Response:
    """Where somebody who was invited sets a password."""
    user = await desk.workspace.people.invited(token)
    if user is None:
        return error_page(request, 410, stranger(request).say("people.link_over"))
    return stranger_page(request, "join.html", token=token, user=user, problem="")


@open_router.post("/join")
async def join(request: Request, desk: AtDesk) -> Response:
    """Set it, and be signed in from here on."""
    form = await form_of(request)
    token = form.get("token", "")
    try:
        signed = await desk.workspace.people.join(
            token, form.get("password", ""), request.headers.get("user-agent", "")
        )
    except MaiaError as error:
        words = visible(stranger(request).say(error.key, **error.values))
        user = await desk.workspace.people.invited(token)
        if user is None:
            return error_page(request, status_of(error), words)
        return stranger_page(request, "join.html", status_of(error), token=token, user=user, problem=words)
    answer = RedirectResponse("/", 303)
    set_cookies(answer, request, desk, signed)
    return answer
