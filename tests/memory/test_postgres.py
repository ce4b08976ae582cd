import asyncio
import sys
from collections.abc import Iterator

import psycopg
import pytest

from maia.core.events import Notice
from maia.core.memories import MemoryEntry
from maia.i18n.catalogue import Catalogue
from maia.memory import postgres
from maia.memory.meaning import Meaning
from maia.memory.postgres import PostgresStore
from maia.memory.private import PrivateMemory
from maia.memory.problems import MemoryProblem
from maia.memory.query import terms
from maia.memory.vectors import vector_of
from tests.memory.test_private import Concepts
from tests.postgres import postgres_server

OWL = MemoryEntry("a", "an owl", 1.0)
SECRET = "pass" + "word-1"


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    store = PostgresStore(postgres_url, "agent:reviewer")
    yield store
    store.close()


def problem(store: PostgresStore) -> MemoryProblem:
    with pytest.raises(MemoryProblem) as caught:
        store.recent(None, ())
    store.close()
    return caught.value


def test_a_connection_sees_the_tables_of_one_identity_only(postgres_url: str, store: PostgresStore) -> None:
    store.put([OWL])
    other = PostgresStore(postgres_url, "agent:Reviewer")
    assert other.recent(None, ()) == []
    raw = other._db  # pyright: ignore[reportPrivateUsage] - a query that forgets every condition
    assert raw.execute("SELECT * FROM entries").fetchall() == []
    assert raw.execute("DELETE FROM entries").rowcount == 0
    other.close()
    assert store.recent(None, ()) == [OWL]
    assert store.schema != other.schema


def test_names_of_schemas_fit_whatever_the_identity(postgres_url: str) -> None:
    store = PostgresStore(postgres_url, 'x"; DROP SCHEMA public; --' * 30)
    store.put([OWL])
    assert store.recent(None, ()) == [OWL]
    assert len(store.schema) <= 63
    store.close()


def test_the_memory_of_another_identity_is_not_opened(postgres_url: str, store: PostgresStore) -> None:
    store.put([OWL])
    thief = PostgresStore(postgres_url, "thief")
    thief.schema = store.schema
    assert problem(thief).key == "memory.other_owner"


def test_a_memory_of_a_newer_maia_is_left_as_it_is(postgres_url: str, store: PostgresStore) -> None:
    store.put([OWL])
    with psycopg.connect(postgres_url) as raw:
        raw.execute(f"UPDATE {store.schema}.meta SET value = '99' WHERE name = 'version'".encode())
    assert problem(PostgresStore(postgres_url, "agent:reviewer")).key == "memory.newer"


def test_a_server_that_was_restarted_is_connected_to_again(postgres_url: str, store: PostgresStore) -> None:
    store.put([OWL])
    with psycopg.connect(postgres_url, autocommit=True) as raw:
        raw.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'maia'")
    assert store.recent(None, ()) == [OWL]


@pytest.mark.parametrize(
    "url",
    [
        pytest.param(f"postgresql://maia:{SECRET}@127.0.0.1:1/maia", id="nobody listens"),
        pytest.param(f"postgresql://maia:{SECRET}@[::1/maia", id="no address"),
        pytest.param(f"postgresql://maia@127.0.0.1:1/maia?password={SECRET}&{SECRET}=x", id="no option"),
        pytest.param(f"postgresql://maia:x@{SECRET}@127.0.0.1:1/maia", id="a sign that should be quoted"),
    ],
)
def test_a_server_that_is_not_there_is_named_without_the_password(url: str, say: Catalogue) -> None:
    found = problem(PostgresStore(url, "me"))
    assert found.key == "memory.server"
    assert SECRET not in say(found.key, **found.values)
    assert SECRET not in repr(found)


def test_a_database_that_is_not_there_is_said(vector_server: str) -> None:
    assert "nothing" in problem(PostgresStore(f"{vector_server}/nothing", "me")).values["why"]


def test_without_the_driver_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert problem(PostgresStore("postgresql://h/d", "me")).key == "memory.no_postgres"


def test_where_the_server_has_no_vectors_words_find(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "_extension_schema", lambda _db: "")  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]
    told: list[Notice] = []

    async def work() -> list[str]:
        memory = PrivateMemory(PostgresStore(postgres_url, "me"), str, Meaning(Concepts(), told.append))
        await memory.store("le hibou dort")
        found = await memory.search("hibou bird")
        await memory.aclose()
        return [f"{hit.by}: {hit.entry.text}" for hit in found]

    assert asyncio.run(work()) == ["words: le hibou dort"]


def test_an_extension_that_comes_later_is_used_from_then_on(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as without:
        without.setattr(postgres, "_extension_schema", lambda _db: "")  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]
        store = PostgresStore(postgres_url, "me")
        store.put([OWL])
        store.close()
    store = PostgresStore(postgres_url, "me")
    assert [entry.entry_id for entry in store.without_vectors("m#2", 5)] == ["a"]
    vector = vector_of([1.0, 0.0])
    assert vector is not None
    store.put_vectors("m#2", {"a": [vector]})
    assert len(store.by_meaning("m#2", vector, (), 5)) == 1
    store.close()


def test_a_server_without_pgvector_is_used_as_it_is() -> None:
    with postgres_server() as url, psycopg.connect(f"{url}/postgres", autocommit=True) as raw:
        has_it = raw.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone()
        store = PostgresStore(f"{url}/postgres", "me")
        store.put([OWL])
        assert len(store.by_words(terms("owls"), (), 5)) == 1
        assert bool(store.without_vectors("m#2", 5)) == bool(has_it)
        store.close()
