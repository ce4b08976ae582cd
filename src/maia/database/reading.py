"""Looks into the database of a workspace from another process, beside the server that has it; changes nothing."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy import URL, Connection, text
from sqlalchemy.exc import SQLAlchemyError

from maia.database.address import shown
from maia.database.connect import cause_of, of_one_state, open_engine
from maia.database.migrate import check_version
from maia.database.problems import DatabaseProblem


@contextmanager
def reading(url: URL) -> Generator[Connection]:
    """A connection that sees one state of the database. Blocks.

    Raises `DatabaseProblem` where it cannot be read, or has the tables of another version.
    """
    engine = open_engine(url)
    try:
        with of_one_state(engine).connect() as connection:
            check_version(connection)
            only = "PRAGMA query_only=ON" if engine.dialect.name == "sqlite" else "SET TRANSACTION READ ONLY"
            connection.execute(text(only))
            yield connection
    except SQLAlchemyError as error:
        raise DatabaseProblem("database.unreachable", database=shown(url), problem=cause_of(error)) from error
    finally:
        engine.dispose()
