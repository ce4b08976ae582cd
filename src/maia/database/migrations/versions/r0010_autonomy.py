"""Levels of autonomy, refusals, and approvals of runs that nobody looks on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("approvals", sa.Column("is_background", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("approvals", sa.Column("problem", sa.Text(), server_default="", nullable=False))
    op.create_table(
        "autonomy_levels",
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("level", sa.BigInteger(), server_default=sa.text("1"), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["changed_by"], ["users.id"], name="fk_autonomy_levels_changed_by_users", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("category", name="pk_autonomy_levels"),
    )
    op.create_table(
        "denials",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("conversation_id", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("checkpoint", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("counts", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name="fk_denials_conversation_id_conversations",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_denials"),
    )
    op.create_index("ix_denials_at", "denials", ["at"])
