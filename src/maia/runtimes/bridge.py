"""The socket at which a program's server of tools is met, and the word of the turn that opens it."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import itertools
import json
import os
import secrets
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from maia.core.runtime import Desk, ToolServer
from maia.core.secret import Secret
from maia.core.types import JsonObject, JsonValue, ToolResult, ToolSpec
from maia.runtimes.lending import SERVER, Lending
from maia.runtimes.rpc import read_object
from maia.runtimes.values import table

WORD: Final = "MAIA_BRIDGE"
"""The environment variable with the word that opens a bridge."""
_PREFIX: Final = "maia-bridge-"
_RELAY: Final = Path(__file__).with_name("relay.py")
_LONGEST_LINE: Final = 8 << 20
_WORD_SECONDS: Final = 5.0
_TICK_SECONDS: Final = 10.0
"""A client that waits only so long for an answer waits on when it hears that there is progress."""
_STALE_SECONDS: Final = 3_600.0
_LONGEST_PATH: Final = 100
"""unix(7): the address of a socket has 108 bytes."""


class Bridge:
    """One place, for one program. Between turns nobody new comes in, and who is in gets nothing.

    The socket lies where other programs may see it, too; the word is what counts. It goes by the environment and the
    program's own pipes, which no other wall can look into, and is another one in each turn.
    """

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self.tools = tuple(tools)
        self._folder = _folder()
        self._word = ""
        self._desk: Desk | None = None
        self._server: asyncio.Server | None = None
        self.is_known = False
        """Whether the program itself asked for the tools."""
        self._calls: set[asyncio.Task[None]] = set()
        self._lines: set[asyncio.Task[None]] = set()

    async def listen(self) -> None:
        """Raises OSError."""
        _sweep(self._folder)
        path = str(self._folder / "socket")
        self._server = await asyncio.start_unix_server(self._meet, path, limit=_LONGEST_LINE)

    @property
    def is_open(self) -> bool:
        return self._server is not None and self._server.is_serving()

    def begin(self, desk: Desk | None) -> ToolServer:
        """Let in who brings the new word: for a turn, or, without a desk, for a try in which nothing is called."""
        self._word, self._desk = secrets.token_hex(16), desk
        argv = (sys.executable, "-I", "-S", str(_RELAY), str(self._folder / "socket"))
        return ToolServer(SERVER, argv, {WORD: Secret(self._word)})

    async def end(self) -> None:
        """The turn is over: its word opens nothing any more, and calls that still run are ended."""
        self._word, self._desk = "", None
        await _ended(self._calls)

    async def close(self) -> None:
        """Nobody is met any more."""
        await self.end()
        server, self._server = self._server, None
        if server is not None:
            server.close()
        await _ended(self._lines)
        shutil.rmtree(self._folder, ignore_errors=True)

    # Inside

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._lines.add(task)
            task.add_done_callback(self._lines.discard)
        try:
            if await self._knows_the_word(reader):
                await self._serve(reader, writer)
        except (OSError, ValueError, asyncio.CancelledError):
            pass  # it went away, sent a line without end, or the bridge is closed
        finally:
            writer.close()

    async def _knows_the_word(self, reader: asyncio.StreamReader) -> bool:
        try:
            line = await asyncio.wait_for(reader.readline(), _WORD_SECONDS)
        except TimeoutError:
            return False
        return bool(self._word) and hmac.compare_digest(line.strip(), self._word.encode())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lending, open_calls = Lending(self.tools, self._use), dict[str, asyncio.Task[None]]()
        try:
            while line := await reader.readline():
                message = read_object(line.decode("utf-8", "replace"))
                if message is None:
                    continue
                if message.get("method") == "notifications/cancelled":
                    number = json.dumps(table(message.get("params")).get("requestId"))
                    if (task := open_calls.get(number)) is not None:
                        task.cancel()
                    continue
                self.is_known |= self._desk is not None and message.get("method") == "tools/list"
                number = json.dumps(message.get("id"))
                task = asyncio.create_task(_reply(lending, message, writer))
                open_calls[number] = task
                self._calls.add(task)
                task.add_done_callback(self._calls.discard)
                task.add_done_callback(lambda _done, number=number: open_calls.pop(number, None))
        finally:
            await _ended(set(open_calls.values()))

    async def _use(self, name: str, arguments: JsonObject) -> ToolResult:
        if self._desk is None:
            return ToolResult("No turn is running: this tool cannot be called now.", is_error=True)
        return await self._desk.use(name, arguments)


async def _reply(lending: Lending, message: JsonObject, writer: asyncio.StreamWriter) -> None:
    token = table(table(message.get("params")).get("_meta")).get("progressToken")
    ticking = None if token is None else asyncio.create_task(_tick(token, writer))
    try:
        answer = await lending.answer(message)
    finally:
        if ticking is not None:
            ticking.cancel()
    if answer is not None:
        await _write(answer, writer)


async def _tick(token: JsonValue, writer: asyncio.StreamWriter) -> None:
    """Say from time to time that a call goes on: one may wait for a person, or for another agent."""
    for progress in itertools.count(1):
        await asyncio.sleep(_TICK_SECONDS)
        params: JsonObject = {"progressToken": token, "progress": progress}
        await _write({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}, writer)


async def _write(message: JsonObject, writer: asyncio.StreamWriter) -> None:
    """Who does not read any more gets nothing."""
    with contextlib.suppress(OSError):
        writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await writer.drain()


async def _ended(tasks: set[asyncio.Task[None]]) -> None:
    """Cancel them and wait, but not for the one that is asking."""
    others = [task for task in tasks if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _sweep(mine: Path) -> None:
    """Take away what a maia that was killed left: old places where nobody listens."""
    for folder in mine.parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            seen = folder.stat()
            if seen.st_uid != os.geteuid() or time.time() - seen.st_mtime < _STALE_SECONDS:
                continue
            with socket.socket(socket.AF_UNIX) as line:
                try:
                    line.connect(str(folder / "socket"))
                except (ConnectionRefusedError, FileNotFoundError):
                    shutil.rmtree(folder, ignore_errors=True)


def _folder() -> Path:
    """A place of its own for the socket, where every wall lets its program look. Raises OSError."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    if len(str(folder / "socket")) <= _LONGEST_PATH:
        return folder
    folder.rmdir()
    return Path(tempfile.mkdtemp(prefix=_PREFIX, dir="/tmp"))
