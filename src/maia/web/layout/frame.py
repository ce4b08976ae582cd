"""A whole page for somebody who is signed in: their words, their look, the navigation, what they did last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from maia.web.drawing.render import Reader
from maia.web.entry.auth import AtDesk, Person, SignedIn
from maia.web.entry.desk import Desk
from maia.web.entry.strangers import NO_STORE, Look
from maia.web.layout.colleagues import colleagues_of
from maia.web.layout.marks import mark_of_page
from maia.web.layout.nav import entries_for
from maia.web.layout.parts import follow, reached
from maia.web.layout.stream import streamed
from maia.workspace.people.rights import may
from maia.workspace.records import FolderRow

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
RECENT: Final = 12
"""Conversations that the finder offers; the navigation shows the first of them."""
_IN_NAV: Final = 7


def reader_of(desk: Desk, person: Person, folders: Sequence[FolderRow] = ()) -> Reader:
    """For whom pages and pieces are drawn; `folders` are those of the conversation that is."""
    roots = tuple(each.path for each in folders)
    rights = (may(person.user, "chat"), may(person.user, "models"))
    return Reader(person.say, person.lang, person.zone, desk.workspace.models.name_of, roots, *rights)


async def page_of(
    desk: Desk, person: Person, template: str, here: str, folders: Sequence[FolderRow] = (), **values: Any
) -> Response:
    """The page of a template; `here` is its place in the navigation."""
    given = person.user.preferences
    look = Look(str(given.get("theme", "")), str(given.get("density", "")))
    recent = await desk.workspace.conversations(person.user, _IN_NAV)
    counts = {"/autonomy": await desk.workspace.approvals.count(person.user)}
    beside: dict[str, Any] = {"nav": entries_for(person.user), "counts": counts, "recent": recent}
    beside |= {"staff": await colleagues_of(desk, person)}
    shared: dict[str, Any] = {"person": person, "look": look, "here": here, **beside}
    html = reader_of(desk, person, folders).draw(template, **shared, **values)
    return HTMLResponse(html, headers=NO_STORE)


@router.get("/ui/nav/stream")
async def nav_stream(
    request: Request, desk: AtDesk, person: SignedIn, here: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """What changes in the navigation, for pages without a stream of their own."""
    return streamed(desk, person, follow(desk, person, lambda: nav_parts(desk, person, here), reached(request, "")))


async def nav_parts(desk: Desk, person: Person, here: str) -> Mapping[str, str]:
    """What changes in the navigation, for a page that follows it."""
    rows = await desk.workspace.conversations(person.user, _IN_NAV)
    waiting = await desk.workspace.approvals.count(person.user)
    pieces = reader_of(desk, person).pieces("recent.html")
    parts = {"nav-recent": pieces.recent(rows, here), "count-autonomy": pieces.count("/autonomy", waiting)}
    mark = await mark_of_page(desk, person, here)
    return {**parts, "page-state": pieces.state(mark)} if mark else parts
