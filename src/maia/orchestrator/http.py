"""Messages over streamable HTTP: sessions that expire, a bounded number of requests, a clean end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from maia.orchestrator.guard import MAX_BODY_BYTES, Guard
from maia.orchestrator.patience import Impatient

if TYPE_CHECKING:
    import socket

    from mcp.server.lowlevel import Server

    from maia.orchestrator.calls import Identity

MOST_SESSIONS: Final = 2_000
"""Some 40 KB each. Clients that never end theirs are common: each connection of a test program is one."""
MOST_CONNECTIONS: Final = 500
IDLE_SECONDS: Final = 30 * 60
LEAVE_SECONDS: Final = 2
"""What open answers have at the end."""


async def serve_http(
    server: Server[Any],
    identify: Callable[[str], Identity | None],
    listening: socket.socket,
    host: str,
    on_ready: Callable[[Callable[[], object]], None],
) -> None:
    """Serve until told to end; `on_ready` gets the function that does so."""
    manager = StreamableHTTPSessionManager(
        server,
        session_idle_timeout=IDLE_SECONDS,
        max_request_body_size=MAX_BODY_BYTES,
        max_sessions=MOST_SESSIONS,
    )
    web = _Web(
        uvicorn.Config(
            Guard(manager.handle_request, identify, host),
            http=Impatient,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=LEAVE_SECONDS,
        )
    )
    on_ready(web.end)
    async with manager.run():
        await web.serve(sockets=[listening])


class _Web(uvicorn.Server):
    """uvicorn without hands on the signals: how we end is for the door to say."""

    def end(self) -> None:
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield
