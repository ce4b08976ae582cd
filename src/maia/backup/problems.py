"""What can keep a backup from being made or put back."""

from __future__ import annotations

from maia.core.errors import MaiaError


class BackupProblem(MaiaError):
    """The backup cannot be made or used; nothing was changed."""
