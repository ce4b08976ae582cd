import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, text

from maia.core.errors import UsageProblem
from maia.core.events import Notice, TextDelta, TurnStarted, UserSaid
from maia.core.jsonvalue import JsonObject
from maia.database import conversations, events, messages, migrate, settings, users
from maia.database.address import database_url as address_of
from maia.database.address import shown
from maia.database.database import Database
from maia.database.ids import ID_CHARS, new_id
from maia.database.problems import DatabaseBusy, DatabaseProblem
from maia.database.tables.every import METADATA
from maia.database.tables.people import SETTINGS
from tests.databases import new_database

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def database(database_url: str, tmp_path: Path) -> Iterator[Database]:
    opened = Database(address_of(database_url, tmp_path))
    yield opened
    opened.close()


def a_user(connection: Connection) -> users.User:
    return users.add_user(connection, f"{new_id()}@example.org", "Léa", "owner", "a hash", None)


def a_conversation(connection: Connection) -> str:
    return conversations.add_conversation(connection, a_user(connection).id, "", "fr")


# Identifiers and addresses -------------------------------------------------------------------------------------------


def test_identifiers_are_sorted_by_time_and_never_the_same() -> None:
    made = [new_id() for _ in range(2000)]
    assert len(set(made)) == len(made)
    assert {len(each) for each in made} == {ID_CHARS}
    assert [each[:9] for each in made] == sorted(each[:9] for each in made), "milliseconds come first"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(None, "sqlite:////data/maia.db", id="in the data folder"),
        pytest.param("sqlite:////srv/a.db", "sqlite:////srv/a.db", id="a file"),
        pytest.param("postgresql://u@h/d", "postgresql+psycopg://u@h/d", id="a server"),
        pytest.param("postgres://u@h:5433/d", "postgresql+psycopg://u@h:5433/d", id="its older name"),
    ],
)
def test_an_address_names_a_file_or_a_server(given: str | None, expected: str) -> None:
    assert str(address_of(given, Path("/data"))) == expected


@pytest.mark.parametrize("given", ["mysql://h/d", "nonsense", "sqlite://", "sqlite:///:memory:"])
def test_any_other_address_is_refused_without_repeating_it(given: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        address_of(given, Path("/data"))
    assert (caught.value.key, caught.value.values) == ("database.bad_url", {})


def test_an_address_is_shown_without_its_password() -> None:
    assert shown(address_of("postgresql://u:hidden@h/d", Path("/"))) == "postgresql+psycopg://u:***@h/d"


def test_two_browsers_that_change_how_things_look_at_once_keep_what_both_changed(database: Database) -> None:
    async def scenario() -> list[JsonObject]:
        user = await database.write(a_user)
        each: list[JsonObject] = [{"theme": "dark"}, {"density": "compact"}, {"theme": None, "lang": "en"}]
        return [await database.write(partial(users.change_preferences, user_id=user.id, changed=one)) for one in each]

    assert asyncio.run(scenario()) == [
        {"lang": None, "theme": "dark"},
        {"lang": None, "theme": "dark", "density": "compact"},
        {"lang": "en", "density": "compact"},
    ]


# Tables --------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("database")
def test_the_revisions_make_exactly_the_tables(database_url: str, tmp_path: Path) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    engine = create_engine(address_of(database_url, tmp_path))
    with engine.connect() as connection:
        own = {"compare_type": True, "include_name": lambda name, *_: not str(name).startswith("search_")}
        context = MigrationContext.configure(connection, opts=own)
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


def test_the_newest_revision_is_the_one_that_is_asked_for() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_heads() == [migrate.HEAD]


def test_a_database_that_is_up_to_date_opens_without_alembic(tmp_path: Path) -> None:
    import subprocess
    import sys

    program = (
        "import sys; from pathlib import Path; from maia.database import address, database; "
        f"database.Database(address.database_url(None, Path({str(tmp_path)!r}))).close(); "
        "print('alembic' in sys.modules)"
    )
    done = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ}).stdout
        for _ in range(2)
    ]
    assert done == ["True\n", "False\n"]


def test_a_database_of_a_newer_maia_is_left_alone(database_url: str, tmp_path: Path) -> None:
    url = address_of(database_url, tmp_path)
    Database(url).close()
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(DatabaseProblem) as caught:
        Database(url)
    assert caught.value.key == "database.newer"


def test_two_servers_never_share_a_database(database: Database, database_url: str, tmp_path: Path) -> None:
    with pytest.raises(DatabaseBusy):
        Database(address_of(database_url, tmp_path))
    database.close()
    Database(address_of(database_url, tmp_path)).close()


