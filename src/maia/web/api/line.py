"""A terminal over a line (WebSocket): keys in, output out, never more than the reader takes, ended with its right."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from starlette.websockets import WebSocket, WebSocketDisconnect

from maia.core.errors import MaiaError
from maia.core.jsonvalue import JsonObject
from maia.core.ports import Say
from maia.core.screens import Size
from maia.core.text import visible
from maia.web.entry.auth import Person
from maia.web.entry.desk import Desk
from maia.workspace.terminals import Terminal, Ticket

LARGEST_MESSAGE: Final = 1 << 17
"""Bytes of one message of a page; a paste comes in several."""
UNSEEN: Final = 1 << 18
"""Bytes of output that are on their way to a page at most: more is not read, and the program waits."""
UNREAD: Final = 1 << 20
"""Bytes of keys and pastes that wait for a program at most; what is beyond is not typed, and the page is told."""
LOOK: Final = 15.0
"""Seconds after which the right is looked at where nothing was typed (N-21.03)."""
POLICY, NORMAL = 1008, 1000

End: TypeAlias = Literal["ended", "right", "taken", "stopping", "gone", "malformed"]


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the page beside keys. `columns`, `rows` of a resize; `bytes` of output that it has shown."""

    type: Literal["resize", "seen", "ping"]
    columns: int = 0
    rows: int = 0
    bytes: int = 0


def said(text: str) -> Said | None:
    """What the page says; None for what none of our pages says."""
    try:
        given: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    match given:
        case {"type": "ping"}:
            return Said("ping")
        case {"type": "seen", "bytes": int(n)} if 0 < n <= UNSEEN and n is not True:
            return Said("seen", bytes=n)
        case {"type": "resize", "columns": int(columns), "rows": int(rows)}:
            return Said("resize", columns, rows)
        case _:
            return None


class Line:
    """One page on one terminal."""

    def __init__(self, desk: Desk, say: Say, socket: WebSocket, ticket: Ticket, terminal: Terminal) -> None:
        self._desk = desk
        self._say = say
        self._socket = socket
        self._ticket = ticket
        self._terminal = terminal
        self._unseen = 0
        self._seen = asyncio.Event()
        self._typed = bytearray()
        self._types = asyncio.Event()

    async def run(self) -> End:
        """Carry until one side ends; why it did."""
        work: tuple[Coroutine[Any, Any, End], ...] = (self._show(), self._listen(), self._type(), self._watch())
        tasks = [asyncio.ensure_future(each) for each in work]
        over = asyncio.ensure_future(self._terminal.over.wait())
        try:
            done, _ = await asyncio.wait((*tasks, over), return_when=asyncio.FIRST_COMPLETED)
            if over in done:
                return self._terminal.why
            return next(each.result() for each in tasks if each in done)
        finally:
            for each in (*tasks, over):
                each.cancel()
            await asyncio.wait((*tasks, over))

    async def _show(self) -> End:
        while data := await self._terminal.screen.read():
            self._unseen += len(data)
            try:
                await self._socket.send_bytes(data)
            except (WebSocketDisconnect, RuntimeError):
                return "gone"
            while self._unseen >= UNSEEN:
                self._seen.clear()
                await self._seen.wait()
        return "ended"

    async def _listen(self) -> End:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return "gone"
            if not await self._is_allowed():
                return "right"
            if (data := message.get("bytes")) is not None:
                await self._take(data)
            elif not self._obey(said(message.get("text") or "")):
                return "malformed"

    def _obey(self, told: Said | None) -> bool:
        match told:
            case None:
                return False
            case Said("resize", columns, rows):
                self._terminal.screen.resize(Size(columns, rows))
            case Said("seen", bytes=n):
                self._unseen = max(0, self._unseen - n)
                self._seen.set()
            case Said():
                pass
        return True

    async def _take(self, data: bytes) -> None:
        room = max(0, UNREAD - len(self._typed))
        self._typed += data[:room]
        self._types.set()
        if len(data) > room:
            await self._socket.send_json({"type": "dropped", "message": self._say("opencode.dropped")})

    async def _type(self) -> End:
        while True:
            await self._types.wait()
            self._types.clear()
            data, self._typed = bytes(self._typed), bytearray()
            await self._terminal.screen.write(data)

    async def _watch(self) -> End:
        while True:
            with self._desk.workspace.accounts.stay(self._ticket.user, self._ticket.token) as stay:
                if not await self._is_allowed():
                    return "right"
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK):
                        await stay.over.wait()

    async def _is_allowed(self) -> bool:
        return await self._desk.workspace.terminals.is_allowed(self._ticket)


async def carry(desk: Desk, person: Person, socket: WebSocket, ticket: Ticket, size: Size) -> None:
    """Open the terminal of a ticket on a line that is not accepted yet; the line says in the end why it is over."""
    await socket.accept()
    try:
        async with desk.workspace.terminals.opened(ticket, size) as terminal:
            why = await Line(desk, person.say, socket, ticket, terminal).run()
            code = await terminal.screen.stop()
    except MaiaError as error:
        await _told(socket, {"type": "over", "why": "failed", "message": remedied(error, person.say)}, NORMAL)
        return
    if why == "ended" and code:
        words = person.say("opencode.over.code", code=code if code > 0 else 128 - code)  # as shells tell a signal
    else:
        words = "" if why == "gone" else person.say(f"opencode.over.{why}")
    await _told(socket, {"type": "over", "why": why, "message": words}, POLICY if why == "right" else NORMAL)


def remedied(error: MaiaError, say: Say) -> str:
    """What is wrong, and what to do about it where that is known."""
    fix = f"{error.key}.fix"
    sentences = [say(error.key, **error.values), *([say(fix, **error.values)] if say.has(fix) else [])]
    return " ".join(visible(each) for each in sentences)


async def _told(socket: WebSocket, message: JsonObject, code: int) -> None:
    try:
        await socket.send_json(message)
        await socket.close(code)
    except (WebSocketDisconnect, RuntimeError):  # the page has gone
        return
