"""Each test of this room runs on both databases."""

from tests.databases import database_url, postgres

__all__ = ["database_url", "postgres"]
