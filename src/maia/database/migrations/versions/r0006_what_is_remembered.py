"""Notes that are remembered for people, and what is left of compositions after some days (N-11, N-18.04)."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)


def _flag(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), server_default=sa.false(), nullable=False)


def upgrade() -> None:
    op.create_table(
        "memories",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), server_default="global", nullable=False),
        sa.Column("scope_id", sa.Text(), server_default="", nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("words", sa.Text(), server_default="", nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=True),
        sa.Column("origin", sa.Text(), server_default="person", nullable=False),
        _flag("is_standing"),
        _flag("is_important"),
        _flag("is_flagged"),
        sa.Column("conversation_id", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_memories_user_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_memories"),
    )
    op.create_index("ix_memories_user_id_scope_scope_id", "memories", ["user_id", "scope", "scope_id"])
    op.create_table(
        "context_days",
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("provider_id", sa.Text(), nullable=False),
        _count("turns"),
        _count("with_memory"),
        _count("items"),
        _count("expanded"),
        _count("memory_tokens"),
        _count("lookups"),
        _count("items_read"),
        sa.PrimaryKeyConstraint("day", "provider_id", name="pk_context_days"),
    )
