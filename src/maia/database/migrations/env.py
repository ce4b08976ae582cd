"""How alembic reaches the database: through the connection that `migrate.py` hands it."""

from alembic import context

from maia.database.tables.every import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
with context.begin_transaction():
    context.run_migrations()
