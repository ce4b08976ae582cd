"""Messages over standard input and output: lines of bounded length, nothing else ever on standard output."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import re
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
from mcp import types
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage

from maia.core.jsontext import read_json
from maia.core.jsonvalue import JsonObject

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

MAX_LINE_BYTES: Final = 10 * 1024 * 1024
"""Of one message. Of a longer one only the ends are kept, to answer it by its id."""
MOST_UNANSWERED: Final = 1_000
"""Requests without an answer after which nothing more is read: a client that does not read its answers has to wait."""

_END_BYTES: Final = 4_096
_CHUNK: Final = 65_536
_ID = rb'"id"\s*:\s*("(?:[^"\\]|\\.){1,200}"|-?\d{1,18})'
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"]{0,100}"\s*,\s*){0,2}' + _ID)
_ID_LAST = re.compile(_ID + rb'\s*(?:,\s*"(?:jsonrpc|method)"\s*:\s*"[^"]{0,100}"\s*){0,2}\}\s*$')


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line that was not kept, with its first and last bytes."""

    head: bytes
    tail: bytes


class Lines:
    """Bytes as they come, as whole lines; of a line beyond `limit` bytes only the ends are kept."""

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes | TooLong]:
        """The lines that end in this piece, without their line ends. Empty lines are left out."""
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes | TooLong] = []
        for piece in ended:
            self._keep(piece)
            lines += self.flush()
        self._keep(rest)
        return lines

    def flush(self) -> list[bytes | TooLong]:
        """What stands there without a line end."""
        whole, size = b"".join(self._pieces), self._size
        self._pieces, self._size = [], 0
        if size > self._limit:
            return [TooLong(whole[:_END_BYTES], whole[-_END_BYTES:])]
        return [whole] if whole.strip() else []

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        self._pieces.append(piece)
        if self._size > self._limit:
            whole = b"".join(self._pieces)
            self._pieces = [whole[:_END_BYTES], whole[-_END_BYTES:]]


def id_in(line: TooLong) -> str | int | None:
    """The id of a request of which only the ends are there; None where it cannot be told for sure."""
    found = _ID_FIRST.match(line.head) or _ID_LAST.search(line.tail)
    return None if found is None else json.loads(found.group(1))


@asynccontextmanager
async def private_streams() -> AsyncGenerator[tuple[int, int]]:
    """Standard input and output for the protocol alone.

    Whoever reads standard input meanwhile, such as a child, finds its end; whatever is printed goes to standard error.
    """
    sys.stdout.flush()
    reading, writing = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3) for fd in (0, 1))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    try:
        yield reading, writing
    finally:
        sys.stdout.flush()
        os.dup2(reading, 0)
        os.dup2(writing, 1)


async def serve_stdio(server: Server[Any], on_end: Callable[[], None]) -> None:
    """Serve the one client until its input ends; `on_end` is called then, before calls that are open are ended."""
    read_writer, read_stream = create_context_streams[SessionMessage | Exception](0)
    write_stream, write_reader = create_context_streams[SessionMessage](0)
    async with private_streams() as (reading, writing):
        wire = _Wire(reading, writing)

        async def read() -> None:
            async with read_writer:
                await wire.read_into(read_writer.send)
                on_end()

        async def write() -> None:
            async with write_reader:
                async for message in write_reader:
                    await wire.write(message.message)

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(read)
                group.start_soon(write)
                await server.run(read_stream, write_stream, server.create_initialization_options())
                group.cancel_scope.cancel()
        except* (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the end met a message that was on its way, here or inside the SDK: nobody is left to answer


class _Wire:
    """The two pipes."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        self._unanswered = 0
        self._room = asyncio.Event()
        self._room.set()
        self._turn = asyncio.Lock()

    async def read_into(self, send: Callable[[SessionMessage], Any]) -> None:
        """Every message, until the end."""
        lines: asyncio.Queue[bytes | TooLong | None] = asyncio.Queue(8)
        loop = asyncio.get_running_loop()
        # A thread of its own that nobody waits for: a read that never ends must not hold up leaving.
        threading.Thread(target=_pump, args=(self._reading, lines, loop), daemon=True).start()
        while (line := await lines.get()) is not None:
            await self._room.wait()
            message = await self._understood(line)
            if message is not None:
                self._count(message)
                await send(SessionMessage(message))

    async def _understood(self, line: bytes | TooLong) -> types.JSONRPCMessage | None:
        """A line as a message; what is none is answered with an error, and the next line is read."""
        if isinstance(line, TooLong):
            text = f"Message of more than {MAX_LINE_BYTES // 1024 // 1024} MB"
            await self._refuse(id_in(line), types.INVALID_REQUEST, text)
            return None
        try:
            return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            await self._refuse(*_fault(line))
            return None

    async def _refuse(self, request_id: str | int | None, code: int, text: str) -> None:
        await self.write(
            types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=text))
        )

    def _count(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest):
            self._unanswered += 1
            if self._unanswered >= MOST_UNANSWERED:
                self._room.clear()

    async def write(self, message: types.JSONRPCMessage) -> None:
        """One message as one line. A client that is gone takes none, which is no error here."""
        data = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        async with self._turn:
            await asyncio.to_thread(_write, self._writing, data)
        if isinstance(message, (types.JSONRPCResponse, types.JSONRPCError)):
            self._unanswered = max(0, self._unanswered - 1)
            self._room.set()


def _fault(line: bytes) -> tuple[str | int | None, int, str]:
    """What is wrong with a line: no JSON, or JSON that is no message, which may still have an id."""
    try:
        value = read_json(line)
    except ValueError:
        return None, types.PARSE_ERROR, "Parse error: not JSON"
    found = cast(JsonObject, value).get("id") if isinstance(value, dict) else None
    is_id = isinstance(found, (str, int)) and not isinstance(found, bool)
    return (found if is_id else None), types.INVALID_REQUEST, "Not a JSON-RPC 2.0 message"


def _pump(fd: int, lines: asyncio.Queue[bytes | TooLong | None], loop: asyncio.AbstractEventLoop) -> None:
    """Read until the end; a full queue holds the reading up, and with it the client."""
    found = Lines()
    try:
        while chunk := os.read(fd, _CHUNK):
            for line in found.feed(chunk):
                asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()
        for line in (*found.flush(), None):
            asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()
    except (OSError, RuntimeError):  # RuntimeError: the loop has ended
        return


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(fd, view) :]
    except OSError:
        return
