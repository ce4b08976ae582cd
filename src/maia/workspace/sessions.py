"""Terminal sessions of a folder, opened as conversations: the file is only read, and what is new in it is added."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from maia.core.events import SessionStarted
from maia.core.jsonvalue import JsonObject
from maia.database import conversations, messages, settings
from maia.database.conversations import ConversationRow, Pin
from maia.database.database import Database
from maia.database.events import Logged, append_events
from maia.database.folders import FolderRow, set_folders
from maia.database.opened import OpenedRow, keep_opened, opened_from, worked_in
from maia.database.users import User
from maia.folders.lists import Folder
from maia.store.journal import is_being_written
from maia.store.sessions import SessionInfo, Sessions
from maia.workspace.folders import WorkFolders
from maia.workspace.log import Log
from maia.workspace.meta import TurnSums
from maia.workspace.models.catalogue import Pair
from maia.workspace.models.shelf import Shelf
from maia.workspace.people.rights import may
from maia.workspace.problems import Busy, NotAllowed, NotThere, Unusable
from maia.workspace.takeover import Turn, turns_of
from maia.workspace.titles import excerpt

SESSIONS = Path(".maia", ".sessions")
"""Where a folder's terminal sessions lie (T8.01)."""
LARGEST = 64_000_000
"""Bytes of a session file that is opened."""
OPENED = "terminal_session_opened"
_KNOWN = 50

Trusts = Callable[[Path], bool]
"""Whether the person of this machine trusts what a folder brings (decisions §9). Blocks."""


def everybody(_folder: Path) -> bool:
    """Every folder is trusted."""
    return True


@dataclass(frozen=True, slots=True)
class Listed:
    """A session for a list. `modified` is in milliseconds; `conversation` is the one that it was opened as, if any.

    `is_going_on`: a terminal writes it at this moment.
    """

    name: str
    title: str
    modified: int
    size: int
    is_going_on: bool
    conversation: str | None


@dataclass(frozen=True, slots=True)
class Opened:
    """The conversation that stands for a session, whether it was made for it now, and how many turns were added."""

    conversation: str
    is_new: bool
    added: int


@dataclass(frozen=True, slots=True)
class _Read:
    """What a session file holds."""

    info: SessionInfo
    turns: list[Turn]
    origin: str
    copied: int


class TerminalSessions:
    """The sessions of folders on this machine, for people who may work in these folders (R-2.319–R-2.337)."""

    def __init__(self, database: Database, log: Log, folders: WorkFolders, models: Shelf, trusts: Trusts) -> None:
        self._database = database
        self._log = log
        self._folders = folders
        self._models = models
        self._trusts = trusts

    async def listed(self, user: User, folder: str) -> Sequence[Listed]:
        """The sessions of a folder, the last changed first. Raises `FolderRefused`, `NotAllowed`."""
        real = await self._entered(user, folder)
        infos = await asyncio.to_thread(lambda: _sessions(real).list() if _is_inside(real) else [])
        rows = await self._database.read(lambda c: opened_from(c, user.id, real))
        known = {row.name: row.conversation_id for row in reversed(rows)}
        going = await asyncio.to_thread(lambda: {each.name for each in infos if is_being_written(each.path)})
        return [
            Listed(
                each.name,
                excerpt(each.title),
                int(each.modified * 1000),
                each.size,
                each.name in going,
                known.get(each.name),
            )
            for each in infos
        ]

    async def open(self, user: User, folder: str, name: str, lang: str) -> Opened:
        """Open a session: the conversation that stands for it already, with what is new, else a new one.

        Where both went on since, they have parted: the session becomes another conversation. Raises `FolderRefused`,
        `NotAllowed`, `NotThere` for no such session, `Unusable` for one without a turn or beyond bounds, `Busy`.
        """
        real = await self._entered(user, folder)
        read = await asyncio.to_thread(_read, real, name)
        pin = await self._pin(read.turns[-1])

        def work(connection: Connection) -> tuple[Opened, tuple[Logged, ...]]:
            known = _standing(connection, user, real, read)
            if known is not None:
                row, taken = known
                fresh = read.turns[taken:]
                if fresh and row.status == "running":
                    raise Busy("workspace.busy")
                logged = _add(connection, row, user.id, fresh)
                last = row.last_turn + len(fresh)
                opened = Opened(row.id, False, len(fresh))
            else:
                row, logged = _made(connection, user, real, read, pin, lang)
                last = len(read.turns)
                opened = Opened(row.id, True, last)
            if opened.added:
                keep_opened(connection, real, OpenedRow(opened.conversation, name, len(read.turns), last))
                details: JsonObject = {"folder": real, "session": name, "turns": opened.added}
                settings.note_act(connection, OPENED, by=user.id, conversation=opened.conversation, details=details)
            return opened, logged

        opened, logged = await self._database.write(work)
        self._log.tell(opened.conversation, logged)
        return opened

    async def folders(self, user: User) -> Sequence[str]:
        """Folders that this person's conversations work in, the last used first: sessions may lie there.

        Raises `NotAllowed` for who only reads.
        """
        _works(user)
        return await self._database.read(lambda c: worked_in(c, user.id, _KNOWN))

    # Inside

    async def _entered(self, user: User, folder: str) -> str:
        """Where a folder really is, for who may work there. Raises `FolderRefused`, `NotAllowed`."""
        _works(user)
        checked = (await self._folders.checked(user.id, [Folder("", folder)]))[0]
        real = await asyncio.to_thread(os.path.realpath, checked.path)
        if not await asyncio.to_thread(self._trusts, Path(real)):
            raise NotAllowed("sessions.untrusted", folder=real)
        return real

    async def _pin(self, last: Turn) -> Pin:
        """Who answered last goes on answering, where they are here (R-2.069)."""
        pair = Pair(last.ended.provider, last.ended.model)
        if not (await self._models.known()).is_available(pair):
            return Pin()
        return Pin("pinned", *pair)


