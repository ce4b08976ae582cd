"""What becomes of a delegated conversation is told to those above it: their status, their history, their pages."""

from __future__ import annotations

from sqlalchemy import Connection

from maia.core.events import Event, RecordChanged, SubConversationChanged
from maia.database import delegations
from maia.database.events import Stamped
from maia.database.ids import now_ms
from maia.workspace.log import Log


class Upward:
    """Notes in a transaction who shows the conversation, and tells their readers when that is written."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._told: dict[tuple[str, int], list[Event]] = {}

    def note(self, connection: Connection, conversation_id: str, outcome: str = "", *, is_told: bool = False) -> None:
        """That conversation is in another state; with the `outcome` of its turn where one ended.

        `is_told`: the call that it works for still waits for it, and says by itself how it went.
        """
        for above, turn in delegations.tell_above(connection, conversation_id, outcome):
            self._told.setdefault((above, turn), []).append(RecordChanged(("children", "fields", "history")))
        if not is_told:
            self.note_call(connection, conversation_id)

    def note_call(self, connection: Connection, conversation_id: str) -> None:
        """The row of the call that it works for, which is over, is another one."""
        handed = delegations.handed(connection, conversation_id)
        if handed is not None:
            changed = SubConversationChanged(handed.call_id, conversation_id, handed.status)
            self._told.setdefault((handed.conversation_id, handed.turn), []).append(changed)

    def tell(self) -> None:
        """Readers of the conversations above look again."""
        told, self._told = self._told, {}
        for (conversation_id, turn), events in told.items():
            at = now_ms()
            self._log.write(conversation_id, turn, [Stamped(at, event) for event in dict.fromkeys(events)])
