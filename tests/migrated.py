"""An SQLite database with all its tables, made once a process: most tests are not about how they come to be."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

from sqlalchemy import create_engine

from maia.database.migrate import bring_up


def put_database(path: Path) -> None:
    """A new database of this version at a place, unless there is one."""
    if not path.exists():
        with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(_whole())


@cache
def _whole() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "maia.db")
        engine = create_engine(f"sqlite:///{made}")
        bring_up(engine)
        engine.dispose()
        return made.read_bytes()
