"""A card that enters a stage with an agent of its own is handed to that agent, which begins by itself (N-14.05)."""

from __future__ import annotations

import asyncio
import logging

from sqlalchemy import Connection

from maia.core.errors import MaiaError
from maia.database import conversations, projects
from maia.database.conversations import ConversationRow
from maia.database.database import Database
from maia.workspace.delegating.runs import How, Runs

_logger = logging.getLogger("maia.workspace")


class Handing:
    """Begins the runs of cards; `close` waits until those that begin have begun."""

    def __init__(self, database: Database, runs: Runs) -> None:
        self._database = database
        self._runs = runs
        self._beginning: set[asyncio.Task[None]] = set()

    async def look(self, conversation_id: str, stage_before: str | None) -> None:
        """A card was changed or made: where it came into such a stage, its title is the task. Returns at once.

        A card without a title says nothing yet, and one that was answered goes on with who answered it (R-2.007).
        """

        def find(connection: Connection) -> tuple[ConversationRow, str] | None:
            row = conversations.conversation(connection, conversation_id)
            if row is None or row.stage_id == stage_before or row.last_turn or not row.agent or not row.title:
                return None
            entered = next((each for each in projects.stages(connection) if each.id == row.stage_id), None)
            return (row, entered.name) if entered is not None and entered.agent == row.agent else None

        if (found := await self._database.read(find)) is not None:
            task = asyncio.create_task(self._begin(*found))
            self._beginning.add(task)
            task.add_done_callback(self._beginning.discard)

    async def close(self) -> None:
        """Wait for those that begin at this moment."""
        await asyncio.gather(*self._beginning)

    async def _begin(self, row: ConversationRow, stage: str) -> None:
        try:
            await self._runs.begin(row, row.title, How("background", by=stage, attended=False))
        except MaiaError as refused:  # it stands on the card
            _logger.warning("card %s: %s", row.id, refused.key)
        except Exception:  # nobody waits for this task
            _logger.exception("card %s", row.id)
