"""All tables together: `METADATA` is whole where it is taken from here."""

from __future__ import annotations

from maia.database.tables import conversations, memory, models, people
from maia.database.tables.metadata import METADATA

__all__ = ["METADATA", "conversations", "memory", "models", "people"]
