"""Terminals of the OpenCode program: who may open one, where it works, one a conversation and person (N-21)."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias

from maia.core.screens import Screen, Size
from maia.database import conversations
from maia.database.conversations import ConversationRow
from maia.database.database import Database
from maia.database.settings import note_act
from maia.database.users import User
from maia.workspace.folders import Kept, Room, WorkFolders
from maia.workspace.people.accounts import Accounts
from maia.workspace.people.rights import may
from maia.workspace.problems import NotAllowed, NotYours, TerminalRefused

MOST: Final = 8
"""Terminals that run at once on one server: an OpenCode takes some 300 MB."""
MOST_TICKETS: Final = 8
"""Tickets of one person that are good at once."""
OPENED: Final = "terminals.opened"
"""The act of the audit."""
PATIENCE: Final = 60.0
"""Seconds for which a ticket may be used."""

Why: TypeAlias = Literal["taken", "stopping"]
"""Why the server ends a terminal: it was opened somewhere else, or the server stops."""


class Program(Protocol):
    """The program that runs in terminals, as this machine has it."""

    def check(self) -> None:
        """Raises `MaiaError` with its remedy where it cannot be started. Blocks."""
        ...

    async def open(self, room: Room, person: str, size: Size) -> Screen:
        """Start it where the room begins, with a home of that person's own. Raises `MaiaError`."""
        ...


@dataclass(frozen=True, slots=True)
class Ticket:
    """Leave to open one terminal once, soon, by the sign-in that asked for it.

    `left_out` are folders of the conversation that it does not get; `is_open`: there is a terminal, which this ends.
    """

    id: str
    user: User
    token: str
    row: ConversationRow
    room: Room
    left_out: Sequence[Kept]
    is_open: bool
    until: float

    @property
    def folder(self) -> str:
        """Where it begins."""
        return self.room.roots[0].path


@dataclass(eq=False, slots=True)
class Terminal:
    """A terminal that is open. `over` is set when it must end, `why` tells then."""

    screen: Screen
    over: asyncio.Event = field(default_factory=asyncio.Event)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    why: Why = "stopping"

    def end(self, why: Why) -> None:
        """Ask for its end."""
        self.why = why
        self.over.set()


class Terminals:
    """All terminals of this server. Nothing of what they show is kept anywhere."""

    def __init__(
        self, database: Database, accounts: Accounts, folders: WorkFolders, program: Program | None = None
    ) -> None:
        self._database = database
        self._accounts = accounts
        self._folders = folders
        self._program = program
        self._tickets: dict[str, Ticket] = {}
        self._open: dict[tuple[str, str], Terminal] = {}
        self._opening = asyncio.Lock()
        self._is_closed = False

    async def ticket(self, user: User, token: str, row: ConversationRow) -> Ticket:
        """Leave to open a terminal in a conversation of that person's own, which the caller has looked up.

        Raises `NotAllowed` without the right, `TerminalRefused` where there is no folder or too many are open, and what
        `Program.check` raises.
        """
        check_right(user)
        if self._program is None:
            raise TerminalRefused("opencode_absent", "opencode.none")
        await asyncio.to_thread(self._program.check)
        left_out = [each for each in await self._folders.looked(row) if each.refused is not None]
        room = await self._folders.room(row)
        if not room.roots:
            raise TerminalRefused("opencode_no_folder", "opencode.no_folder")
        key = (user.id, row.id)
        self._check_room(key)
        now = time.monotonic()
        self._tickets = still_good(self._tickets, user, now)
        made = Ticket(secrets.token_urlsafe(16), user, token, row, room, left_out, key in self._open, now + PATIENCE)
        self._tickets[made.id] = made
        return made

    async def taken(self, ticket_id: str, token: str) -> Ticket:
        """The ticket of that name, which is used up. Raises `NotYours` for one that is nobody's or another's."""
        found = self._tickets.get(ticket_id)
        if found is None or found.token != token or found.until < time.monotonic():
            raise NotYours("workspace.not_found")
        del self._tickets[ticket_id]
        if not await self.is_allowed(found):
            raise NotYours("workspace.not_found")
        return found

    async def is_allowed(self, ticket: Ticket) -> bool:
        """Whether who opened it is signed in, has the right and the conversation at this moment (N-21.03)."""
        user = await self._accounts.who(ticket.token)
        if user is None or user.id != ticket.user.id or not may(user, "opencode"):
            return False
        found = await self._database.look(lambda c: conversations.conversation_of(c, ticket.row.id, user.id))
        return found is not None

    @asynccontextmanager
    async def opened(self, ticket: Ticket, size: Size) -> AsyncGenerator[Terminal]:
        """The terminal of a ticket; it ends with this, its program with everything that it started (N-21.04).

        Another one of the same conversation and person ends first. Raises what `Program.open` raises.
        """
        key = (ticket.user.id, ticket.row.id)
        terminal = await self._begun(key, ticket, size)
        try:
            yield terminal
        finally:
            if self._open.get(key) is terminal:
                del self._open[key]
            try:
                await asyncio.shield(terminal.screen.stop())
            finally:
                terminal.gone.set()

    async def _begun(self, key: tuple[str, str], ticket: Ticket, size: Size) -> Terminal:
        async with self._opening:
            if (earlier := self._open.get(key)) is not None:
                earlier.end("taken")
                await earlier.gone.wait()
            if self._is_closed or self._program is None:
                raise TerminalRefused("opencode_stopping", "opencode.over.stopping")
            self._check_room(key)
            user, row = key
            await self._database.write(lambda c: note_act(c, OPENED, by=user, conversation=row, details={}))
            terminal = self._open[key] = Terminal(await self._program.open(ticket.room, user, size))
            if self._is_closed:
                terminal.end("stopping")
        return terminal

    def _check_room(self, key: tuple[str, str]) -> None:
        if key not in self._open and len(self._open) >= MOST:
            raise TerminalRefused("opencode_too_many", "opencode.too_many", n=MOST)

    def close(self) -> None:
        """The server stops: all of them end, and none is opened any more."""
        self._is_closed = True
        for each in self._open.values():
            each.end("stopping")


def still_good(tickets: Mapping[str, Ticket], user: User, now: float) -> dict[str, Ticket]:
    """Those that stay when that person gets another one: of too many their oldest ones go."""
    good = {name: each for name, each in tickets.items() if each.until > now}
    mine = [name for name, each in good.items() if each.user.id == user.id]
    gone = mine[: max(0, len(mine) + 1 - MOST_TICKETS)]
    return {name: each for name, each in good.items() if name not in gone}


def check_right(user: User) -> None:
    """Raises `NotAllowed` for whom no terminal is opened (R-2.023)."""
    if not may(user, "opencode"):
        raise NotAllowed("opencode.not_allowed")
