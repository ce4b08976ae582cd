"""Opens the SQLite file of one memory: private, of our schema, brought up to date; a broken one is kept aside."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from maia.core.errors import system_words
from maia.core.filelock import locked
from maia.core.fileread import refuse_special
from maia.memory.problems import MemoryProblem

FILE: Final = "memory.db"

BUSY_SECONDS: Final = 10.0
"""How long one process waits for another that writes."""

_APPLICATION: Final = 0x6D61_6961
"""`maia` in ASCII, in the header of our files."""
_LEAST_BYTES: Final = 512
"""The smallest page of a database: SQLite takes a smaller file for an empty one and writes over it."""

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
    CREATE TABLE waiting (entry INTEGER PRIMARY KEY REFERENCES entries ON DELETE CASCADE);
    INSERT INTO waiting SELECT id FROM entries;
    CREATE TRIGGER entries_wait AFTER INSERT ON entries BEGIN
        INSERT INTO waiting VALUES (new.id);
    END;
    """,
)
"""What leads from one version of the schema to the next.

`created` is in microseconds, so that it is exact. `waiting` are the entries that have no vectors of the current space.
"""


def open_file(folder: Path, identity: str) -> sqlite3.Connection:
    """The memory in `folder`, which is made where it is missing, private to its owner (0700, the file 0600).

    Raises `MemoryProblem`. A file that is no memory or is torn is renamed, so that nothing is lost and the next try
    begins an empty one; one of a newer maia or of another identity is left as it is.
    """
    path = folder / FILE
    with _alone(folder), _blamed(path):
        _make_file(path)
        return _opened(path, identity)


def repair(folder: Path, identity: str) -> None:
    """After SQLite called a file corrupt: where only the index of words is, it is made again from the entries.

    Raises `MemoryProblem` where it is more; then the file was renamed.
    """
    path = folder / FILE
    with _alone(folder), _blamed(path), closing(_opened(path, identity)) as connection:
        if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise _kept_aside(path)
        connection.execute("INSERT INTO words (words) VALUES ('rebuild')")


@contextmanager
def _blamed(path: Path) -> Generator[None]:
    """Errors of SQLite as `MemoryProblem`s; a file whose content is at fault is put aside."""
    try:
        yield
    except sqlite3.Error as error:
        raise (_kept_aside(path) if is_corrupt(error) else problem_of(error, path)) from None


def is_corrupt(error: sqlite3.Error) -> bool:
    """Whether the content of the file is at fault, and not the circumstances."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def problem_of(error: sqlite3.Error, path: Path) -> MemoryProblem:
    """What SQLite says of the circumstances, as words for a person."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return MemoryProblem("memory.busy", path=str(path))
    return MemoryProblem("memory.failed", path=str(path), why=str(error))


def _opened(path: Path, identity: str) -> sqlite3.Connection:
    if 0 < path.stat().st_size < _LEAST_BYTES:
        raise _kept_aside(path)
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        if not _is_ours(connection):
            connection.close()
            raise _kept_aside(path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")
        _bring_up_to_date(connection, path)
        _check_owner(connection, path, identity)
        return connection
    except BaseException:
        connection.close()
        raise


def _is_ours(connection: sqlite3.Connection) -> bool:
    """Whether the file is new or a memory; looked at before anything in it is changed."""
    has_tables = connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is not None
    return not has_tables or _number(connection, "application_id") == _APPLICATION


def _bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    version = _number(connection, "user_version")
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
    """An empty file for its owner alone where there is none; SQLite gives what it puts beside it the same mode.

    One that is there is not opened here: closing it would take away the locks that another connection of this process
    holds on it. Raises `OSError`, also for what is no regular file.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    state = path.lstat()
    refuse_special(state, path)
    if stat.S_IMODE(state.st_mode) & 0o077:
        path.chmod(0o600)


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """One process at a time makes, moves or changes the file in this folder. Raises `MemoryProblem`."""
    try:
        _make_private(folder)
        with locked(folder / "memory.lock"):
            yield
    except OSError as error:
        raise MemoryProblem("memory.failed", path=str(folder / FILE), why=system_words(error)) from None


def _kept_aside(path: Path) -> MemoryProblem:
    """Rename the file with what belongs to it, and say where it is now."""
    name = f"{path.name}.broken-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    aside = path.with_name(name)
    os.rename(path, aside)
    for suffix in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.rename(f"{path}{suffix}", f"{aside}{suffix}")
    return MemoryProblem("memory.broken", path=str(path), kept=str(aside))
