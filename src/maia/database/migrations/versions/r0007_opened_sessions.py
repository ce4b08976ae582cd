"""Which terminal session a conversation was opened from, and how far it was taken over."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "opened_sessions",
        sa.Column("conversation_id", sa.Text(), nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("session_turns", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("last_turn", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name="fk_opened_sessions_conversation_id_conversations",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("conversation_id", name="pk_opened_sessions"),
    )
    op.create_index("ix_opened_sessions_folder_name", "opened_sessions", ["folder", "name"])