@pytest.mark.parametrize("taken", [False, True], ids=["it takes the lock again", "another server has it"])
def test_a_server_whose_connection_was_dropped_writes_only_with_the_lock(postgres: str, *, taken: bool) -> None:
    url = address_of(new_database(postgres), Path())
    database, looked = Database(url), list[int]()

    def look(connection: Connection) -> object:
        looked.append(1)
        return settings.setting(connection, "x")

    async def story() -> None:
        await database.write(lambda c: settings.keep_setting(c, "x", 1))
        assert await database.known("x", [SETTINGS], look) == 1
        engine = create_engine(url, isolation_level="AUTOCOMMIT")
        with engine.connect() as other:
            dropped = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname"
            other.execute(text(f"{dropped} = current_database()"))
            if taken:
                other.execute(text("SELECT pg_advisory_lock(1835100513)"))
            other.execute(text("UPDATE settings SET value = '2' WHERE name = 'x'"))
            if taken:
                with pytest.raises(DatabaseBusy):
                    await database.write(lambda c: settings.keep_setting(c, "y", 1))
                assert other.execute(text("SELECT count(*) FROM settings WHERE name = 'y'")).scalar() == 0
        engine.dispose()
        await database.write(lambda c: settings.keep_setting(c, "y", 1))
        assert await database.known("x", [SETTINGS], look) == 2, "what others wrote meanwhile is not missed"
        with pytest.raises(DatabaseBusy):
            Database(url)

    asyncio.run(story())
    database.close()
    Database(url).close()


def test_a_file_that_is_no_database_is_told_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "maia.db"
    path.write_bytes(b"something else entirely, of a good length" * 100)
    with pytest.raises(DatabaseProblem) as caught:
        Database(address_of(None, tmp_path))
    assert caught.value.key == "database.unreachable"
    assert path.read_bytes().startswith(b"something else")


