"""Where the database of a workspace lies when nobody says otherwise; loads nothing, so that others may ask."""

from __future__ import annotations

from pathlib import Path

FILE_NAME = "maia.db"


def file_in(data: Path) -> Path:
    """The file in the data folder."""
    return data / FILE_NAME
