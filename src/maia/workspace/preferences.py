"""Settings of the whole installation that a person may change: their names, what they may be, and who may (N-19)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlalchemy import Connection

from maia.core.jsonvalue import JsonObject, JsonValue
from maia.database import settings
from maia.database.database import Database
from maia.database.users import User
from maia.workspace.problems import NotAllowed, Unusable
from maia.workspace.remembering.briefing import BUDGET_SETTING
from maia.workspace.remembering.moment import TIMEZONE, known_zone

RETENTION: Final = "observability.contextRetentionDays"
PREFERENCES: Final[Mapping[str, Callable[[JsonValue], bool]]] = {
    TIMEZONE: lambda value: known_zone(value) is not None,
    BUDGET_SETTING: lambda value: _is_whole(value, 20_000),
    RETENTION: lambda value: _is_whole(value, 3_650),
}
"""What each may be; None is always what it is by default."""


def _is_whole(value: JsonValue, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


class Preferences:
    """The settings of this installation; for its owner and administrators."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self, user: User) -> JsonObject:
        """Each by its name, None where nobody set it. Raises `NotAllowed`."""
        _only_planners(user)
        return await self._database.read(lambda c: {name: settings.setting(c, name) for name in PREFERENCES})

    async def change(self, user: User, values: Mapping[str, JsonValue]) -> JsonObject:
        """Other values, all or none. Raises `NotAllowed`, `Unusable` for an unknown name or a value that cannot be."""
        _only_planners(user)
        for name, value in values.items():
            if name not in PREFERENCES or not (value is None or PREFERENCES[name](value)):
                raise Unusable("preferences.bad", name=name)

        def keep(connection: Connection) -> None:
            for name, value in values.items():
                settings.keep_setting(connection, name, value, user.id)

        await self._database.write(keep)
        return await self.all(user)


def _only_planners(user: User) -> None:
    if user.role not in ("owner", "admin"):
        raise NotAllowed("preferences.not_allowed")
