"""What delegated conversations owe to those that wait for their results."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.add_column("delegations", sa.Column("awaited_by", sa.Text(), nullable=False, server_default=""))
    op.add_column("delegations", sa.Column("late_turn", sa.BigInteger(), nullable=False, server_default=sa.text("0")))
