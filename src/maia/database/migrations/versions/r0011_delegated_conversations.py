"""Conversations that other ones delegated."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("conversations", sa.Column("is_sub", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "delegations",
        sa.Column("conversation_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("turn", sa.BigInteger(), nullable=False, server_default=sa.text("0")),
        sa.Column("call_id", sa.Text(), nullable=False, server_default=""),
        sa.Column("provider_id", sa.Text(), nullable=False),
        sa.Column("model_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("told_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("conversation_id", name="pk_delegations"),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name="fk_delegations_conversation_id",
            ondelete="CASCADE",
        ),
    )
