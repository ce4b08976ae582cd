"""What can keep a database from being used, in words for the person who starts the server."""

from __future__ import annotations

from maia.core.errors import MaiaError


class DatabaseProblem(MaiaError):
    """The database cannot be opened, read or written."""


class DatabaseBusy(DatabaseProblem):
    """Another server works on this database."""
