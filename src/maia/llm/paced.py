"""Sockets that are read at most every few milliseconds, so that a fast stream wakes the program once for many chunks.

A wake-up of the event loop and the layers above costs more than ten chunks. Loaded only with the first request.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

import httpcore2
from httpcore2 import AnyIOBackend, AsyncNetworkBackend, AsyncNetworkStream

GAP: Final = 0.025
"""Least seconds between two reads. Below what an eye sees, and nothing for a stream that is slower."""
PROMPT: Final = 3
"""Reads of an answer that come as they can, so that its first words wait for nothing."""
FULL: Final = 16 * 1024
"""A read that gave so many bytes is a download, not a stream of tokens: the next one does not wait."""
MUCH: Final = 64 * 1024
"""A piece of a request that is so large leaves by itself."""


class PacedStream(AsyncNetworkStream):
    """A connection whose small reads are spaced, and whose request leaves in one piece: head and body together."""

    def __init__(self, inner: AsyncNetworkStream) -> None:
        self._inner = inner
        self._next = 0.0
        self._reads = 0
        self._unsent = b""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with suppress(httpcore2.WriteError):  # a server that refuses a request unread may have said why
            await self._send(timeout)
        wait = self._next - time.monotonic()
        if wait > 0:
            await asyncio.sleep(wait)
        data = await self._inner.read(max_bytes, timeout)
        self._reads += 1
        is_paced = self._reads >= PROMPT and len(data) < FULL
        self._next = time.monotonic() + GAP if is_paced else 0.0
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._next, self._reads = 0.0, 0
        if len(buffer) <= MUCH:
            self._unsent += buffer
            return
        await self._send(timeout)
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _send(self, timeout: float | None) -> None:
        unsent, self._unsent = self._unsent, b""
        if unsent:
            await self._inner.write(unsent, timeout)

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> AsyncNetworkStream:
        await self._send(timeout)
        return PacedStream(await self._inner.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class PacedBackend(AsyncNetworkBackend):
    """Connections of the usual kind, paced."""

    def __init__(self) -> None:
        self._inner = AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        return PacedStream(await self._inner.connect_tcp(host, port, timeout, local_address, socket_options))

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)
