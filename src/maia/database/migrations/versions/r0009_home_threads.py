"""The one conversation that a person has with each colleague."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("conversations", sa.Column("home_of", sa.Text(), nullable=True))
    op.create_index("ix_conversations_home_of", "conversations", ["owner_id", "home_of"], unique=True)
