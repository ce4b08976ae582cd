import asyncio
from pathlib import Path

import pytest
from sqlalchemy import text

from maia.core.events import Event, SessionStarted
from maia.database import users
from maia.database.address import database_url as url_of
from maia.database.conversations import conversation
from maia.database.database import Database
from maia.database.problems import DatabaseProblem
from maia.database.reading import reading
from maia.workspace.problems import Busy
from tests.web.test_sessions import turn, write_session
from tests.workspace.doubles import PlayedModels, PlayedWire, workspace_on


def test_a_session_of_somebody_elses_conversation_becomes_ones_own(database_url: str, tmp_path: Path) -> None:
    project = tmp_path / "project"

    async def story() -> None:
        async with workspace_on(database_url, tmp_path, PlayedModels(PlayedWire([]))) as (workspace, user):
            database: Database = workspace._database  # pyright: ignore[reportPrivateUsage] - no door makes people yet
            other = await database.write(lambda c: users.add_user(c, "max@example.org", "Max", "user", "hash", None))
            write_session(project, "one", *turn(1, "One"))
            mine = await workspace.sessions.open(user, str(project), "one", "en")
            events: list[Event] = [SessionStarted("two", str(project), "1", (), mine.conversation, 1)]
            write_session(project, "two", *events, *turn(1, "One"), *turn(2, "Two"))
            theirs = await workspace.sessions.open(other, str(project), "two", "en")
            assert (theirs.is_new, theirs.added) == (True, 2)
            listed = await workspace.sessions.listed(other, str(project))
            assert {each.name: each.conversation for each in listed} == {"one": None, "two": theirs.conversation}
            back = await workspace.sessions.open(user, str(project), "two", "en")
            assert (back.conversation, back.is_new, back.added) == (mine.conversation, False, 1)

    asyncio.run(story())


def test_nothing_is_added_while_an_answer_is_being_written(database_url: str, tmp_path: Path) -> None:
    project = tmp_path / "project"

    async def story() -> None:
        async with workspace_on(database_url, tmp_path, PlayedModels(PlayedWire([]))) as (workspace, user):
            database: Database = workspace._database  # pyright: ignore[reportPrivateUsage] - a state that passes quickly
            write_session(project, "one", *turn(1, "One"))
            opened = await workspace.sessions.open(user, str(project), "one", "en")
            write_session(project, "one", *turn(2, "Two"))
            running = text("UPDATE conversations SET status = 'running'")
            await database.write(lambda c: c.execute(running))
            with pytest.raises(Busy):
                await workspace.sessions.open(user, str(project), "one", "en")
            row = await workspace.conversation(user, opened.conversation)
            assert row.last_turn == 1

    asyncio.run(story())


def test_another_process_reads_beside_the_server_and_never_another_version(database_url: str, tmp_path: Path) -> None:
    url = url_of(database_url, tmp_path)

    async def story() -> None:
        async with workspace_on(database_url, tmp_path, PlayedModels(PlayedWire([]))) as (workspace, user):
            row = await workspace.create(user, "Beside", "en")
            with reading(url) as connection:
                found = conversation(connection, row.id)
                assert found is not None
                assert found.title == "Beside"
            with pytest.raises(DatabaseProblem), reading(url) as connection:
                connection.execute(text("UPDATE conversations SET title = 'x'"))
            database: Database = workspace._database  # pyright: ignore[reportPrivateUsage] - no door changes versions
            for version, key in (("0001", "database.older"), ("9999", "database.newer")):
                change = text(f"UPDATE alembic_version SET version_num = '{version}'")
                await database.write(lambda c, to=change: c.execute(to))
                with pytest.raises(DatabaseProblem) as told, reading(url):
                    pass
                assert told.value.key == key

    asyncio.run(story())
