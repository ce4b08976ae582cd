"""What is remembered, and how much of it reached models."""

from __future__ import annotations

from sqlalchemy import Column, Index, LargeBinary, Table, Text

from maia.database.columns import count, flag, ident, moment, to, words
from maia.database.tables.metadata import METADATA

MEMORIES = Table(
    "memories",
    METADATA,
    ident(),
    to("users", "user_id"),
    words("scope", "global"),  # global | type | project
    words("scope_id", ""),
    words("text"),
    words("words", ""),  # folded, each between spaces
    Column("vector", LargeBinary),
    words("origin", "person"),  # person | agent | tool | import | channel
    flag("is_standing"),
    flag("is_important"),
    flag("is_flagged"),
    words("conversation_id", required=False),  # no reference: what was learned outlives where
    moment("created_at"),
    moment("changed_at"),
    Index(None, "user_id", "scope", "scope_id"),
)

CONTEXT_DAYS = Table(
    "context_days",
    METADATA,
    Column("day", Text, primary_key=True),  # 2026-12-04, UTC
    Column("provider_id", Text, primary_key=True),
    count("turns", 0),
    count("with_memory", 0),
    count("items", 0),
    count("expanded", 0),
    count("memory_tokens", 0),
    count("lookups", 0),
    count("items_read", 0),
)
