"""Calls that need a person: rows that outlive the server, each allowed exactly once for the exact call (§19)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from maia.core.codec import to_json
from maia.core.events import ApprovalRequested, CallDecided
from maia.core.jsonvalue import JsonObject
from maia.core.reason import Reason
from maia.core.results import Block
from maia.database import approvals
from maia.database.approvals import ApprovalRow, Asked, Verdict
from maia.database.database import Database
from maia.database.events import Stamped, events_of_turns
from maia.database.ids import now_ms
from maia.database.settings import note_act
from maia.database.users import User
from maia.workspace.autonomy.categories import kind_of_call
from maia.workspace.delegating.upward import Upward
from maia.workspace.log import Log
from maia.workspace.people.rights import may
from maia.workspace.problems import AlreadyDecided, NotAllowed, NotYours

LISTED = 200
PART_KNOWN: Final = "runtime.part_known"
"""Why a call is asked about of which only a part is known: nobody could say later that it is the same one."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a question: `used` is the approval that allows the call, `ticket` the row in which it waits."""

    used: str = ""
    ticket: str = ""


def digest_of(folder: Path, tool: str, arguments: JsonObject) -> str:
    """Which call this is: its tool, its arguments whatever their order, and the folder in which it works."""
    canonical = json.dumps([str(folder), tool, arguments], sort_keys=True, separators=(",", ":"))
    return sha256(canonical.encode("ascii")).hexdigest()


def may_decide(user: User) -> bool:
    """Whether somebody decides on calls, in the queue and on the cards alike (R-2.239, R-2.240)."""
    return may(user, "approve")


class Queue:
    """All calls of this server that wait for a person."""

    def __init__(self, database: Database, log: Log, go_on: Callable[[str, int], None]) -> None:
        """`go_on` hears (conversation, turn) of a run that waited, when somebody decided on a call of it."""
        self._database = database
        self._log = log
        self._go_on = go_on
        self._open: set[str] = set()

    # What turns ask

    async def settle(self, conversation: str, turn: int, folder: Path, question: ApprovalRequested) -> Settled:
        """Use an approval of exactly this call, or put it into the queue. A call known in part only does neither."""
        if question.decision.reason.key == PART_KNOWN:
            return Settled()
        asked = _asked(conversation, turn, folder, question)

        def work(connection: Connection) -> Settled:
            used = approvals.claim(connection, conversation, asked.digest)
            return Settled(used=used) if used else self._placed(connection, asked)

        return await self._database.write(work)

    async def used(self, conversation: str, folder: Path, question: ApprovalRequested) -> Settled:
        """Use an approval of exactly this call, if there is one."""
        digest = digest_of(folder, question.name, question.arguments)
        used = await self._database.write(lambda c: approvals.claim(c, conversation, digest))
        return Settled(used=used or "")

    async def wait(
        self, conversation: str, turn: int, folder: Path, question: ApprovalRequested, reason: Reason
    ) -> Settled:
        """Put a call of a background run into the queue: its run goes on when somebody decides (N-07.05)."""
        if question.decision.reason.key == PART_KNOWN:
            return Settled()
        waiting = replace(_asked(conversation, turn, folder, question), reason=to_json(reason), is_background=True)
        return await self._database.write(lambda c: self._placed(c, waiting))

    async def report(
        self, conversation: str, turn: int, folder: Path, question: ApprovalRequested, reason: Reason
    ) -> None:
        """Keep a call that is made without asking anybody, for people to read (N-07.02)."""
        made = replace(_asked(conversation, turn, folder, question), reason=to_json(reason), is_background=True)
        await self._database.write(lambda c: approvals.report(c, made))

    def _placed(self, connection: Connection, asked: Asked) -> Settled:
        ticket = approvals.place(connection, asked)
        self._open.add(ticket)  # before anybody can decide: writes come one after the other
        return Settled(ticket=ticket)

    async def take_back(self, settled: Settled) -> None:
        """The turn was stopped before the call could be made or told of."""
        if settled.used:
            await self._database.write(lambda c: approvals.give_back(c, settled.used))
        elif settled.ticket:
            self._open.discard(settled.ticket)
            await self._database.write(lambda c: approvals.drop(c, settled.ticket))

    def waits(self, ticket: str) -> bool:
        """Whether nobody has decided yet on what this server placed."""
        return ticket in self._open

    # What people do

    async def listed(self, user: User, *, decided: bool) -> Sequence[ApprovalRow]:
        """What waits or was decided: everybody's for those who decide, their own for others."""
        owner = None if may_decide(user) else user.id
        return await self._database.read(lambda c: approvals.list_approvals(c, owner, decided=decided, limit=LISTED))

    async def count(self, user: User) -> int:
        """How many wait that this person sees."""
        owner = None if may_decide(user) else user.id
        return await self._database.read(lambda c: approvals.count_open(c, owner))

    async def one(self, user: User, approval_id: str) -> ApprovalRow:
        """One request. Raises `NotYours` where this person does not see it."""
        row = await self._database.read(lambda c: approvals.approval(c, approval_id))
        if row is None or not (may_decide(user) or row.owner_id == user.id):
            raise NotYours("approvals.not_found")
        return row

    async def proposal(self, row: ApprovalRow) -> tuple[Block, ...]:
        """What the call would change, as it was shown when it was asked for."""
        logged = await self._database.read(lambda c: events_of_turns(c, row.conversation_id, row.turn, row.turn))
        asked = (each.event for each in logged if isinstance(each.event, ApprovalRequested))
        return next((event.blocks for event in asked if event.call_id == row.call_id), ())

    async def decide(self, user: User, approval_id: str, verdict: Verdict) -> ApprovalRow:
        """Approve or refuse. Raises `NotYours`, `NotAllowed`, and `AlreadyDecided` when somebody was faster."""
        row = await self.one(user, approval_id)
        if not may_decide(user):
            raise NotAllowed("approvals.not_allowed")
        await asyncio.shield(asyncio.ensure_future(self._decided(user, row, verdict)))
        return await self.one(user, approval_id)

    async def _decided(self, user: User, row: ApprovalRow, verdict: Verdict) -> None:
        """Write it down, and let go on what waited for it, whether or not who decided still waits for the answer."""
        approval_id, upward = row.id, Upward(self._log)

        def along(connection: Connection) -> None:
            if not approvals.decide(connection, approval_id, verdict, user.id):
                raise AlreadyDecided("approvals.already")
            approvals.settle_status(connection, row.conversation_id)
            upward.note(connection, row.conversation_id)
            details = {"approval": approval_id, "tool": row.tool}
            note_act(connection, f"approval.{verdict}", by=user.id, conversation=row.conversation_id, details=details)

        event = Stamped(now_ms(), CallDecided(approval_id, verdict, user.name))
        await asyncio.wrap_future(self._log.write(row.conversation_id, row.turn, [event], along))
        upward.tell()
        self._open.discard(approval_id)
        if row.is_background:
            self._go_on(row.conversation_id, row.turn)


def _asked(conversation: str, turn: int, folder: Path, question: ApprovalRequested) -> Asked:
    return Asked(
        conversation_id=conversation,
        turn=turn,
        call_id=question.call_id,
        tool=question.name,
        arguments=question.arguments,
        digest=digest_of(folder, question.name, question.arguments),
        preview=question.preview.replace("\x00", "\ufffd"),
        reason=to_json(question.decision.reason),
        category=kind_of_call(question.needs).category,
    )
