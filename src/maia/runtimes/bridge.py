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
import struct
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.requests import ToolSpec
from maia.core.results import ToolResult
from maia.core.runtime import Desk, ToolServer
from maia.core.secret import Secret
from maia.runtimes.lending import SERVER, Lending
from maia.runtimes.relay import proof
from maia.runtimes.rpc import read_object
from maia.runtimes.values import table

WORD: Final = "MAIA_BRIDGE"
"""The environment variable with the word that opens a bridge."""
_PREFIX: Final = "maia-bridge-"
_RELAY: Final = Path(__file__).with_name("relay.py")
_LONGEST_LINE: Final = 8 << 20
_WORD_SECONDS: Final = 5.0
_GREETING: Final = 2 * 64 + 2
"""Bytes in which a relay greets: two hexadecimal proofs, a space and the end of the line."""
_MOST_LINES: Final = 16
"""Relays at once: a program starts one, its sub-agents perhaps one each."""
_MOST_CALLS: Final = 64
"""Calls of one line that run at once; further ones are not read, and wait in the program."""
_TICK_SECONDS: Final = 10.0
"""A client that waits only so long for an answer waits on when it hears that there is progress."""
_STALE_SECONDS: Final = 3_600.0
_LONGEST_PATH: Final = 100
"""unix(7): the address of a socket has 108 bytes."""


class Bridge:
    """One place, for one program. Between turns nobody new comes in, and who is in gets nothing.

    The socket lies where other programs may see it, and even put another one in its place. So the word is what counts:
    it goes by the environment and the program's own pipes, which no other wall can look into, is another one in each
    turn, and is never said on a line. Who comes must have been started with it, and both sides prove that they know it.
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
            if len(self._lines) <= _MOST_LINES and await self._knows_the_word(reader, writer):
                await self._serve(reader, writer)
        except (OSError, ValueError, asyncio.CancelledError):
            pass  # it went away, sent a line without end, or the bridge is closed
        finally:
            writer.close()

    async def _knows_the_word(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        try:
            line = await asyncio.wait_for(reader.readexactly(_GREETING), _WORD_SECONDS)
        except (TimeoutError, asyncio.IncompleteReadError):
            return False
        word, (about, _, proven) = self._word, line.decode("ascii", "replace").strip().partition(" ")
        if not (word and was_started_with(word, writer) and hmac.compare_digest(proven, proof(word, about))):
            return False
        writer.write(proof(word, f"{about} {proven}").encode())
        return True

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lending, open_calls = Lending(self.tools, self._use), dict[str, asyncio.Task[None]]()
        try:
            while line := await reader.readline():
                if len(open_calls) >= _MOST_CALLS:
                    await asyncio.wait(open_calls.values(), return_when=asyncio.FIRST_COMPLETED)
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
                if number in open_calls:
                    continue  # JSON-RPC: an id is used once, and nobody could say which of the two is cancelled
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


def was_started_with(word: str, writer: asyncio.StreamWriter) -> bool:
    """Whether the process at the other end has the word in the environment with which it was started.

    The kernel says which one that is. Where it does not (macOS), the proof alone counts.
    """
    kind: int | None = getattr(socket, "SO_PEERCRED", None)
    if kind is None:
        return True
    found = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, kind, struct.calcsize("3i"))
    pid, _, _ = struct.unpack("3i", found)
    return f"{WORD}={word}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")


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
