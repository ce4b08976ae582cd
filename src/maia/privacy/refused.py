"""The error of a message that may not leave: it names types of data, never a value (R-2.275)."""

from __future__ import annotations

from maia.core.errors import MaiaError
from maia.privacy.message import Refused


class MessageRefused(MaiaError):
    """Nothing was sent and nothing was kept. `refused` has the text that may be sent instead; `types` are words."""

    exit_code = 2

    def __init__(self, refused: Refused, types: str) -> None:
        super().__init__("privacy.refused", types=types)
        self.refused = refused
