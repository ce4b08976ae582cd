"""Which database: a file in the data folder, or the PostgreSQL server that an address names."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from maia.core.errors import UsageProblem
from maia.database.place import file_in


def database_url(given: str | None, data: Path) -> URL:
    """The address of the database: the given one (`sqlite:///…`, `postgresql://…`), else `<data>/maia.db`.

    Raises `UsageProblem` for an address that is none of the two; its words hold no password.
    """
    if not given:
        return file_url(file_in(data))
    try:
        url = make_url(given)
    except ArgumentError:
        raise UsageProblem("database.bad_url") from None
    kind = url.get_backend_name()
    if kind == "sqlite" and url.database and url.database != ":memory:":
        return file_url(Path(url.database))
    if kind in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise UsageProblem("database.bad_url")


def file_url(path: Path) -> URL:
    """The address of a SQLite file."""
    return URL.create("sqlite", database=str(path.absolute()))


def shown(url: URL) -> str:
    """The address for a person, without its password."""
    return url.database or "" if url.get_backend_name() == "sqlite" else url.render_as_string(hide_password=True)
