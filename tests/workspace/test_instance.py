"""What an installation is before anybody did anything, and what it forgets by itself."""

import asyncio
from pathlib import Path

from sqlalchemy import Connection, update

from maia.database.ids import now_ms
from maia.database.tables.conversations import COMPOSITIONS, FOLDERS
from tests.workspace.doubles import PlayedModels, PlayedWire, workspace_on
from tests.workspace.test_approvals import database_of, turn

DAY_MS = 86_400_000


def backdate(connection: Connection, turn: int, moment: int) -> None:
    connection.execute(update(COMPOSITIONS).where(COMPOSITIONS.c.turn == turn).values(created_at=moment))


def test_a_new_installation_brings_no_folder_along(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        async with workspace_on(database_url, tmp_path, PlayedModels(PlayedWire([]))) as (workspace, user):
            assert await database_of(workspace).read(lambda c: c.execute(FOLDERS.select()).all()) == []
            project = await workspace.planning.add("projects", {"name": "Taxes"})
            row = await workspace.create(user, "", "en", fields={"projectId": project})
            (only,) = await workspace.folders(row)
            assert only.is_workspace

    asyncio.run(story())


def test_a_nul_in_what_a_kind_of_project_tells_is_kept_as_a_mark(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        async with workspace_on(database_url, tmp_path, PlayedModels(PlayedWire([]))) as (workspace, _):
            made = await workspace.planning.add("types", {"name": "Kind", "prompt": "a\x00b"})
            _, types, _ = await workspace.planning.all()
            assert [each.prompt for each in types if each.id == made] == ["a\ufffdb"]

    asyncio.run(story())


def test_what_a_turn_received_is_kept_for_seven_days(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        models = PlayedModels(PlayedWire(["Yes."]))
        async with workspace_on(database_url, tmp_path, models) as (workspace, user):
            row = await workspace.create(user, "", "en")
            for age in (7.1, 6.9):
                await turn(workspace, user, row)
                row = await workspace.conversation(user, row.id)
                then = now_ms() - int(age * DAY_MS)
                last = (await workspace.composed(row))[0]
                await database_of(workspace).write(lambda c, last=last, then=then: backdate(c, last, then))
            assert len(await workspace.composed(row)) == 2
        async with workspace_on(database_url, tmp_path, models) as (workspace, user):
            left = list(await workspace.composed(row))
            for _ in range(1000):
                if left == [2]:
                    break
                await asyncio.sleep(0.01)
                left = list(await workspace.composed(row))
            assert left == [2]

    asyncio.run(story())
