"""Opens the SQLite file of one memory: private, of our schema, brought up to date; a broken one is kept aside."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from maia.core.errors import system_words
from maia.memory.problems import MemoryProblem

BUSY_SECONDS: Final = 10.0
"""How long one process waits for another that writes."""

_APPLICATION: Final = 0x6D61_6961
"""`maia` in ASCII, in the header of our files."""
_MAGIC: Final = b"SQLite format 3\0"
_TO_US: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

STEPS: Final = (
    """
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE entries (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        entry_id TEXT NOT NULL UNIQUE,
        created INTEGER NOT NULL,
        source TEXT NOT NULL,
        tags TEXT NOT NULL,
        text TEXT NOT NULL
    );
    CREATE INDEX entries_created ON entries (created, id);
    CREATE TABLE tags (
        tag TEXT NOT NULL,
        entry INTEGER NOT NULL REFERENCES entries ON DELETE CASCADE,
        PRIMARY KEY (tag, entry)
    ) WITHOUT ROWID;
    CREATE INDEX tags_entry ON tags (entry);
    CREATE VIRTUAL TABLE words USING fts5 (
        text, tags, content = 'entries', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
    );
    CREATE TRIGGER entries_put AFTER INSERT ON entries BEGIN
        INSERT INTO words (rowid, text, tags) VALUES (new.id, new.text, new.tags);
    END;
    CREATE TRIGGER entries_gone AFTER DELETE ON entries BEGIN
        INSERT INTO words (words, rowid, text, tags) VALUES ('delete', old.id, old.text, old.tags);
    END;
    """,
    """
    CREATE TABLE vectors (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        entry INTEGER NOT NULL REFERENCES entries ON DELETE CASCADE,
        signs BLOB,
        vector BLOB
    );
    CREATE INDEX vectors_entry ON vectors (entry, signs);
    """,
)
"""What leads from one version of the schema to the next. `created` is in microseconds, so that it is exact."""


def open_file(folder: Path, identity: str) -> sqlite3.Connection:
    """The memory in `folder`, which is made where it is missing, private to its owner (0700, the file 0600).

    Raises `MemoryProblem`. A file that is no memory or is torn is renamed, so that nothing is lost and the next try
    begins an empty one; one of a newer maia or of another identity is left as it is.
    """
    path = folder / "memory.db"
    try:
        _make_private(folder)
        with _alone(folder / "memory.lock"):
            _make_file(path)
            try:
                return _opened(path, identity)
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in _TO_US:
                    raise _kept_aside(path) from None
                raise problem_of(error, path) from None
    except OSError as error:
        raise MemoryProblem("memory.failed", path=str(path), why=system_words(error)) from None


def problem_of(error: sqlite3.Error, path: Path) -> MemoryProblem:
    """What SQLite says, as words for a person."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return MemoryProblem("memory.busy", path=str(path))
    if code in _TO_US:
        return MemoryProblem("memory.torn", path=str(path))
    return MemoryProblem("memory.failed", path=str(path), why=str(error))


def _opened(path: Path, identity: str) -> sqlite3.Connection:
    if path.stat().st_size and not _has_magic(path):
        raise _kept_aside(path)
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")
        _bring_up_to_date(connection, path)
        _check_owner(connection, path, identity)
        return connection
    except BaseException:
        connection.close()
        raise


def _has_magic(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    application, version = _number(connection, "application_id"), _number(connection, "user_version")
    has_tables = connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is not None
    if has_tables and application != _APPLICATION:
        connection.close()
        raise _kept_aside(path)
    if version > len(STEPS):
        raise MemoryProblem("memory.newer", path=str(path))
    if version < len(STEPS):
        with transaction(connection):
            for step in STEPS[version:]:
                _run(connection, step)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {len(STEPS)}")


def _run(connection: sqlite3.Connection, script: str) -> None:
    """The statements of a script within the open transaction, which `executescript` would end."""
    statement = ""
    for part in script.split(";"):
        statement += part + ";"
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return connection.execute(f"PRAGMA {pragma}").fetchone()[0]


def _check_owner(connection: sqlite3.Connection, path: Path, identity: str) -> None:
    """Two identities never share a store, whatever leads to one folder."""
    connection.execute("INSERT OR IGNORE INTO meta VALUES ('identity', ?)", (identity,))
    (owner,) = connection.execute("SELECT value FROM meta WHERE name = 'identity'").fetchone()
    if owner != identity:
        raise MemoryProblem("memory.other_owner", path=str(path))


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None]:
    """All or none; the write lock is taken at once, so that two writers wait for each other instead of failing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


# Files ----------------------------------------------------------------------------------------------------------------


def _make_private(folder: Path) -> None:
    """What is missing is made for its owner alone; a parent that was there may be anybody's and stays as it is."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    if stat.S_IMODE(folder.stat().st_mode) & 0o077:
        folder.chmod(0o700)


def _make_file(path: Path) -> None:
    """An empty file for its owner alone where there is none; SQLite gives what it puts beside it the same mode."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(0, "no regular file", str(path))
        if stat.S_IMODE(os.fstat(fd).st_mode) & 0o077:
            os.fchmod(fd, 0o600)
    finally:
        os.close(fd)


@contextmanager
def _alone(path: Path) -> Generator[None]:
    """One process at a time makes, moves or changes the file."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _kept_aside(path: Path) -> MemoryProblem:
    """Rename the file with what belongs to it, and say where it is now."""
    name = f"{path.name}.broken-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    aside = path.with_name(name)
    os.rename(path, aside)
    for suffix in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.rename(f"{path}{suffix}", f"{aside}{suffix}")
    return MemoryProblem("memory.broken", path=str(path), kept=str(aside))
