"""What a page about the installation stands on, as a short mark: another one says that the page shows what was."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Final, TypeAlias

from maia.core.errors import MaiaError
from maia.web.entry.auth import Person
from maia.web.entry.desk import Desk
from maia.workspace.privacy import mark_of

_Mark: TypeAlias = Callable[[Desk, Person, str], Awaitable[str]]


async def mark_of_page(desk: Desk, person: Person, path: str) -> str:
    """The mark of the page at that path; empty where it has none, or its reader may not see it."""
    _, name, rest = (*path.split("/", 2), "", "")[:3]
    mark = _MARKS.get(name)
    if mark is None:
        return ""
    try:
        return await mark(desk, person, rest.partition("/")[0])
    except MaiaError:
        return ""


async def _policy(desk: Desk, person: Person, _rest: str) -> str:
    return f'"{mark_of(await desk.workspace.privacy.shown(person.user))}"'


async def _agents(desk: Desk, person: Person, agent_id: str) -> str:
    if agent_id:
        return (await desk.workspace.definitions.one(person.user, agent_id)).revision
    found = await desk.workspace.definitions.all(person.user)
    told = repr([(each.id, each.colleague.definition if each.colleague else None) for each in found])
    return sha256(told.encode("utf-8", "replace")).hexdigest()[:16]


async def _refusals(desk: Desk, person: Person, _rest: str) -> str:
    newest = next(iter(await desk.workspace.security.denials(person.user)), None)
    return "none" if newest is None else newest.id


_MARKS: Final[dict[str, _Mark]] = {"privacy": _policy, "agents": _agents, "security": _refusals}
