from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from maia.orchestrator.patience import Impatient

WHOLE = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"


async def _app(_scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@asynccontextmanager
async def _serving(seconds: float, most: int = 50) -> AsyncGenerator[int]:
    class Connection(Impatient):
        pass

    Connection.seconds = seconds
    config = Config(
        _app, lifespan="off", log_config=None, limit_concurrency=most, http=Connection, timeout_keep_alive=600
    )
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(config, state, {}), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.parametrize(
    "begun",
    [b"", b"POST / HT", WHOLE[:-1], WHOLE + b"POST / HT"],
    ids=["silent", "half a head", "half a body", "half a second request"],
)
def test_who_does_not_end_their_request_is_let_go(begun: bytes) -> None:
    async def work() -> None:
        async with _serving(seconds=0.05) as port, asyncio.timeout(30):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(begun)
            answered = await reader.read()
            assert answered.count(b"HTTP/1.1 200") == begun.count(b"hi")
            writer.close()

    asyncio.run(work())


def test_whole_requests_are_answered_one_after_another() -> None:
    async def work() -> None:
        async with _serving(seconds=60) as port, asyncio.timeout(30):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for _ in range(3):
                writer.write(WHOLE[:20])
                await writer.drain()
                writer.write(WHOLE[20:])
                assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
            writer.close()

    asyncio.run(work())


def test_where_all_places_are_taken_the_oldest_that_asks_nothing_makes_room() -> None:
    async def work() -> None:
        async with _serving(seconds=60, most=5) as port, asyncio.timeout(30):
            idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(8)]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(WHOLE)
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
            assert await idle[0][0].read() == b""
            for _, each in idle:
                each.close()
            writer.close()

    asyncio.run(work())
