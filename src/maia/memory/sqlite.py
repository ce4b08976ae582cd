"""A memory in one SQLite file: full text by FTS5 with BM25, vectors compared by cosine (C6.04)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from maia.core.memories import MemoryEntry
from maia.memory.query import Term
from maia.memory.ranking import MATCHES, Hit, affordable
from maia.memory.sqlite_file import FILE, is_corrupt, open_file, problem_of, repair, transaction
from maia.memory.vectors import Cosine, Vector, dimensions, nearest, signs

_MICRO: Final = 1_000_000
_COLUMNS: Final = "entry_id, text, created, tags, source"

ResultT = TypeVar("ResultT")
ParamsT = ParamSpec("ParamsT")


def _told(
    work: Callable[Concatenate[SqliteStore, ParamsT], ResultT],
) -> Callable[Concatenate[SqliteStore, ParamsT], ResultT]:
    """The same work, whose failures are `MemoryProblem`s; it is done again where a repair helped."""

    @wraps(work)
    def told(store: SqliteStore, *args: ParamsT.args, **options: ParamsT.kwargs) -> ResultT:
        try:
            try:
                return work(store, *args, **options)
            except sqlite3.DatabaseError as error:
                if not is_corrupt(error):
                    raise
                store.repair()
                return work(store, *args, **options)
        except sqlite3.Error as error:
            store.close()  # whatever is wrong, the next call looks at the file anew
            raise problem_of(error, store.path) from None

    return told


class SqliteStore:
    """The entries of one identity in `folder/memory.db`, which is opened when it is first used."""

    def __init__(self, folder: Path, identity: str) -> None:
        self.path = folder / FILE
        self._identity = identity
        self._connection: sqlite3.Connection | None = None
        self._signs = _Signs()

    @property
    def place(self) -> str:
        return str(self.path)

    @property
    def _db(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_file(self.path.parent, self._identity)
        return self._connection

    def close(self) -> None:
        connection, self._connection = self._connection, None
        self._signs = _Signs()
        if connection is not None:
            connection.close()

    def repair(self) -> None:
        """Mend a file that SQLite calls corrupt, or put it aside. Raises `MemoryProblem` then."""
        self.close()
        repair(self.path.parent, self._identity)

    # Entries

    @_told
    def put(self, entries: Sequence[MemoryEntry]) -> int:
        before = self._count_of([entry.entry_id for entry in entries])
        with transaction(self._db):
            for entry in entries:
                self._remove(entry.entry_id)
                self._insert(entry)
        return len(entries) - before

    def _count_of(self, entry_ids: Sequence[str]) -> int:
        found = self._db.execute(
            "SELECT count(*) FROM entries WHERE entry_id IN (SELECT value FROM json_each(?))", (json.dumps(entry_ids),)
        )
        return found.fetchone()[0]

    def _insert(self, entry: MemoryEntry) -> None:
        row = (entry.entry_id, entry.text, round(entry.created * _MICRO), ", ".join(entry.tags), entry.source)
        done = self._db.execute(f"INSERT INTO entries ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)", row)
        self._db.executemany("INSERT INTO tags VALUES (?, ?)", [(tag, done.lastrowid) for tag in entry.tags])

    def _remove(self, entry_id: str) -> bool:
        """Words, tags and vectors go with the entry, by trigger and by reference."""
        gone = self._db.execute("DELETE FROM entries WHERE entry_id = ?", (entry_id,)).rowcount > 0
        if gone:
            self._bump()
        return gone

    @_told
    def get(self, entry_ids: Sequence[str]) -> Mapping[str, MemoryEntry]:
        rows = self._db.execute(
            f"SELECT {_COLUMNS} FROM entries WHERE entry_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(entry_ids)),),
        )
        return {row[0]: _entry(row) for row in rows}

    @_told
    def forget(self, entry_id: str) -> bool:
        with transaction(self._db):
            return self._remove(entry_id)

    @_told
    def recent(self, limit: int | None, tags: Sequence[str]) -> Sequence[MemoryEntry]:
        condition, values = _with_tags("id", tags)
        rows = self._db.execute(
            f"SELECT {_COLUMNS} FROM entries WHERE 1 {condition} ORDER BY created DESC, id DESC LIMIT ?",
            (*values, -1 if limit is None else limit),
        )
        return [_entry(row) for row in rows]

    # Words

    @_told
    def by_words(self, terms: Sequence[Term], tags: Sequence[str], limit: int) -> Sequence[Hit]:
        match, floor = self._affordable([_match(term) for term in terms])
        condition, values = _with_tags("words.rowid", tags)
        rows = self._db.execute(
            "SELECT entry_id, created, score FROM entries JOIN ("
            "  SELECT rowid AS found, bm25(words, 1.0, 2.0) AS score FROM words"
            f" WHERE words MATCH ? AND rowid >= ? {condition} ORDER BY score, rowid DESC LIMIT ?"
            ") ON id = found ORDER BY score, id DESC",
            (match, floor, *values, limit),
        )
        return [Hit(entry_id, created / _MICRO, -score) for entry_id, created, score in rows]

    def _affordable(self, matches: Sequence[str]) -> tuple[str, int]:
        """What is asked for, and the oldest entry to look at.

        A single word that nearly every entry has is looked for in the newest ones: their scores hardly differ.
        """
        counts = [self._matching(match) for match in matches]
        wanted = " OR ".join(matches[place] for place in affordable(counts, MATCHES))
        if min(counts) <= MATCHES:
            return wanted, 0
        newest = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT 1 OFFSET ?"
        return wanted, self._db.execute(newest, (wanted, MATCHES)).fetchone()[0]

    def _matching(self, match: str) -> int:
        return self._db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (match,)).fetchone()[0]

    # Meaning

    @_told
    def space(self) -> str:
        return self._meta("space", "")

    @_told
    def without_vectors(self, space: str, limit: int) -> Sequence[MemoryEntry]:
        # CROSS JOIN keeps the order: otherwise SQLite walks through all entries to find that none of them waits.
        waiting = "waiting CROSS JOIN entries ON id = entry ORDER BY entry"
        table = waiting if space == self._meta("space", "") else "entries ORDER BY id"
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM {table} DESC LIMIT ?", (limit,))
        return [_entry(row) for row in rows]

    @_told
    def put_vectors(self, space: str, vectors: Mapping[str, Sequence[Vector]]) -> None:
        with transaction(self._db):
            if self._meta("space", "") != space:
                self._db.execute("DELETE FROM vectors")
                self._db.execute("INSERT OR IGNORE INTO waiting SELECT id FROM entries")
                self._set_meta("space", space)
                self._bump()
            for entry_id, found in vectors.items():
                row = self._db.execute("SELECT id FROM entries WHERE entry_id = ?", (entry_id,)).fetchone()
                if row is not None:
                    self._db.execute("DELETE FROM vectors WHERE entry = ?", row)
                    self._db.execute("DELETE FROM waiting WHERE entry = ?", row)
                    rows = [(*row, _sign_bytes(each), each) for each in found] or [(*row, None, None)]
                    self._db.executemany("INSERT INTO vectors (entry, signs, vector) VALUES (?, ?, ?)", rows)

    @_told
    def by_meaning(self, space: str, vector: Vector, tags: Sequence[str], limit: int) -> Sequence[Hit]:
        if self._meta("space", "") != space:
            return []
        self._signs.follow(self._db, self._meta("generation", "0"))
        best: dict[int, float] = {}
        near = Cosine(vector)
        for entry, other in self._candidates(vector, tags):
            best[entry] = max(best.get(entry, -1.0), near.to(other))
        wanted = sorted(best.items(), key=lambda pair: -pair[1])[:limit]
        return list(self._hits(wanted))

    def _candidates(self, vector: Vector, tags: Sequence[str]) -> Iterator[tuple[int, Vector]]:
        known = self._signs
        ids, among = known.ids, known.signs
        if tags:
            condition, values = _with_tags("id", tags)
            allowed = {row[0] for row in self._db.execute(f"SELECT id FROM entries WHERE 1 {condition}", values)}
            places = [place for place, entry in enumerate(known.entries) if entry in allowed]
            ids, among = [ids[place] for place in places], [among[place] for place in places]
        near = json.dumps([ids[place] for place in nearest(signs(vector), among)])
        yield from self._db.execute(
            "SELECT entry, vector FROM vectors WHERE id IN (SELECT value FROM json_each(?))", (near,)
        )

    def _hits(self, scored: Sequence[tuple[int, float]]) -> Iterator[Hit]:
        for entry, score in scored:
            row = self._db.execute("SELECT entry_id, created FROM entries WHERE id = ?", (entry,)).fetchone()
            if row is not None:
                yield Hit(row[0], row[1] / _MICRO, score)

    # What is noted beside

    def _meta(self, name: str, default: str) -> str:
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else default

    def _set_meta(self, name: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def _bump(self) -> None:
        """Rows went away: what another process, or this one, holds in memory of them is read again."""
        self._set_meta("generation", str(int(self._meta("generation", "0")) + 1))


class _Signs:
    """The signs of all vectors, kept between questions; only new ones are read as long as none went away."""

    def __init__(self) -> None:
        self._generation: str | None = None
        self._last = 0
        self.ids: list[int] = []
        self.entries: list[int] = []
        self.signs: list[int] = []

    def follow(self, db: sqlite3.Connection, generation: str) -> None:
        if generation != self._generation:
            self.__init__()
            self._generation = generation
        table = "vectors" if self._last else "vectors INDEXED BY vectors_entry"  # the index alone is a tenth as big
        rows = db.execute(f"SELECT id, entry, signs FROM {table} WHERE id > ? AND signs NOT NULL", (self._last,))
        for row_id, entry, found in rows:
            self.ids.append(row_id)
            self.entries.append(entry)
            self.signs.append(int.from_bytes(found, "big"))
            self._last = max(self._last, row_id)


def _sign_bytes(vector: Vector) -> bytes:
    return signs(vector).to_bytes((dimensions(vector) + 7) // 8, "big")


def _match(term: Term) -> str:
    """A term in the language of FTS5. Terms are letters and digits only, so nothing in them can end the quotes."""
    star = "*" if term.is_start else ""
    return "(" + " OR ".join(f'"{form}"{star}' for form in term.forms) + ")"


def _with_tags(column: str, tags: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The condition that an entry has all of the tags."""
    return "".join(f" AND {column} IN (SELECT entry FROM tags WHERE tag = ?)" for _ in tags), tuple(tags)


def _entry(row: tuple[Any, ...]) -> MemoryEntry:
    entry_id, text, created, tags, source = row
    return MemoryEntry(entry_id, text, created / _MICRO, tuple(tags.split(", ")) if tags else (), source)
