import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, delete, insert

from maia.database import memories, settings, users
from maia.database.address import database_url as address_of
from maia.database.database import Database
from maia.database.known import MOST, Known
from maia.database.tables.memory import MEMORIES
from maia.database.tables.people import SETTINGS, USERS


@pytest.fixture
def database(database_url: str, tmp_path: Path) -> Iterator[Database]:
    opened = Database(address_of(database_url, tmp_path))
    yield opened
    opened.close()


class _Asked:
    """The value of one setting as `known` gives it, and how often it was really looked for."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.times = 0

    async def now(self) -> object:
        def work(connection: Connection) -> object:
            self.times += 1
            return settings.setting(connection, "a")

        return await self._database.known("a", (SETTINGS,), work)


def test_an_answer_is_kept_until_its_table_is_written(database: Database) -> None:
    async def go() -> None:
        asked = _Asked(database)
        assert [await asked.now(), await asked.now()] == [None, None]
        assert asked.times == 1
        for value in (1, 2):
            await database.write(lambda c, value=value: settings.keep_setting(c, "a", value))
            assert await asked.now() == value
        await database.write(lambda c: users.add_user(c, "l@example.org", "Léa", "owner", "a hash", None))
        assert (await asked.now(), asked.times) == (2, 3)

    asyncio.run(go())


def test_what_goes_along_with_a_deletion_is_heard(database: Database) -> None:
    async def go() -> None:
        user = await database.write(lambda c: users.add_user(c, "l@example.org", "Léa", "owner", "a hash", None))
        await database.write(lambda c: memories.add_note(c, user.id, {"text": "t"}))

        async def has_notes() -> bool:
            return await database.known("notes", (MEMORIES,), lambda c: memories.has_notes(c, user.id))

        assert await has_notes()
        await database.write(lambda c: c.execute(delete(USERS).where(USERS.c.id == user.id)))
        assert not await has_notes()

    asyncio.run(go())


def test_an_answer_that_was_looked_for_before_a_commit_is_not_kept_after_it(database: Database) -> None:
    async def go() -> None:
        may_commit = threading.Event()

        def write(connection: Connection) -> None:
            connection.execute(insert(SETTINGS).values(name="a", value=1, changed_at=1))
            may_commit.wait(10)

        asked, writing = _Asked(database), asyncio.ensure_future(database.write(write))
        await asyncio.sleep(0)
        assert await asked.now() is None
        may_commit.set()
        await writing
        assert await asked.now() == 1

    asyncio.run(go())


def test_a_write_that_failed_changes_no_answer(database: Database) -> None:
    async def go() -> None:
        def write(connection: Connection) -> None:
            settings.keep_setting(connection, "a", 1)
            raise ValueError("no")

        asked = _Asked(database)
        assert await asked.now() is None
        with pytest.raises(ValueError, match="no"):
            await database.write(write)
        assert await asked.now() is None
        await database.write(lambda c: settings.keep_setting(c, "a", 2))
        assert await asked.now() == 2

    asyncio.run(go())


def test_what_another_thread_commits_does_not_count_for_who_is_still_writing(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path}/known.db")
    known, has_written, may_commit = Known(engine), threading.Event(), threading.Event()
    SETTINGS.metadata.create_all(engine, [USERS, SETTINGS])

    def write() -> None:
        with engine.begin() as connection:
            connection.execute(insert(SETTINGS).values(name="a", value=1, changed_at=1))
            has_written.set()
            may_commit.wait(10)
        known.committed()

    writer = threading.Thread(target=write)
    writer.start()
    has_written.wait(10)
    known.committed()  # of this thread, which wrote nothing of it
    looked = known.mark((SETTINGS,))
    known.keep("a", looked, None)
    may_commit.set()
    writer.join()
    assert known.get("a", known.mark((SETTINGS,))) is None
    engine.dispose()


def test_only_so_many_answers_are_kept() -> None:
    engine = create_engine("sqlite://")
    known = Known(engine)
    for number in range(MOST + 1):
        known.keep(number, (), number)
    assert [known.get(number, ()) for number in (0, MOST)] == [None, (MOST,)]
    engine.dispose()
