import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from maia.database import settings
from maia.database.address import database_url as address_of
from maia.database.database import Database
from maia.database.problems import DatabaseProblem


@pytest.fixture
def database(database_url: str, tmp_path: Path) -> Iterator[Database]:
    opened = Database(address_of(database_url, tmp_path))
    yield opened
    opened.close()


def put(value: int) -> Callable[[Connection], None]:
    return lambda connection: settings.keep_setting(connection, "a", value)


async def kept(database: Database) -> object:
    return await database.read(lambda c: settings.setting(c, "a"))


def test_it_is_written_and_known_at_once(database: Database) -> None:
    async def go() -> None:
        assert await database.known("a", (), lambda c: settings.setting(c, "a")) is None
        for value in range(3):
            await database.write_at_once(put(value))
            assert await kept(database) == value

    asyncio.run(go())


def test_what_was_asked_for_before_comes_first(database: Database) -> None:
    async def go() -> None:
        may_go, order = threading.Event(), list[str]()

        def slow(_connection: Connection) -> None:
            may_go.wait(10)
            order.append("slow")

        def quick(_connection: Connection) -> None:
            order.append("quick")

        first = database.write_soon(slow)
        second = database.write_here(quick)
        assert not second.done()
        may_go.set()
        await asyncio.gather(asyncio.wrap_future(first), asyncio.wrap_future(second))
        assert order == ["slow", "quick"]

    asyncio.run(go())


def test_a_refused_write_undoes_itself_and_the_next_one_goes_on(database: Database) -> None:
    async def go() -> None:
        def refused(connection: Connection) -> None:
            settings.keep_setting(connection, "a", 9)
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            await database.write_at_once(refused)
        assert await kept(database) is None
        await database.write_at_once(put(1))
        await database.write(put(2))
        await database.write_at_once(put(3))
        assert await kept(database) == 3

    asyncio.run(go())


def test_a_file_that_somebody_holds_holds_up_nobody_else(tmp_path: Path) -> None:
    database = Database(address_of(None, tmp_path))
    with sqlite3.connect(tmp_path / "maia.db", isolation_level=None, check_same_thread=False) as other:

        async def go() -> None:
            await database.write_at_once(put(1))
            other.execute("BEGIN IMMEDIATE")
            written = database.write_here(put(2))
            assert not written.done()
            other.execute("COMMIT")
            await asyncio.wrap_future(written)
            assert await kept(database) == 2

        asyncio.run(go())
    other.close()
    database.close()


def test_what_piles_up_is_brought_into_the_file_by_who_may_wait(tmp_path: Path) -> None:
    database, file = Database(address_of(None, tmp_path)), tmp_path / "maia.db"
    begun, much = file.stat().st_size, "x" * 400_000

    def put_much(number: int) -> Callable[[Connection], None]:
        return lambda connection: settings.keep_setting(connection, f"much{number}", much)

    async def go() -> None:
        for number in range(15):
            await database.write_at_once(put_much(number))
        assert file.stat().st_size == begun
        await database.write(put(1))
        assert file.stat().st_size > begun + 15 * len(much)

    asyncio.run(go())
    database.close()


def test_nothing_is_written_beside_the_queue_once_it_is_closed(tmp_path: Path) -> None:
    database = Database(address_of(None, tmp_path))

    async def go() -> None:
        await database.write_at_once(put(1))
        database.close()
        for late in (database.write_here(put(2)), database.write_soon(put(2))):
            assert isinstance(late.exception(timeout=5), DatabaseProblem), "nobody waits for it for ever"

    asyncio.run(go())
    with sqlite3.connect(tmp_path / "maia.db") as other:
        assert other.execute("SELECT value FROM settings WHERE name = 'a'").fetchone() == (1,)
    other.close()
