"""The few kinds of columns that the tables are made of."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, Boolean, Column, Float, ForeignKey, Integer, Text, false, text


def ident(name: str = "id") -> Column[str]:
    """The primary key: an identifier of `ids.new_id`."""
    return Column(name, Text, primary_key=True)


def to(
    table: str, name: str, *, required: bool = True, on_delete: str = "CASCADE", primary: bool = False
) -> Column[str]:
    """A reference to the row of another table, found by an index of the table where it matters."""
    key = ForeignKey(f"{table}.id", ondelete=on_delete)
    return Column(name, Text, key, nullable=not required, primary_key=primary)


def words(name: str, default: str | None = None, *, required: bool = True) -> Column[str]:
    """Text. With a default it is never NULL."""
    return Column(name, Text, nullable=not required, server_default=default)


def moment(name: str, *, required: bool = True) -> Column[int]:
    """Milliseconds since 1970, UTC: the same number on both databases, sorted as it stands."""
    return Column(name, BigInteger, nullable=not required)


def count(name: str, default: int | None = None, *, primary: bool = False) -> Column[int]:
    """A whole number; NULL where it has no default and nobody knows it."""
    given = None if default is None else text(str(default))
    return Column(name, BigInteger, nullable=default is None and not primary, server_default=given, primary_key=primary)


def place(name: str = "position") -> Column[int]:
    """Where a row stands among its like."""
    return Column(name, Integer, nullable=False, server_default=text("0"))


def money(name: str) -> Column[float]:
    """US dollars; NULL is unknown, which is never 0."""
    return Column(name, Float, nullable=True)


def flag(name: str) -> Column[bool]:
    """Yes or no, no by default."""
    return Column(name, Boolean, nullable=False, server_default=false())


def data(name: str, *, required: bool = False) -> Column[Any]:
    """A JSON value that is read and written whole."""
    return Column(name, JSON, nullable=not required)
