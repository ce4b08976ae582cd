"""Whether work may begin in somebody's name while they are away: runs in the background, cards, resumed ones."""

from __future__ import annotations

from maia.core.text import visible
from maia.database import people
from maia.database.database import Database
from maia.workspace.people.rights import may
from maia.workspace.problems import NotAllowed


async def must_work_here(database: Database, user_id: str) -> None:
    """Raises `NotAllowed` where that person was switched off, or may only read by now (N-20.02)."""
    found = await database.read(lambda c: people.member(c, user_id))
    if found is None or found.standing == "archived" or not may(found.user, "chat"):
        raise NotAllowed("people.works_no_more", name=visible(found.user.name) if found is not None else "?")
