"""Everything of a database as lines, from one state of it, while others write; and back into an empty one.

The lines are the same whichever database they come from, so that a backup moves from a file to PostgreSQL and back.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, cast

from sqlalchemy import JSON, Column, Connection, Engine, LargeBinary, MetaData, Table, inspect, select, text

from maia.database import search
from maia.database.connect import of_one_state
from maia.database.migrate import upgrade_on

_OURS_ALONE: Final = ("alembic_version", "search_places", "search_words")
"""Tables that are made again: by the revisions, and from the words of what is there."""
_FOUND_BY: Final = (
    f"SELECT id, '{search.TITLE}', title FROM conversations",
    "SELECT conversation_id, id, text FROM messages",
    "SELECT conversation_id, id, name || ' ' || coalesce(text, '') FROM attachments"
    " WHERE origin = 'person' AND turn IS NOT NULL",
)
"""What conversations are found by: (conversation, place, words) of titles, messages and files that were sent."""
_BATCH = 500
_MARKER: Final = "restored"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One state of a database."""

    connection: Connection
    revision: str
    tables: Sequence[Table]

    def lines(self, table: Table) -> Iterator[bytes]:
        """The names of the columns, then the rows, each a line of JSON."""
        yield _line([column.name for column in table.columns])
        found = self.connection.execution_options(yield_per=_BATCH).execute(
            select(table).order_by(*table.primary_key.columns)
        )
        for row in found:
            yield _line([_out(value) for value in row])


@contextmanager
def snapshot(engine: Engine) -> Generator[Snapshot]:
    """One state of the database, whatever is written meanwhile."""
    with of_one_state(engine).connect() as connection, connection.begin():
        revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
        yield Snapshot(connection, str(revision), _tables(connection))


def is_used(engine: Engine) -> bool:
    """Whether people work on this database already."""
    with engine.connect() as connection:
        if not inspect(connection).has_table("users"):
            return False
        return connection.execute(text("SELECT 1 FROM users LIMIT 1")).first() is not None


@dataclass(slots=True)
class Loader:
    """Fills a database within one transaction: all of it is there in the end, or nothing of it."""

    connection: Connection
    tables: dict[str, Table] = field(default_factory=dict[str, Table])

    def begin(self, revision: str, aside: str) -> None:
        """Empty tables of that revision; those that were there go into the schema `aside`."""
        _set_aside(self.connection, aside)
        upgrade_on(self.connection, revision)
        if self.connection.dialect.name == "sqlite":
            self.connection.execute(text("PRAGMA defer_foreign_keys = ON"))
        self.tables = {table.name: table for table in _tables(self.connection)}
        for table in reversed(self.tables.values()):
            self.connection.execute(table.delete())  # what revisions put in

    def fill(self, name: str, lines: Iterable[Any]) -> None:
        """The rows of one table, as `Snapshot.lines` gave them, tables in the order in which they came."""
        table, rows = self.tables[name], iter(lines)
        columns: list[Column[Any]] = [table.columns[column] for column in next(rows)]
        batch: list[dict[str, Any]] = []
        for row in rows:
            batch.append({column.name: self._in(column, value) for column, value in zip(columns, row, strict=True)})
            if len(batch) == _BATCH:
                self.connection.execute(table.insert(), batch)
                batch = []
        if batch:
            self.connection.execute(table.insert(), batch)

    def end(self, marker: str, old_root: str, new_root: str) -> None:
        """Bring the tables up to this version; workspaces that lay in one folder lie in another one now."""
        upgrade_on(self.connection, "head")
        tables = {table.name: table for table in _tables(self.connection)}
        self._move_workspaces(tables["folders"], old_root, new_root)
        for statement in _FOUND_BY:
            for conversation, place, said in self.connection.execute(text(statement)).all():
                search.keep_words(self.connection, conversation, place, said)
        settings = tables["settings"]
        self.connection.execute(settings.delete().where(settings.c.name == _MARKER))
        self.connection.execute(settings.insert().values(name=_MARKER, value=marker, changed_at=0))

    def _in(self, column: Column[Any], value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if isinstance(column.type, LargeBinary):
            return base64.b64decode(value)
        return value if self.connection.dialect.name == "sqlite" else value.replace("\x00", "\ufffd")

    def _move_workspaces(self, folders: Table, old_root: str, new_root: str) -> None:
        if not old_root or not new_root or old_root == new_root:
            return
        own = select(folders.c.id, folders.c.path).where(folders.c.is_workspace.is_(True))
        for row in self.connection.execute(own).all():
            if row.path.startswith(f"{old_root}/"):
                moved = new_root + row.path[len(old_root) :]
                self.connection.execute(folders.update().where(folders.c.id == row.id).values(path=moved))


@contextmanager
def loading(engine: Engine) -> Generator[Loader]:
    """Fill a database, which is committed at the end of the block."""
    with engine.execution_options(maia_writes=True).begin() as connection:
        yield Loader(connection)


def knows(engine: Engine, marker: str) -> bool:
    """Whether a restore with this marker was committed here."""
    with engine.connect() as connection:
        if not inspect(connection).has_table("settings"):
            return False
        found = connection.execute(text("SELECT value FROM settings WHERE name = :n"), {"n": _MARKER}).scalar()
        return found in (marker, json.dumps(marker))


def _tables(connection: Connection) -> Sequence[Table]:
    found = MetaData()
    found.reflect(connection, only=lambda name, _: not name.startswith(_OURS_ALONE))
    for table in found.tables.values():
        for column in table.columns:
            if isinstance(column.type, JSON):
                column.type = JSON(none_as_null=True)
    return found.sorted_tables


def _set_aside(connection: Connection, schema: str) -> None:
    """On PostgreSQL; a file is another one."""
    if connection.dialect.name == "sqlite":
        return
    names = [table.name for table in _tables(connection)]
    names += [name for name in _OURS_ALONE if inspect(connection).has_table(name)]
    known = [name for name in names if name in _known_names()]
    if known:
        connection.execute(text(f'CREATE SCHEMA "{schema}"'))
    for name in known:
        connection.execute(text(f'ALTER TABLE "{name}" SET SCHEMA "{schema}"'))


def _known_names() -> set[str]:
    """Our tables; others may live in the same database."""
    from maia.database.tables.every import METADATA

    return {*METADATA.tables, *_OURS_ALONE}


def _line(values: Any) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def _out(value: Any) -> Any:
    return base64.b64encode(bytes(cast(bytes, value))).decode() if isinstance(value, (bytes, memoryview)) else value