def _works(user: User) -> None:
    """What was said at a terminal is no conversation of somebody who only reads their own (N-20.03)."""
    if not may(user, "chat"):
        raise NotAllowed("people.may_only_read")


def _sessions(real: str) -> Sessions:
    return Sessions(Path(real) / SESSIONS)


def _is_inside(real: str) -> bool:
    """A folder for sessions that leads elsewhere by a link is nobody's of this folder."""
    return os.path.realpath(Path(real) / SESSIONS) == str(Path(real) / SESSIONS)


def _read(real: str, name: str) -> _Read:
    """What the session of that name holds. Blocks. Raises `NotThere`, `Unusable`."""
    kept = _sessions(real)
    info = next((each for each in kept.list() if each.name == name), None) if _is_inside(real) else None
    if info is None:
        raise NotThere("sessions.unknown", name=name)
    if info.size > LARGEST:
        raise Unusable("sessions.too_big", name=name, megabytes=LARGEST // 1_000_000)
    is_going_on = is_being_written(info.path)
    records = kept.load(name).records
    turns = turns_of(records, is_going_on=is_going_on)
    if not turns:
        raise Unusable("sessions.empty", name=name)
    begun = next((each.event for each in records if isinstance(each.event, SessionStarted)), None)
    return _Read(info, turns, begun.conversation if begun else "", begun.turns if begun else 0)


def _standing(connection: Connection, user: User, real: str, read: _Read) -> tuple[ConversationRow, int] | None:
    """The conversation that stands for a session, and how many of its turns stand there: none once both went on."""
    found = [each for each in opened_from(connection, user.id, real) if each.name == read.info.name]
    if read.origin and not any(each.conversation_id == read.origin for each in found):
        found.append(OpenedRow(read.origin, read.info.name, read.copied, read.copied))
    for each in found:
        row = conversations.conversation_of(connection, each.conversation_id, user.id)
        if row is None or len(read.turns) < each.session_turns:
            continue
        if len(read.turns) == each.session_turns or row.last_turn == each.last_turn:
            return row, each.session_turns
    return None


def _made(
    connection: Connection, user: User, real: str, read: _Read, pin: Pin, lang: str
) -> tuple[ConversationRow, tuple[Logged, ...]]:
    made = conversations.add_conversation(connection, user.id, "", lang, pin)
    conversations.set_title(connection, made, excerpt(read.turns[0].said) or read.info.name, "message")
    set_folders(connection, "conversation", made, [FolderRow(os.path.basename(real) or real, real)])
    row = conversations.conversation_of(connection, made, user.id)
    assert row is not None, "it was made in this transaction"
    return row, _add(connection, row, user.id, read.turns)


def _add(connection: Connection, row: ConversationRow, author: str, turns: Sequence[Turn]) -> tuple[Logged, ...]:
    """Turns at the end of a conversation, with their own times; nobody runs them."""
    logged: list[Logged] = []
    for turn in turns:
        said = turn.said.replace("\x00", "\ufffd")
        number = messages.place_turn(connection, row.id, author, said, turn.events[0].at).turn
        mine = turn.numbered(number)
        sums = TurnSums()
        for each in mine.events:
            sums.take(each.event)
        logged += append_events(connection, row.id, number, mine.events)
        messages.close_answer(connection, row.id, number, sums.ending(mine.ended), mine.events[-1].at)
    if turns:
        conversations.set_status(connection, row.id, row.status)  # it counts as changed
    return tuple(logged)
