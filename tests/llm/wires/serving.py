"""A raw HTTP server inside the test's own event loop, whose every byte the test chooses."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from maia.core.jsonvalue import JsonObject

STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@dataclass
class Asked:
    """One request as it arrived, and the way to answer it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    writer: asyncio.StreamWriter
    reader: asyncio.StreamReader

    @property
    def json(self) -> JsonObject:
        return json.loads(self.body)

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def chunk(self, data: bytes) -> None:
        await self.send(b"%x\r\n%s\r\n" % (len(data), data))

    async def stream(self, *frames: bytes) -> None:
        """A whole streamed answer."""
        await self.send(STREAM_HEAD)
        for frame in frames:
            await self.chunk(frame)
        await self.send(b"0\r\n\r\n")

    async def answer(self, status: int, body: bytes, **headers: str) -> None:
        """A whole answer with a length; header names are written with underscores."""
        given = {"content_type": "application/json", **headers}
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in given.items())
        head = f"HTTP/1.1 {status} X\r\n{lines}content-length: {len(body)}\r\n\r\n"
        await self.send(head.encode() + body)

    async def gone(self) -> None:
        """Wait until the client has closed the connection."""
        with suppress(ConnectionError):
            while await self.reader.read(1024):
                pass


@dataclass
class Served:
    url: str
    asked: list[Asked] = field(default_factory=list[Asked])
    connections: int = 0


@asynccontextmanager
async def serving(
    answer: Callable[[Asked], Awaitable[None]], tls: ssl.SSLContext | None = None
) -> AsyncGenerator[Served]:
    """A server on a free port; `answer` is called for each request, several on one connection."""
    tasks: set[asyncio.Task[None]] = set()

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        served.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while not writer.is_closing():
                asked = await _read(reader, writer)
                served.asked.append(asked)
                await answer(asked)
        writer.close()
        tasks.discard(task)

    server = await asyncio.start_server(connection, "127.0.0.1", 0, ssl=tls)
    served = Served(f"http{'s' if tls else ''}://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    try:
        yield served
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    method, path, _ = head[0].split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(method, path, headers, body, writer, reader)
