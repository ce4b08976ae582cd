"""The pages: a conversation, signing in, the first run."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from maia.core.errors import MaiaError
from maia.core.text import visible
from maia.web.conversation.bar import bar_of
from maia.web.conversation.beside import beside, until_back
from maia.web.conversation.children import below_of
from maia.web.conversation.history import history_of
from maia.web.conversation.live import pieces
from maia.web.conversation.rail import TABS
from maia.web.drawing.folding import fold
from maia.web.drawing.progress import progress_of
from maia.web.entry.auth import AtDesk, Owned, SignedIn, owned
from maia.web.entry.cookies import device_of, set_cookies
from maia.web.entry.failures import status_of
from maia.web.entry.forms import form_of
from maia.web.entry.strangers import LONGEST_PLACE, NO_STORE, inside, signin_page, stranger, stranger_page
from maia.web.layout.frame import page_of, reader_of
from maia.web.layout.stream import LARGEST, merged, streamed
from maia.workspace.approvals import may_decide
from maia.workspace.people.rights import may
from maia.workspace.record.planning import FIRST_STAGES
from maia.workspace.records import ConversationRow

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
open_router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
TURNS = 25


@router.get("/conversations/{conversation_id}")
async def conversation(desk: AtDesk, person: SignedIn, row: Owned) -> Response:
    """A conversation with its last turns; its stream goes on where the page ends (R-2.003)."""
    news = desk.workspace.boards.number
    shown = await desk.workspace.page(row, TURNS)
    cursor = shown.logged[-1].seq if shown.logged else shown.row.last_seq
    turns = [each.view() for each in fold(shown.logged)]
    bar = await bar_of(desk, person, shown.row)
    return await page_of(
        desk,
        person,
        "conversation.html",
        f"/conversations/{row.id}",
        bar.folders,
        row=shown.row,
        turns=turns,
        earlier=shown.earlier,
        cursor=cursor,
        news=news,
        may_decide=may_decide(person.user),
        may_open_terminal=may(person.user, "opencode"),
        bar=bar,
        tabs=TABS,
        history=await history_of(desk, person, row, None),
        progress=progress_of(turns[-1]) if turns else None,
        below=await below_of(desk, row),
    )


@router.get("/ui/conversations/{conversation_id}/turns")
async def earlier_turns(
    desk: AtDesk, person: SignedIn, row: Owned, before: Annotated[int, Query(ge=2, le=LARGEST)]
) -> Response:
    """The turns before those that a page shows."""
    shown = await desk.workspace.page(row, TURNS, before)
    turns = [each.view() for each in fold(shown.logged)]
    html = reader_of(desk, person, await desk.workspace.folders(row)).draw(
        "earlier.html", row=row, turns=turns, earlier=shown.earlier, author=person.user.name
    )
    return HTMLResponse(html, headers=NO_STORE)


async def _asked(
    request: Request, person: SignedIn, conversation: Annotated[str, Query(max_length=60)]
) -> ConversationRow:
    return await owned(request, conversation, person)


@router.get("/ui/stream")
async def stream(
    request: Request,
    desk: AtDesk,
    person: SignedIn,
    row: Annotated[ConversationRow, Depends(_asked)],
    cursor: Annotated[int, Query(ge=0, le=LARGEST)] = 0,
    news: Annotated[int, Query(ge=0, le=LARGEST)] = 0,
) -> Response:
    """What changes on a conversation's page, as it changes."""
    last = request.headers.get("last-event-id", "")
    reached = int(last) if last.isascii() and last.isdigit() and len(last) < 16 else cursor
    desk.workspace.warm(row)
    told = pieces(desk, person, reader_of(desk, person, await desk.workspace.folders(row)), row, reached)
    return streamed(desk, person, merged(told, beside(desk, person, row, news)))


@router.get("/ui/back")
async def back(desk: AtDesk, person: SignedIn, conversation: Annotated[str, Query(max_length=60)]) -> Response:
    """Tells a page whose conversation is gone that it is there again."""
    return streamed(desk, person, until_back(desk, person, conversation))


# Signing in ----------------------------------------------------------------------------------------------------------


@open_router.get("/signin")
async def sign_in_page(
    request: Request, where: Annotated[str, Query(alias="next", max_length=LONGEST_PLACE)] = "/"
) -> Response:
    """Where somebody who is not signed in is led."""
    return signin_page(request, where=inside(where))


@open_router.post("/signin")
async def sign_in(request: Request, desk: AtDesk) -> Response:
    """Sign in by the form."""
    form = await form_of(request)
    email, where = form.get("email", ""), inside(form.get("next", "/"))
    address = request.client.host if request.client else ""
    try:
        signed = await desk.workspace.accounts.sign_in(
            email, form.get("password", ""), address, request.headers.get("user-agent", ""), device_of(request, desk)
        )
    except MaiaError as error:
        words = visible(stranger(request).say(error.key, **error.values))
        return signin_page(request, status_of(error), where=where, email=email, problem=words)
    answer = RedirectResponse(where, 303)
    set_cookies(answer, request, desk, signed)
    return answer


@open_router.get("/first-run")
async def first_run_page(request: Request, desk: AtDesk, token: Annotated[str, Query(max_length=200)] = "") -> Response:
    """Where the first owner is made, with the token that the server printed."""
    if not desk.workspace.accounts.is_first_run(token):
        return RedirectResponse("/signin", 303)
    return stranger_page(request, "first.html", token=token, name="", email="", problem="")


@open_router.post("/first-run")
async def first_run(request: Request, desk: AtDesk) -> Response:
    """Make the first owner, who is signed in from here on."""
    form = await form_of(request)
    token, name, email = form.get("token", ""), form.get("name", ""), form.get("email", "")
    try:
        user = await desk.workspace.accounts.make_owner(token, name, email, form.get("password", ""), None)
    except MaiaError as error:
        words = visible(stranger(request).say(error.key, **error.values))
        return stranger_page(
            request, "first.html", status_of(error), token=token, name=name, email=email, problem=words
        )
    say = stranger(request).say
    await desk.workspace.planning.begin([say(f"planning.first.{name}") for name in FIRST_STAGES])
    signed = await desk.workspace.accounts.admit(user, request.headers.get("user-agent", ""))
    answer = RedirectResponse("/", 303)
    set_cookies(answer, request, desk, signed)
    return answer
