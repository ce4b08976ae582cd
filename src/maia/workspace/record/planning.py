"""What work is sorted by: projects, their types, and the stages that all of them share (N-14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import Connection, Table

from maia.core.text import kept_name
from maia.database import projects, settings
from maia.database.database import Database
from maia.database.ids import now_ms
from maia.database.projects import Project, ProjectType, Stage
from maia.database.tables.conversations import PROJECT_TYPES, PROJECTS, STAGES
from maia.database.users import User
from maia.workspace.news import News
from maia.workspace.problems import NotThere, Unusable
from maia.workspace.remembering.briefing import MASTER

Kind: TypeAlias = Literal["projects", "types", "stages"]
LONGEST_NAME = 100
_TABLES: Mapping[Kind, Table] = {"projects": PROJECTS, "types": PROJECT_TYPES, "stages": STAGES}
_NOT_MADE = "stages"
"""The setting that tells whether the first stages were made: who deletes them all does not get them again."""
FIRST_STAGES: Final = ("todo", "doing", "review", "done")
"""Their keys below `planning.first.` of the catalogue."""


class Planning:
    """Projects, types and stages; the same for all people of this installation."""

    def __init__(self, database: Database, news: News) -> None:
        self._database = database
        self._news = news

    async def begin(self, names: Sequence[str]) -> None:
        """On a new installation: stages of these names, in the language of its owner, the last one closed."""

        def work(connection: Connection) -> None:
            if settings.setting(connection, _NOT_MADE) is None:
                for n, name in enumerate(names, 1):
                    projects.add(connection, STAGES, {"name": name, "is_closed": n == len(names)})
                settings.keep_setting(connection, _NOT_MADE, "made")

        await self._database.write(work)

    async def all(self) -> tuple[Sequence[Project], Sequence[ProjectType], Sequence[Stage]]:
        """Projects by name, types and stages in their order."""
        return await self._database.read(
            lambda c: (projects.projects(c), projects.project_types(c), projects.stages(c))
        )

    async def project(self, project_id: str) -> Project:
        """One project. Raises `NotThere`."""
        found = await self._database.read(lambda c: projects.project(c, project_id))
        if found is None or found.archived_at is not None:
            raise NotThere("planning.not_found")
        return found

    async def master(self) -> str:
        """What is told in all conversations of this workspace (N-12.01)."""
        kept = await self._database.read(lambda c: settings.setting(c, MASTER))
        return kept if isinstance(kept, str) else ""

    async def set_master(self, by: User, prompt: str) -> None:
        """Other words for all conversations, from their next turn on; none of them where it is empty."""
        clean = prompt.strip().replace("\x00", "\ufffd")

        def work(connection: Connection) -> None:
            settings.keep_setting(connection, MASTER, clean or None, by.id)
            settings.note_act(connection, MASTER, by=by.id, details={"chars": len(clean)})

        await self._database.write(work)
        self._news.tell()

    async def add(self, kind: Kind, values: Mapping[str, Any]) -> str:
        """A new one; its id. Raises `Unusable` for a name that cannot be, or a type that there is not."""
        clean = _checked(values)
        made = await self._database.write(lambda c: projects.add(c, _TABLES[kind], _known(c, clean)))
        self._news.tell()
        return made

    async def change(self, kind: Kind, row_id: str, values: Mapping[str, Any]) -> None:
        """Other values. Raises `NotThere`, `Unusable`."""
        clean = _checked(values)
        if not await self._database.write(lambda c: projects.change(c, _TABLES[kind], row_id, _known(c, clean))):
            raise NotThere("planning.not_found")
        self._news.tell()

    async def remove(self, kind: Kind, row_id: str) -> None:
        """Take it away. Conversations stay: they keep an archived project, and have no stage any more."""

        def work(connection: Connection) -> bool:
            if kind == "projects":
                return projects.change(connection, PROJECTS, row_id, {"archived_at": now_ms()})
            return projects.remove(connection, _TABLES[kind], row_id)

        if not await self._database.write(work):
            raise NotThere("planning.not_found")
        self._news.tell()

    async def order(self, kind: Literal["types", "stages"], ids: Sequence[str]) -> None:
        """In this order from now on."""
        await self._database.write(lambda c: projects.put_in_order(c, _TABLES[kind], ids))
        self._news.tell()


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:
    clean = {name: each.replace("\x00", "\ufffd") if isinstance(each, str) else each for name, each in values.items()}
    if "name" in clean:
        clean["name"] = kept_name(clean["name"])
        if not clean["name"] or len(clean["name"]) > LONGEST_NAME:
            raise Unusable("planning.bad_name", limit=LONGEST_NAME)
    return clean


def _known(connection: Connection, values: dict[str, Any]) -> dict[str, Any]:
    kind = values.get("type_id")
    if kind is not None and kind not in {each.id for each in projects.project_types(connection)}:
        raise Unusable("planning.no_type")
    return values
