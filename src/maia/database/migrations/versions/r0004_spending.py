"""What is spent, a row a day; begins with what the answers so far cost."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    table = op.create_table(
        "spending",
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("provider_id", sa.Text(), nullable=False),
        sa.Column("model_id", sa.Text(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), server_default="0", nullable=False) for name in ("calls", "tokens_in")),
        sa.Column("tokens_out", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("usd", sa.Float(), server_default="0", nullable=False),
        sa.Column("unknown", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("day", "purpose", "provider_id", "model_id", name="pk_spending"),
    )
    connection, sums = op.get_bind(), dict[tuple[str, str, str], list[Any]]()
    columns = "provider_id, model_id, tokens_in, tokens_out, cost_usd, ended_at"
    answers = sa.text(f"SELECT {columns} FROM messages WHERE role = 'assistant' AND ended_at IS NOT NULL")
    for provider, model, given, got, usd, ended in connection.execute(answers):
        day = datetime.fromtimestamp(ended / 1000).date().isoformat()
        kept = sums.setdefault((day, provider or "", model or ""), [0, 0, 0, 0.0, 0])
        sums[day, provider or "", model or ""] = [
            kept[0] + 1, kept[1] + (given or 0), kept[2] + (got or 0), kept[3] + (usd or 0.0), kept[4] + (usd is None)
        ]  # fmt: skip
    names = ("day", "provider_id", "model_id", "calls", "tokens_in", "tokens_out", "usd", "unknown")
    rows = [dict(zip(names, (*key, *kept), strict=True), purpose="turn") for key, kept in sums.items()]
    op.bulk_insert(table, rows)
