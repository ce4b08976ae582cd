"""A memory in PostgreSQL: one schema an identity, full text by tsvector, vectors by pgvector where it is there (C6.04).

Isolation is by schema and not by row-level security: superusers and owners of tables pass by row policies, and one
forgotten condition in a query would mix two memories. Here no query knows of identities at all: the connection sees
the tables of one schema, whose name comes from the identity as the folders of files do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from math import log
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar
from urllib.parse import unquote, urlsplit

from maia.core.memories import MemoryEntry
from maia.core.secret import MASK
from maia.memory.folding import tokens
from maia.memory.identity import place_name
from maia.memory.problems import MemoryProblem
from maia.memory.query import Term
from maia.memory.ranking import MATCHES, Hit, affordable
from maia.memory.vectors import Vector, dimensions

if TYPE_CHECKING:
    import psycopg

CONNECT_SECONDS: Final = 10
STATEMENT_SECONDS: Final = 30

_MICRO: Final = 1_000_000
_COLUMNS: Final = "entry_id, text, created, tags, source"

STEPS: Final = (
    """
    CREATE TABLE entries (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        entry_id text NOT NULL UNIQUE,
        created bigint NOT NULL,
        source text NOT NULL,
        tags text[] NOT NULL,
        text text NOT NULL,
        words tsvector NOT NULL
    );
    CREATE TABLE waiting (entry bigint PRIMARY KEY REFERENCES entries ON DELETE CASCADE);
    CREATE INDEX entries_created ON entries (created, id);
    CREATE INDEX entries_tags ON entries USING gin (tags);
    CREATE INDEX entries_words ON entries USING gin (words);
    """,
)
"""What leads from one version of the schema to the next.

`created` is in microseconds, so that it is exact. `waiting` are the entries that have no vectors of the current space.
"""

_VECTORS: Final = """
    CREATE TABLE IF NOT EXISTS vectors (
        entry bigint NOT NULL REFERENCES entries ON DELETE CASCADE,
        vector vector
    );
    CREATE INDEX IF NOT EXISTS vectors_entry ON vectors (entry);
