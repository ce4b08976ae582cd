"""Answers that are asked for in every turn and change once a week: kept until a table they came from is written."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from functools import cache
from typing import Any, Final

from sqlalchemy import Connection, Delete, Engine, Table, UpdateBase, event

MOST: Final = 512
"""Answers that are kept; past that they are all found anew."""

Mark = tuple[int, ...]
"""How often this server had begun to be the only one, and each of some tables to be written, when it was looked for."""


class Known:
    """One server alone writes a database (`connect.hold`), on one connection at a time: nothing changes unheard."""

    def __init__(self, writes: Engine) -> None:
        """`writes` is the engine that all writes pass through."""
        self._writes: Counter[str] = Counter()
        self._touched: defaultdict[int, set[str]] = defaultdict(set)
        self._kept: dict[Hashable, tuple[Mark, Any]] = {}
        self._times_alone = 0
        event.listen(writes, "after_execute", self._heard)

    def mark(self, tables: Iterable[Table]) -> Mark:
        """To be taken before an answer is looked for: what is committed meanwhile makes it an old one."""
        return (self._times_alone, *(self._writes[each.name] for each in tables))

    def forget(self) -> None:
        """Somebody else may have written: whatever is kept is old."""
        self._times_alone += 1

    def get(self, key: Hashable, mark: Mark) -> tuple[Any] | None:
        """The answer that is kept under `key`, if nothing was written since."""
        found = self._kept.get(key)
        return (found[1],) if found is not None and found[0] == mark else None

    def keep(self, key: Hashable, mark: Mark, answer: Any) -> None:
        """Keep an answer that was looked for after `mark`."""
        if len(self._kept) >= MOST:
            self._kept.clear()
        self._kept[key] = mark, answer

    def committed(self) -> None:
        """What this thread wrote is there for others now; called before who wrote it is told.

        Another thread may have begun to write by then: what it touches counts with its own commit.
        """
        self._writes.update(self._touched.pop(threading.get_ident(), ()))

    def _heard(self, _connection: Connection, statement: object, *_rest: object) -> None:
        if isinstance(statement, UpdateBase):
            table: Any = statement.table
            names = _with_others(table) if isinstance(statement, Delete) else {table.name}
            self._touched[threading.get_ident()] |= names


@cache
def _with_others(table: Table) -> frozenset[str]:
    """The tables in which something may go along with a row of this one: those that refer to it, and on from there."""
    refer = [
        each for each in table.metadata.tables.values() if any(key.column.table is table for key in each.foreign_keys)
    ]
    others = (_with_others(each) for each in refer if each is not table)
    return frozenset({table.name}).union(*others)
