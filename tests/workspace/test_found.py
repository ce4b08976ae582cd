"""What was said is found by its words, however the turn ends."""

import asyncio
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from sqlalchemy import Connection, select

from maia.core.events import TurnEnded
from maia.core.submission import Submission
from maia.database.search import holding, words_of
from maia.database.tables.conversations import CONVERSATIONS
from maia.workspace.log import TurnLog
from maia.workspace.workspace import Workspace
from tests.workspace.doubles import PlayedModels, PlayedWire, workspace_on
from tests.workspace.test_approvals import database_of
from tests.workspace.test_turns import until


async def found(workspace: Workspace, said: str, *, titles_only: bool) -> list[str]:
    def work(connection: Connection) -> list[str]:
        matches = holding(connection, words_of(said), titles_only=titles_only)
        return list(connection.execute(select(CONVERSATIONS.c.id).where(matches)).scalars())

    return await database_of(workspace).read(work)


def nothing(*_: object) -> None:
    pass


@pytest.mark.parametrize("is_killed", [False, True], ids=["ended", "killed before its first event was written"])
def test_a_message_is_found_by_its_words(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_killed: bool
) -> None:
    async def story() -> None:
        models = PlayedModels(PlayedWire(["Yes."]))
        async with workspace_on(database_url, tmp_path, models) as (workspace, user):
            row = await workspace.create(user, "", "en")
            with monkeypatch.context() as killed:
                if is_killed:
                    killed.setattr(TurnLog, "take", nothing)
                    killed.setattr(TurnLog, "written", AsyncMock())
                await workspace.submit(user, row, Submission("A xylophone"))
                if not is_killed:
                    await until(workspace, row, 0, TurnEnded)
                await workspace._turns.ended(row.id)  # pyright: ignore[reportPrivateUsage] - no door waits for it
        async with workspace_on(database_url, tmp_path, models) as (workspace, user):
            for titles_only in (False, True):
                assert await found(workspace, "Xylophone", titles_only=titles_only) == [row.id]

    asyncio.run(story())
