"""The words by which conversations are found."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from maia.database import search

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    connection = op.get_bind()
    statements = search.ON_FILE if connection.dialect.name == "sqlite" else search.ON_SERVER
    for statement in statements:
        op.execute(statement)
    for conversation, title in connection.execute(sa.text("SELECT id, title FROM conversations")).all():
        search.keep_words(connection, conversation, search.TITLE, title)
    for message, conversation, said in connection.execute(
        sa.text("SELECT id, conversation_id, text FROM messages")
    ).all():
        search.keep_words(connection, conversation, message, said)
