"""Brings the tables of a database up to this version, and only then loads what that needs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import SQLAlchemyError

from maia.database.address import shown
from maia.database.connect import cause_of
from maia.database.problems import DatabaseProblem

HEAD: Final = "0013"
"""The newest revision in `migrations/versions`."""
_FOLDER = Path(__file__).parent / "migrations"


def bring_up(engine: Engine) -> None:
    """Run the revisions that are missing, in one transaction. The caller keeps others away.

    Raises `DatabaseProblem` when the database was made by a newer maia, or cannot be reached or changed.
    """
    try:
        with engine.connect() as connection:
            found = _revision(connection)
        if found == HEAD:
            return
        if found is not None and found > HEAD:
            raise DatabaseProblem("database.newer", database=shown(engine.url))
        _upgrade(engine)
    except SQLAlchemyError as error:
        raise DatabaseProblem("database.unreachable", database=shown(engine.url), problem=cause_of(error)) from error


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def check_version(connection: Connection) -> None:
    """Raises `DatabaseProblem` for tables of another version, which a reader must not guess at."""
    found = _revision(connection)
    if found != HEAD:
        key = "database.newer" if found is not None and found > HEAD else "database.older"
        raise DatabaseProblem(key, database=shown(connection.engine.url))


def _upgrade(engine: Engine) -> None:
    with engine.execution_options(maia_writes=True).begin() as connection:
        upgrade_on(connection, HEAD)


def upgrade_on(connection: Connection, revision: str) -> None:
    """Run the revisions up to that one in the connection's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
