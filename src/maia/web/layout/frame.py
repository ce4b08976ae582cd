"""A whole page for somebody who is signed in: their words, their look, the navigation, what they did last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import HTMLResponse, Response

from maia.web.drawing.render import Reader
from maia.web.entry.auth import Person
from maia.web.entry.desk import Desk
from maia.web.entry.strangers import NO_STORE, Look
from maia.web.layout.colleagues import colleagues_of
from maia.web.layout.nav import entries_for

RECENT: Final = 12


def reader_of(desk: Desk, person: Person) -> Reader:
    """For whom pages and pieces are drawn."""
    return Reader(person.say, person.lang, person.zone, desk.workspace.models.name_of)


async def page_of(desk: Desk, person: Person, template: str, here: str, **values: Any) -> Response:
    """The page of a template; `here` is its place in the navigation."""
    given = person.user.preferences
    look = Look(str(given.get("theme", "")), str(given.get("density", "")))
    recent = await desk.workspace.conversations(person.user, RECENT)
    counts = {"/approvals": await desk.workspace.approvals.count(person.user)}
    beside: dict[str, Any] = {"nav": entries_for(person.user), "counts": counts, "recent": recent}
    beside["staff"] = await colleagues_of(desk, person)
    shared: dict[str, Any] = {"person": person, "look": look, "here": here, **beside}
    html = reader_of(desk, person).draw(template, **shared, **values)
    return HTMLResponse(html, headers=NO_STORE)


async def nav_parts(desk: Desk, person: Person, here: str) -> Mapping[str, str]:
    """What changes in the navigation, for a page that follows it."""
    rows = await desk.workspace.conversations(person.user, RECENT)
    waiting = await desk.workspace.approvals.count(person.user)
    pieces = reader_of(desk, person).pieces("recent.html")
    return {"nav-recent": pieces.recent(rows, here), "count-approvals": pieces.count("/approvals", waiting)}
