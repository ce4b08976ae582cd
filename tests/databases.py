"""Fixtures for rooms whose tests run on SQLite and on PostgreSQL."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from tests.postgres import postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """One server for all tests of this process."""
    with postgres_server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a new, empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/maia.db"
    return new_database(request.getfixturevalue("postgres"))


def new_database(server: str) -> str:
    """The address of a new, empty database on that server."""
    name = f"t_{secrets.token_hex(6)}"
    engine = create_engine(
        server.replace("postgresql", "postgresql+psycopg") + "/postgres", isolation_level="AUTOCOMMIT"
    )
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return f"{server}/{name}"
