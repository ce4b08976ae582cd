"""What can keep a database from being used, and a row from being written."""

from __future__ import annotations

from maia.core.errors import MaiaError


class DatabaseProblem(MaiaError):
    """The database cannot be opened, read or written."""


class ConversationGone(LookupError):
    """There is no such conversation, or none that anybody sees any more."""


class DatabaseBusy(DatabaseProblem):
    """Another server works on this database."""
