"""What becomes of a delegated conversation is told to those above it: their status, their history, their pages."""

from __future__ import annotations

from sqlalchemy import Connection

from maia.core.events import RecordChanged
from maia.database import delegations
from maia.database.events import Stamped
from maia.database.ids import now_ms
from maia.workspace.log import Log


class Upward:
    """Notes in a transaction who shows the conversation, and tells their readers when that is written."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._shown: list[tuple[str, int]] = []

    def note(self, connection: Connection, conversation_id: str, outcome: str = "") -> None:
        """That conversation is in another state; with the `outcome` of its turn where one ended."""
        self._shown += delegations.tell_above(connection, conversation_id, outcome)

    def tell(self) -> None:
        """Readers of the conversations above look again."""
        shown, self._shown = dict(self._shown), []
        for conversation_id, turn in shown.items():
            event = Stamped(now_ms(), RecordChanged(("children", "fields", "history")))
            self._log.write(conversation_id, turn, [event])
