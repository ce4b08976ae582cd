"""Whether a model sees images may be unknown (N-01.14)."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    with op.batch_alter_table("models") as models:
        models.alter_column("sees_images", existing_type=sa.Boolean(), nullable=True, server_default=None)
