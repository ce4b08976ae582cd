"""What stays of a conversation between its turns: its tools, and its log as a model will read it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from maia.core.errors import MaiaError
from maia.database.conversations import ConversationRow
from maia.database.database import Database
from maia.database.events import events_after
from maia.engine.transcript import Transcript, known_files
from maia.workspace.bench import OpenBench, WorkBench
from maia.workspace.colleagues import Role
from maia.workspace.folders import Room
from maia.workspace.problems import ModelUnavailable

_MOST = 32
"""Conversations whose tools are kept; those of older ones are made again."""


@dataclass(slots=True)
class Kept:
    """What stays of one; its log was read up to `seq`.

    `is_behind`: a turn was begun since, so that there is more in the log.
    """

    room: Room
    role: Role
    bench: WorkBench
    transcript: Transcript
    seq: int = 0
    is_behind: bool = False


class KeptConversations:
    """Those that were written in last."""

    def __init__(self, database: Database, open_bench: OpenBench) -> None:
        self._database = database
        self._open_bench = open_bench
        self._kept: dict[str, Kept] = {}

    def __contains__(self, conversation_id: str) -> bool:
        return conversation_id in self._kept

    def last(self, conversation_id: str) -> Kept | None:
        """What stayed of it."""
        return self._kept.get(conversation_id)

    async def keep(self, row: ConversationRow, room: Room, role: Role) -> Kept:
        """The conversation's tools, kept between its turns, so that they remember what they have read.

        In other folders, and with an agent whose definition is another by now, they are others, and know nothing yet.
        """
        kept = self._kept.pop(row.id, None)
        if kept is None or (kept.room.roots, kept.room.mine, kept.role) != (room.roots, room.mine, role):
            kept = Kept(room, role, await self._bench(row, room, role), Transcript(name=row.id))
        self._kept[row.id] = kept
        while len(self._kept) > _MOST:
            del self._kept[next(iter(self._kept))]
        return kept

    async def transcript(self, row: ConversationRow, kept: Kept) -> Transcript:
        """The whole conversation as the model will read it: from our own log, whoever answered before (R-2.066)."""
        if kept.is_behind or row.last_seq > kept.seq:
            kept.is_behind = False
            logged = await self._database.read(lambda c: events_after(c, row.id, kept.seq, None))
            for each in logged:
                kept.transcript.apply(each.event)
                kept.seq = each.seq
                for path, digest in known_files(each.event):
                    kept.bench.seen(row.id, path, digest)
        return kept.transcript.branch()

    async def _bench(self, row: ConversationRow, room: Room, role: Role) -> WorkBench:
        """The tools as this agent has them. Raises `ModelUnavailable` where its definition cannot be followed."""
        try:
            return await asyncio.to_thread(self._open_bench, room, row.lang, role)
        except MaiaError as error:
            if role.agent is None:
                raise
            raise ModelUnavailable("agent_unavailable", error.key, **error.values) from error
