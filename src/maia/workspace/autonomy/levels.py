"""The level of each category, as the owner or an administrator set it; Notice where nobody did (N-07.02, N-07.03)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from sqlalchemy import Connection

from maia.database import autonomy
from maia.database.database import Database
from maia.database.settings import note_act
from maia.database.users import User
from maia.workspace.autonomy.categories import LEVELLED, Category
from maia.workspace.autonomy.ruling import LEVELS, NOTICE, Level, may_rise
from maia.workspace.news import News
from maia.workspace.people.rights import may
from maia.workspace.problems import NotAllowed, NotThere, Unfit

CHANGED = "level.changed"


@dataclass(frozen=True, slots=True)
class Standing:
    """One category with its level, and who set it when; `is_locked` where it cannot rise."""

    category: Category
    level: Level
    is_locked: bool
    changed_at: int | None = None
    changed_by: str | None = None


class Levels:
    """All levels of this installation."""

    def __init__(self, database: Database, news: News) -> None:
        self._database = database
        self._news = news

    async def all(self) -> list[Standing]:
        """Each category in its order. What was stored for one that is locked by now does not count."""
        kept = {each.category: each for each in await self._database.read(autonomy.levels)}
        found: list[Standing] = []
        for category in LEVELLED:
            row = kept.get(category)
            locked = not may_rise(category)
            level = NOTICE if row is None or locked else _level(row.level)
            found.append(
                Standing(category, level, locked, row.changed_at if row else None, row.changed_by if row else None)
            )
        return found

    async def of(self, category: Category) -> Level:
        """The level of one category."""
        found: Mapping[Category, Level] = {each.category: each.level for each in await self.all()}
        return found.get(category, 1)

    async def change(self, user: User, category: str, level: int) -> None:
        """Give a category another level, from the next call on.

        Raises `NotAllowed` without the right to decide, `NotThere` for an unknown category, `Unfit` with the code
        `autonomy_locked` where it cannot rise, and `bad_level` for a number that is none.
        """
        if not may(user, "approve"):
            raise NotAllowed("autonomy.not_allowed")
        if category not in LEVELLED:
            raise NotThere("autonomy.no_category")
        if level not in LEVELS:
            raise Unfit("bad_level", "autonomy.bad_level")
        known = cast(Category, category)
        if level != NOTICE and not may_rise(known):
            raise Unfit("autonomy_locked", "autonomy.locked")

        def keep(connection: Connection) -> None:
            before = next((each.level for each in autonomy.levels(connection) if each.category == category), NOTICE)
            if before == level:
                return
            autonomy.keep_level(connection, category, level, user.id)
            details = {"category": category, "from": before, "to": level}
            note_act(connection, CHANGED, by=user.id, details=details)

        await self._database.write(keep)
        self._news.tell()


def _level(stored: int) -> Level:
    known: Mapping[int, Level] = {level: level for level in LEVELS}
    return known.get(stored, 1)
