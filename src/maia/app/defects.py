"""Keeps the report of an error that is ours, and gives the words for it."""

from __future__ import annotations

from maia.core.errors import MaiaError


def reported(error: Exception) -> MaiaError:
    """A defect of ours: no traceback on the screen, but a private file that can be sent to us; it holds no keys."""
    import tempfile
    import traceback

    try:
        handle, path = tempfile.mkstemp(prefix="maia-report-", suffix=".txt")
        with open(handle, "w", encoding="utf-8", errors="replace") as file:
            file.writelines(traceback.format_exception(error))
    except OSError:
        path = ""
    return MaiaError("cli.defect", problem=f"{type(error).__name__}: {error}", path=path)
