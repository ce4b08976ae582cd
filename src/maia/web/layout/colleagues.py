"""The list of colleagues beside every page, and the way to the home thread with each (R-2.004)."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import HTMLResponse, RedirectResponse, Response

from maia.web.entry.auth import AtDesk, Person, SignedIn
from maia.web.entry.desk import Desk
from maia.workspace.people.rights import may

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/colleagues/{name}")
async def open_colleague(desk: AtDesk, person: SignedIn, name: str) -> Response:
    """To the home thread with a colleague, which is made at the first opening."""
    home = await desk.workspace.home_thread(person.user, name, person.lang)
    return RedirectResponse(f"/conversations/{home.id}", 303)


@dataclass(frozen=True, slots=True)
class Listed:
    """A colleague in the list; `href` is the place of the home thread, and `is_running` tells of that."""

    nickname: str
    avatar: str
    description: str
    href: str
    is_running: bool


async def colleagues_of(desk: Desk, person: Person) -> list[Listed]:
    """The list «Collègues» for a person; for who may only read, those with whom they have a home thread already."""
    found = await desk.workspace.staff.colleagues()
    homes = await desk.workspace.staff.homes(person.user) if found else ()
    at = {each.agent: each for each in homes}
    return [
        Listed(
            each.nickname,
            each.definition.avatar,
            each.description,
            f"/conversations/{at[each.name].id}" if each.name in at else f"/colleagues/{each.name}",
            each.name in at and at[each.name].is_running,
        )
        for each in found
        if each.name in at or may(person.user, "chat")
    ]
