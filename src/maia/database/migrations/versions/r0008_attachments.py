"""What is known of a file: its kind, its picture, where a model wrote it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    with op.batch_alter_table("attachments") as attachments:
        attachments.add_column(sa.Column("kind", sa.Text(), server_default="other", nullable=False))
        attachments.add_column(sa.Column("path", sa.Text()))
        attachments.add_column(sa.Column("changed_ns", sa.BigInteger()))
        attachments.add_column(sa.Column("problem", sa.Text(), server_default="", nullable=False))
        attachments.add_column(sa.Column("width", sa.BigInteger()))
        attachments.add_column(sa.Column("height", sa.BigInteger()))
        attachments.add_column(sa.Column("sent_digest", sa.Text()))
        attachments.add_column(sa.Column("sent_type", sa.Text()))
        attachments.add_column(sa.Column("thumbnail_digest", sa.Text()))
        attachments.add_column(sa.Column("is_cut", sa.Boolean(), server_default=sa.false(), nullable=False))
