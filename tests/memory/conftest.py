"""Each test of a store runs on SQLite and on PostgreSQL with pgvector."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from maia.memory.postgres import PostgresStore
from maia.memory.sqlite import SqliteStore
from maia.memory.store import Store
from tests.postgres import postgres_server

OpenStore = Callable[[str], Store]


@pytest.fixture(scope="session")
def vector_server() -> Iterator[str]:
    """One server with pgvector for all tests of this process."""
    with postgres_server(vectors=True) as url:
        yield url


@pytest.fixture
def postgres_url(vector_server: str) -> str:
    """A new, empty database."""
    import psycopg

    name = f"t_{secrets.token_hex(6)}"
    with psycopg.connect(f"{vector_server}/postgres", autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}".encode())
    return f"{vector_server}/{name}"


@pytest.fixture(params=["sqlite", "postgresql"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """Opens the store of an identity, in one place for the whole test."""
    opened: list[Store] = []
    url: str = request.getfixturevalue("postgres_url") if request.param == "postgresql" else ""

    def open_it(identity: str) -> Store:
        from maia.memory.identity import place_name

        store = PostgresStore(url, identity) if url else SqliteStore(tmp_path / place_name(identity), identity)
        opened.append(store)
        return store

    yield open_it
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: OpenStore) -> Store:
    return open_store("agent:reviewer")
