"""The workspace's database: tables, migrations, one writer, many readers, on SQLite or PostgreSQL (decisions §7)."""
