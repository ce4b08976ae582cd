"""Background runs that wait for a person: each goes on in a turn of its own once everything was decided (N-07.06)."""

from __future__ import annotations

import asyncio
import json

from maia.core.codec import to_json
from maia.core.errors import MaiaError
from maia.core.events import Notice
from maia.core.reason import Reason
from maia.core.submission import Submission
from maia.database import approvals, conversations, delegations
from maia.database.conversations import ConversationRow
from maia.database.database import Database
from maia.database.events import Stamped
from maia.database.ids import now_ms
from maia.workspace.delegating.late import LateResults, Runs, Words
from maia.workspace.delegating.runs import How
from maia.workspace.log import Log


class PausedRuns:
    """Lets them go on. `late` hears of those that stay stopped, for whoever waits for their results."""

    def __init__(self, database: Database, log: Log, runs: Runs, words: Words, late: LateResults) -> None:
        self._database = database
        self._log = log
        self._runs = runs
        self._words = words
        self._late = late
        self._closing = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def take_up(self) -> None:
        """Let those go on whose calls were approved while no server was there."""
        for conversation_id, turn in await self._database.read(approvals.waiting_runs):
            self.decided(conversation_id, turn)

    def decided(self, conversation_id: str, turn: int) -> None:
        """Somebody decided on a call of that run; returns at once."""
        if not self._closing:
            task = asyncio.create_task(self._go_on(conversation_id, turn), name=f"resume {conversation_id}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Begin nothing more."""
        self._closing = True
        await self.settled()

    async def settled(self) -> None:
        """Wait until each that may go on does."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _go_on(self, conversation_id: str, turn: int) -> None:
        """Go on where nothing waits any more and something was approved. Why it cannot, is told there and kept."""
        await self._runs.ended(conversation_id)
        asked = await self._database.read(lambda c: approvals.of_turn(c, conversation_id, turn))
        row = await self._database.read(lambda c: conversations.conversation(c, conversation_id))
        approved = [each for each in asked if each.status == "approved"]
        if row is None or row.last_turn != turn or any(each.status == "open" for each in asked):
            return
        if not approved:
            await self._late.refused(row)
            return
        try:
            kind = await self._database.read(lambda c: delegations.kind_of(c, row.id))
            run = "specialist" if kind == "specialist" else "background"
            how = How(run, attended=False, resumes=turn)
            words = await self._words(row, how, "autonomy.go_on", len(approved))
            await self._runs.submit(row, row.owner_id, Submission(words), how=how)
        except MaiaError as error:
            if not self._closing:
                await self._cannot(row, turn, error)

    async def _cannot(self, row: ConversationRow, turn: int, error: MaiaError) -> None:
        told = (Notice("fail", "autonomy.not_resumed"), Notice("fail", error.key, error.values))
        stamped = [Stamped(now_ms(), notice) for notice in told]
        kept = json.dumps(to_json(Reason(error.key, error.values)))
        along = self._log.write(row.id, turn, stamped, lambda c: approvals.note_problem(c, row.id, turn, kept))
        await asyncio.wrap_future(along)
