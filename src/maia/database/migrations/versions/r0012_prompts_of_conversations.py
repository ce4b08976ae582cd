"""What people wrote for the model of one conversation."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("conversations", sa.Column("prompt", sa.Text(), nullable=False, server_default=""))