"""
"""Made where the extension is there, which may be later than the rest. Without an index the nearest are exact."""

ResultT = TypeVar("ResultT")
ParamsT = ParamSpec("ParamsT")


def _told(
    work: Callable[Concatenate[PostgresStore, ParamsT], ResultT],
) -> Callable[Concatenate[PostgresStore, ParamsT], ResultT]:
    """The same work, whose failures are `MemoryProblem`s. A connection that was lost is opened anew, once."""

    @wraps(work)
    def told(store: PostgresStore, *args: ParamsT.args, **options: ParamsT.kwargs) -> ResultT:
        psycopg = _psycopg()
        try:
            try:
                return work(store, *args, **options)
            except psycopg.OperationalError:
                if not store.is_lost:
                    raise
                store.close()  # the server was restarted since: nothing of this call was kept
                return work(store, *args, **options)
        except psycopg.Error as error:
            store.close()
            raise MemoryProblem("memory.server", host=store.host, why=store.why(error)) from None

    return told


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError:
        raise MemoryProblem("memory.no_postgres") from None
    return psycopg


class PostgresStore:
    """The entries of one identity in a schema of its own, which is made when it is first used.

    `url` may hold a password and is never shown; `host` is.
    """

    def __init__(self, url: str, identity: str) -> None:
        self._url = url
        self._identity = identity
        self.schema = f"maia_{place_name(identity)}".replace("-", "_")
        self.host = _host(url)
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
        self._has_vectors = False

    @property
    def place(self) -> str:
        return f"{self.host}/{self.schema}"

    @property
    def is_lost(self) -> bool:
        return self._connection is not None and self._connection.closed

    def why(self, error: Exception) -> str:
        """What the server or the driver says, as it may be shown."""
        return _why(error, self._url)

    @property
    def _db(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._connection is None:
            self._connection = self._opened()
        return self._connection

    @property
    def _can_compare(self) -> bool:
        """Whether the server has pgvector, which is known once it was asked."""
        return not self._db.closed and self._has_vectors

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    # Opening

    def _opened(self) -> psycopg.Connection[tuple[Any, ...]]:
        import psycopg

        db: psycopg.Connection[tuple[Any, ...]] = psycopg.connect(
            self._url, autocommit=True, connect_timeout=CONNECT_SECONDS, application_name="maia"
        )
        try:
            db.execute(f"SET statement_timeout = '{STATEMENT_SECONDS}s'; SET client_min_messages = error".encode())
            with db.transaction():
                # One at a time: `IF NOT EXISTS` does not keep two processes from making the same thing.
                db.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (self.schema,))
                self._make(db)
            return db
        except BaseException:
            db.close()
            raise

    def _make(self, db: psycopg.Connection[tuple[Any, ...]]) -> None:
        db.execute(f"CREATE SCHEMA IF NOT EXISTS {self.schema}".encode())
        extension = _extension_schema(db)
        path = f'{self.schema}, "{extension}"' if extension else self.schema
        db.execute(f"SET search_path = {path}".encode())
        db.execute(
            f"CREATE TABLE IF NOT EXISTS {self.schema}.meta (name text PRIMARY KEY, value text NOT NULL)".encode()
        )
        self._check_owner(db)
        version = int(_meta(db, "version", "0"))
        if version > len(STEPS):
            raise MemoryProblem("memory.newer", path=self.place)
        for step in STEPS[version:]:
            db.execute(step.encode())
        _set_meta(db, "version", str(len(STEPS)))
        if extension:
            db.execute(_VECTORS.encode())
        self._has_vectors = bool(extension)

    def _check_owner(self, db: psycopg.Connection[tuple[Any, ...]]) -> None:
        """Two identities never share a store, whatever their schema is called."""
        db.execute("INSERT INTO meta VALUES ('identity', %s) ON CONFLICT DO NOTHING", (self._identity,))
        if _meta(db, "identity", "") != self._identity:
            raise MemoryProblem("memory.other_owner", path=self.place)

    # Entries

    @_told
    def put(self, entries: Sequence[MemoryEntry]) -> int:
        with self._db.transaction():
            before = self._db.execute(
                "DELETE FROM entries WHERE entry_id = ANY(%s)", ([entry.entry_id for entry in entries],)
            ).rowcount
            self._db.cursor().executemany(
                f"WITH new AS (INSERT INTO entries ({_COLUMNS}, words)"
                " VALUES (%s, %s, %s, %s, %s, to_tsvector('simple', %s)) RETURNING id)"
                " INSERT INTO waiting SELECT id FROM new".encode(),
                map(_row, entries),
            )
        return len(entries) - before

    @_told
    def get(self, entry_ids: Sequence[str]) -> Mapping[str, MemoryEntry]:
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM entries WHERE entry_id = ANY(%s)".encode(), (list(entry_ids),))
        return {row[0]: _entry(row) for row in rows}

    @_told
    def forget(self, entry_id: str) -> bool:
        return self._db.execute("DELETE FROM entries WHERE entry_id = %s", (entry_id,)).rowcount > 0

    @_told
    def recent(self, limit: int | None, tags: Sequence[str]) -> Sequence[MemoryEntry]:
        rows = self._db.execute(
            f"SELECT {_COLUMNS} FROM entries WHERE tags @> %s ORDER BY created DESC, id DESC LIMIT %s".encode(),
            (list(tags), limit),
        )
        return [_entry(row) for row in rows]

    # Words

    @_told
    def by_words(self, terms: Sequence[Term], tags: Sequence[str], limit: int) -> Sequence[Hit]:
        """PostgreSQL ranks a text by itself; how rare a word is among all texts is weighed in here, as BM25 does."""
        total, counts = self._counts([_tsquery(term) for term in terms])
        places = affordable(counts, MATCHES)
        queries = [_tsquery(terms[place]) for place in places]
        weights = [_rarity(total, counts[place]) for place in places]
        score = " + ".join("%s * ts_rank(words, %s::tsquery, 1)" for _ in queries)
        rows = self._db.execute(
            f"SELECT entry_id, created, {score} AS score FROM entries"
            " WHERE words @@ %s::tsquery AND tags @> %s ORDER BY score DESC, id DESC LIMIT %s".encode(),
            (
                *(value for pair in zip(weights, queries, strict=True) for value in pair),
                " | ".join(f"({query})" for query in queries),
                list(tags),
                limit,
            ),
        )
        return [Hit(entry_id, created / _MICRO, score) for entry_id, created, score in rows]

    def _counts(self, queries: Sequence[str]) -> tuple[int, Sequence[int]]:
        """How many entries there are, and how many each of the queries matches."""
        counts = ", ".join("(SELECT count(*) FROM entries WHERE words @@ %s::tsquery)" for _ in queries)
        row = self._db.execute(f"SELECT (SELECT count(*) FROM entries), {counts}".encode(), list(queries)).fetchone()
        total, *found = row or (0,)
        return total, found

    # Meaning

    @_told
    def space(self) -> str:
        return _meta(self._db, "space", "")

    @_told
    def without_vectors(self, space: str, limit: int) -> Sequence[MemoryEntry]:
        if not self._can_compare:
            return []
        table = "waiting JOIN entries ON id = entry" if space == _meta(self._db, "space", "") else "entries"
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM {table} ORDER BY id DESC LIMIT %s".encode(), (limit,))
        return [_entry(row) for row in rows]

    @_told
    def put_vectors(self, space: str, vectors: Mapping[str, Sequence[Vector]]) -> None:
        if not self._can_compare:
            return
        with self._db.transaction():
            if _meta(self._db, "space", "") != space:
                self._db.execute("DELETE FROM vectors")
                self._db.execute("INSERT INTO waiting SELECT id FROM entries ON CONFLICT DO NOTHING")
                _set_meta(self._db, "space", space)
            for entry_id, found in vectors.items():
                row = self._db.execute("SELECT id FROM entries WHERE entry_id = %s", (entry_id,)).fetchone()
                if row is not None:
                    self._db.execute("DELETE FROM vectors WHERE entry = %s", row)
                    self._db.execute("DELETE FROM waiting WHERE entry = %s", row)
                    for each in found or (None,):
                        value = None if each is None else _literal(each)
                        self._db.execute("INSERT INTO vectors VALUES (%s, %s::vector)", (*row, value))

    @_told
    def by_meaning(self, space: str, vector: Vector, tags: Sequence[str], limit: int) -> Sequence[Hit]:
        if not self._can_compare or _meta(self._db, "space", "") != space:
            return []
        rows = self._db.execute(
            "SELECT entry_id, created, max(1 - (vector <=> %s::vector)) AS score"
            " FROM vectors JOIN entries ON id = entry WHERE vector IS NOT NULL AND tags @> %s"
            " GROUP BY id ORDER BY score DESC, id DESC LIMIT %s",
            (_literal(vector), list(tags), limit),
        )
        return [Hit(entry_id, created / _MICRO, score) for entry_id, created, score in rows]


def _extension_schema(db: psycopg.Connection[tuple[Any, ...]]) -> str:
    """The schema in which pgvector is installed; empty where the server has none, or this user may not install it."""
    import psycopg

    find = "SELECT nspname FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'vector'"
    row = db.execute(find).fetchone()
    if row is None:
        try:
            with db.transaction():
                db.execute("SELECT pg_advisory_xact_lock(hashtext('maia vector'))")
                db.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        except psycopg.Error:
            return ""
        row = db.execute(find).fetchone()
    return str(row[0]).replace('"', '""') if row else ""


def _meta(db: psycopg.Connection[tuple[Any, ...]], name: str, default: str) -> str:
    row = db.execute("SELECT value FROM meta WHERE name = %s", (name,)).fetchone()
    return row[0] if row else default


def _set_meta(db: psycopg.Connection[tuple[Any, ...]], name: str, value: str) -> None:
    db.execute(
        "INSERT INTO meta VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value", (name, value)
    )


def _rarity(total: int, count: int) -> float:
    """The inverse document frequency of a word, never below what keeps it a hit."""
    return max(log((total - count + 0.5) / (count + 0.5) + 1.0), 1e-6)


def _tsquery(term: Term) -> str:
    """A term in the language of tsquery. Terms are letters and digits only, so nothing in them can end the quotes."""
    star = ":*" if term.is_start else ""
    return " | ".join(f"'{form}'{star}" for form in term.forms)


def _literal(vector: Vector) -> str:
    import struct

    return "[" + ",".join(map(repr, struct.unpack(f"<{dimensions(vector)}f", vector))) + "]"


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.rpartition("@")[2] or "localhost"
    except ValueError:
        return "localhost"


def _why(error: Exception, url: str) -> str:
    """The first line of what the server or the driver says, without the address and without any part of a password.

    Of a password with an `@` that was not written as `%40` the driver takes a part for the host, and says so.
    """
    first = (str(error).strip().splitlines() or [type(error).__name__])[0].replace(url, "postgresql://…")
    account = url.partition("://")[2].rpartition("@")[0].partition(":")[2]
    queried = re.findall(r"[?&]\w*password=([^&]*)", url)
    hidden = {part for each in (account, *queried) for part in (each, unquote(each), *each.split("@"))}
    for part in sorted((part for part in hidden if len(part) > 2), key=len, reverse=True):
        first = first.replace(part, MASK)
    return first


def _row(entry: MemoryEntry) -> tuple[Any, ...]:
    words = " ".join(tokens(" ".join((entry.text, *entry.tags, *entry.tags))))
    return entry.entry_id, entry.text, round(entry.created * _MICRO), list(entry.tags), entry.source, words


def _entry(row: tuple[Any, ...]) -> MemoryEntry:
    entry_id, text, created, tags, source = row
    return MemoryEntry(entry_id, text, created / _MICRO, tuple(tags), source)
