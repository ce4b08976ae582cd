"""Opens the SQLAlchemy engine of a database and holds it against a second server."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from maia.core.errors import system_words
from maia.database.address import shown
from maia.database.problems import DatabaseBusy, DatabaseProblem

_READERS = 4
_BUSY_MS = 5_000
_LOCK_KEY = 0x6D616961
"""The number of our advisory lock on PostgreSQL: the word maia."""

_END_HOLDER = """SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 0
AND objid = %s AND objsubid = 1 AND pid = %s
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
"""Ends the session that our lost connection left on the server, if it still holds the lock."""
_TRIES, _PAUSE = 20, 0.1

Release = Callable[[], None]


def open_engine(url: URL) -> Engine:
    """The engine for an address. Connects to nothing yet.

    Raises `DatabaseProblem` where the folder of a file cannot be made, or the driver for PostgreSQL is not installed.
    """
    if url.get_backend_name() == "sqlite":
        return _file_engine(url)
    try:
        import psycopg
    except ImportError:
        raise DatabaseProblem("database.no_driver") from None
    return create_engine(url, module=psycopg, pool_size=_READERS + 1, max_overflow=0, pool_pre_ping=True)


def of_one_state(engine: Engine) -> Engine:
    """The same engine, where a transaction sees one state of the database from its first statement to its last.

    A transaction of SQLite does so by itself; PostgreSQL would show each statement what others committed before it.
    """
    return engine if engine.dialect.name == "sqlite" else engine.execution_options(isolation_level="REPEATABLE READ")


def _file_engine(url: URL) -> Engine:
    path = Path(url.database or "")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise DatabaseProblem("database.unwritable", path=str(path), problem=system_words(error)) from error
    engine = create_engine(
        url,
        pool_size=_READERS + 3,  # who reads aside, who writes, and the loop itself (`Database.look`, `write_here`)
        max_overflow=0,
        connect_args={"check_same_thread": False, "timeout": _BUSY_MS / 1000, "isolation_level": None},
    )
    event.listen(engine, "connect", _prepare_file)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare_file(connection: Any, _record: object) -> None:
    """WAL: readers and the writer do not wait for each other; a commit survives the end of the process, however."""
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", f"busy_timeout={_BUSY_MS}", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def hold_up_nobody(connection: Connection) -> None:
    """On this connection a file that somebody else holds is an error at once, and a commit stays the few pages it is.

    What piles up in the log is brought into the file by the commits of others, which may wait for the disk.
    """
    driver: Any = connection.connection.driver_connection
    for pragma in ("busy_timeout=0", "wal_autocheckpoint=0"):
        driver.execute(f"PRAGMA {pragma}").close()


def _begin(connection: Connection) -> None:
    """Transactions begin where SQLAlchemy says so; who writes takes the lock at once, not in the middle.

    Who only looks needs none: each statement sees what is committed at its moment.
    """
    options = connection.get_execution_options()
    if options.get("maia_looks", False):
        return
    statement = "BEGIN IMMEDIATE" if options.get("maia_writes", False) else "BEGIN"
    driver: Any = connection.connection.driver_connection
    try:
        driver.execute(statement).close()
    except sqlite3.Error as error:
        raise DBAPIError.instance(statement, None, error, sqlite3.Error, dialect=connection.dialect) from error


@dataclass(frozen=True, slots=True)
class Held:
    """A database that no second server opens: `writes` is the engine that all writes pass through."""

    writes: Engine
    release: Release


def hold(engine: Engine, regained: Callable[[], None] | None = None) -> Held:
    """Keep a second server away from this database until `release` is called.

    Where the lock was lost with its connection and taken again, `regained` is called: others may have written.
    Raises `DatabaseBusy` when there is one, `DatabaseProblem` when the database cannot be reached.
    """
    if engine.dialect.name == "sqlite":
        return Held(engine.execution_options(maia_writes=True), _hold_file(engine.url))
    return _hold_server(engine.url, regained)


def _hold_file(url: URL) -> Release:
    path = f"{url.database}.lock"
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise DatabaseBusy("database.busy", database=shown(url)) from None
    except OSError:
        pass  # a file system without locks
    return lambda: os.close(fd)


def _hold_server(url: URL, regained: Callable[[], None] | None) -> Held:
    """The one connection that writes holds the lock: without it, nothing is written."""
    import psycopg

    writes = create_engine(url, module=psycopg, pool_size=1, max_overflow=0, pool_pre_ping=True)
    event.listen(writes, "connect", _Lock(url, regained).take)
    try:
        writes.connect().close()
    except SQLAlchemyError as error:
        writes.dispose()
        raise DatabaseProblem("database.unreachable", database=shown(url), problem=cause_of(error)) from error

    def release() -> None:
        """Let the next server in at once, not only when this one's connection is found to be gone."""
        with suppress(SQLAlchemyError, DatabaseProblem), writes.begin() as connection:
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _LOCK_KEY})
        writes.dispose()

    return Held(writes, release)


class _Lock:
    """The lock of a PostgreSQL server. A connection that is lost loses it, which a server may be slow to find out."""

    def __init__(self, url: URL, regained: Callable[[], None] | None) -> None:
        self._url = url
        self._regained = regained
        self._holder: int | None = None

    def take(self, connection: Any, _record: object) -> None:
        """Take it with a new connection, which is of no use without. Raises `DatabaseBusy`."""
        for _ in range(1 if self._holder is None else _TRIES):
            got, me = connection.execute("SELECT pg_try_advisory_lock(%s), pg_backend_pid()", [_LOCK_KEY]).fetchone()
            if got:
                break
            connection.execute(_END_HOLDER, [_LOCK_KEY, self._holder])
            connection.commit()
            time.sleep(_PAUSE)
        else:
            connection.close()
            raise DatabaseBusy("database.busy", database=shown(self._url))
        connection.commit()
        was_lost, self._holder = self._holder is not None, me
        if was_lost and self._regained is not None:
            self._regained()


def cause_of(error: SQLAlchemyError) -> str:
    """What the driver said, in one line, without the statement and its values."""
    origin = getattr(error, "orig", None) or error
    return " ".join(str(origin).split())[:300]