def test_a_server_that_is_not_there_is_told_without_the_password(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(DatabaseProblem) as caught:
        Database(address_of("postgresql://u:hidden@127.0.0.1:1/d", tmp_path))
    assert caught.value.key == "database.unreachable"
    assert "hidden" not in str(caught.value)


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    Database(address_of(None, tmp_path / "data")).close()
    assert (tmp_path / "data" / "maia.db").stat().st_mode & 0o077 == 0
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0


# Reading and writing -------------------------------------------------------------------------------------------------


def says(conversation: str, n: int) -> Callable[[Connection], object]:
    return lambda c: events.append_events(c, conversation, 1, [events.Stamped(n, TextDelta(str(n)))])


def fails(_connection: Connection) -> object:
    raise ValueError("this one")


def test_a_write_that_fails_takes_no_other_with_it(database: Database) -> None:
    async def story() -> None:
        conversation = await database.write(a_conversation)
        works = [fails if n % 10 == 3 else says(conversation, n) for n in range(100)]
        results = await asyncio.gather(*map(database.write, works), return_exceptions=True)
        failed = [n for n, result in enumerate(results) if isinstance(result, ValueError)]
        assert failed == list(range(3, 100, 10))
        logged = await database.read(lambda c: events.events_after(c, conversation, 0, 1000))
        assert [each.event for each in logged] == [TextDelta(str(n)) for n in range(100) if n % 10 != 3]
        assert [each.seq for each in logged] == list(range(1, 91)), "no number is missing, none comes twice"

    asyncio.run(story())


def test_what_was_asked_for_is_written_before_the_database_closes(database_url: str, tmp_path: Path) -> None:
    url = address_of(database_url, tmp_path)
    database = Database(url)
    for n in range(50):
        database.write_soon(lambda c, n=n: settings.keep_setting(c, f"n{n}", {"value": n}))
    database.close()
    database.close()
    again = Database(url)
    assert asyncio.run(again.read(lambda c: settings.setting(c, "n49"))) == {"value": 49}
    again.close()


def test_a_cancelled_write_is_done_all_the_same(database: Database) -> None:
    async def story() -> None:
        task = asyncio.create_task(database.write(lambda c: settings.keep_setting(c, "x", 1)))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await database.write(users.has_users)
        assert await database.read(lambda c: settings.setting(c, "x")) == 1

    asyncio.run(story())


def test_who_stops_waiting_for_a_write_stops_no_other(database: Database) -> None:
    async def story() -> None:
        held, gone = threading.Event(), asyncio.get_running_loop().create_future()
        database.write_soon(lambda _c: held.wait(5.0))
        waiting = asyncio.wrap_future(database.write_soon(lambda c: settings.keep_setting(c, "x", 1)))
        waiting.cancel()
        asyncio.get_running_loop().call_later(0.05, gone.set_result, None)
        await gone
        held.set()
        async with asyncio.timeout(5.0):
            await database.write(lambda c: settings.keep_setting(c, "y", 2))
        found = await database.read(lambda c: (settings.setting(c, "x"), settings.setting(c, "y")))
        assert found == (1, 2), "what was asked for is done, whoever waits for it"

    asyncio.run(story())


def test_a_read_sees_one_state_whatever_is_written_meanwhile(database: Database) -> None:
    async def story() -> None:
        loop = asyncio.get_running_loop()
        first, go_on = asyncio.Event(), threading.Event()

        def look(connection: Connection) -> tuple[object, object]:
            before = settings.setting(connection, "x")
            loop.call_soon_threadsafe(first.set)
            assert go_on.wait(5.0)
            return before, settings.setting(connection, "x")

        await database.write(lambda c: settings.keep_setting(c, "x", 1))
        looking = asyncio.create_task(database.read(look))
        await first.wait()
        await database.write(lambda c: settings.keep_setting(c, "x", 2))
        go_on.set()
        assert await looking == (1, 1)
        assert await database.read(lambda c: settings.setting(c, "x")) == 2

    asyncio.run(story())


def test_writes_come_back_after_a_lock_of_somebody_else(tmp_path: Path) -> None:
    database = Database(address_of(None, tmp_path))
    other = sqlite3.connect(tmp_path / "maia.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    async def story() -> None:
        write = asyncio.create_task(database.write(lambda c: settings.keep_setting(c, "x", 1)))
        await asyncio.sleep(0.3)
        assert not write.done()
        other.execute("COMMIT")
        await write

    asyncio.run(story())
    other.close()
    database.close()


# Rows ----------------------------------------------------------------------------------------------------------------


def test_a_conversation_is_found_by_its_owner_only(database: Database) -> None:
    async def story() -> None:
        owner, other = await database.write(lambda c: (a_user(c), a_user(c)))
        made = await database.write(lambda c: conversations.add_conversation(c, owner.id, "Arrondi", "fr"))
        mine = await database.read(lambda c: conversations.conversation_of(c, made, owner.id))
        assert mine is not None
        assert (mine.title, mine.title_by, mine.status, mine.last_turn) == ("Arrondi", "person", "idle", 0)
        assert await database.read(lambda c: conversations.conversation_of(c, made, other.id)) is None

    asyncio.run(story())


def test_a_list_goes_on_where_the_last_page_ended(database: Database) -> None:
    async def story() -> None:
        owner = await database.write(a_user)
        made = [
            await database.write(lambda c, n=n: conversations.add_conversation(c, owner.id, str(n), "fr"))
            for n in range(7)
        ]
        seen: list[str] = []
        before = None
        while page := await database.read(lambda c, b=before: conversations.list_conversations(c, owner.id, 3, b)):
            seen += [row.id for row in page]
            before = (page[-1].updated_at, page[-1].id)
        assert sorted(seen) == sorted(made)
        assert len(seen) == len(set(seen))

    asyncio.run(story())


def test_a_turn_has_one_message_of_each_and_keeps_how_it_ended(database: Database) -> None:
    async def story() -> None:
        conversation = await database.write(a_conversation)
        turn, answer, _ = await database.write(lambda c: messages.open_turn(c, conversation, None, "Bonjour"))
        assert turn == 1
        assert list(await database.read(lambda c: messages.unfinished(c, conversation))) == [1]
        ending = messages.Ending("Salut", "finished", "p", "m", 12, 3, None, "unknown", {"outcome": "finished"})
        assert await database.write(lambda c: messages.close_answer(c, conversation, 1, ending)) == answer
        both = await database.read(lambda c: messages.messages_of(c, conversation, 10, None))
        assert [(m.role, m.text, m.turn_meta) for m in both] == [
            ("user", "Bonjour", None),
            ("assistant", "Salut", {"outcome": "finished"}),
        ]
        assert list(await database.read(lambda c: messages.unfinished(c, conversation))) == []

    asyncio.run(story())


def test_progress_of_a_turn_can_be_forgotten_and_the_rest_stays(database: Database) -> None:
    said = (TurnStarted(1, "m", "p"), UserSaid("é\u0000\ud800"), TextDelta("a"), Notice("info", "turn.circles"))

    async def story() -> None:
        conversation = await database.write(a_conversation)
        await database.write(
            lambda c: events.append_events(c, conversation, 1, [events.Stamped(5, each) for each in said])
        )
        await database.write(lambda c: events.forget_progress(c, conversation, 1))
        kept = await database.read(lambda c: events.events_of_turns(c, conversation, 1, 1))
        assert [each.seq for each in kept] == [1, 2, 4]
        assert kept[1].event == UserSaid("é\u0000?"), "a lone surrogate is no text"
        assert await database.read(lambda c: events.turn_at(c, conversation, 3)) == 1

    asyncio.run(story())


def test_events_of_a_conversation_that_is_gone_are_an_error(database: Database) -> None:
    async def story() -> None:
        with pytest.raises(LookupError):
            await database.write(lambda c: events.append_events(c, "nowhere", 1, [events.Stamped(1, TextDelta("a"))]))

    asyncio.run(story())


def test_signing_in_lasts_until_its_end(database: Database) -> None:
    async def story() -> None:
        user = await database.write(a_user)
        far = 10**15
        await database.write(lambda c: users.add_sign_in(c, "digest", user.id, far, "a browser"))
        found = await database.read(lambda c: users.signed_in(c, "digest"))
        assert found is not None
        assert found[0] == user
        await database.write(lambda c: users.note_use(c, "digest", 1))
        assert await database.read(lambda c: users.signed_in(c, "digest")) is None

    asyncio.run(story())
