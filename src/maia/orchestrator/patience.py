"""A connection of a client over http: it has so long to send a whole request, so that who dawdles shuts nobody out."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, cast

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

REQUEST_SECONDS = 30.0
"""From the first moment of a connection, or the end of the answer before, to the last byte of a request."""


class Impatient(H11Protocol):
    """uvicorn's connection, which by itself would wait for ever for the end of a request, before any token is seen.

    Where all places are taken, the one that has been without a whole request for the longest time makes room.
    """

    seconds: ClassVar[float] = REQUEST_SECONDS
    slowest: ClassVar[float | None] = None
    """Bytes a second that a slow line brings: whoever sends that much may take longer. None gives no more time."""

    _deadline: asyncio.TimerHandle | None = None
    _since: float = 0.0
    _is_line: bool = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._look()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()
        if self.slowest is not None and self._deadline is not None and not self._is_idle:
            self._wait_until(self._deadline.when() + len(data) / self.slowest)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """From here on the connection is another protocol's, which has a patience of its own."""
        self._is_line = True
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._disarm()

    def _look(self) -> None:
        """Wait for the rest of a request, or no more."""
        is_answering = not self._is_idle and not self.cycle.more_body
        if self._is_line or is_answering or self.transport.is_closing():
            self._disarm()
        elif self._deadline is None:
            self._since = self.loop.time()
            self._deadline = self.loop.call_later(self.seconds, self.transport.close)

    def _wait_until(self, moment: float) -> None:
        self._disarm()
        self._deadline = self.loop.call_at(moment, self.transport.close)

    @property
    def _is_idle(self) -> bool:
        """Whether no request is under way: none has begun, or its head is not whole."""
        cycle = cast("RequestResponseCycle | None", self.cycle)  # None before the first request, whatever it says
        return cycle is None or cycle.response_complete

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _make_room(self) -> None:
        if self.limit_concurrency is None or len(self.connections) < self.limit_concurrency:
            return
        connections = cast("set[object]", self.connections)  # of kinds that need not be installed
        others = [each for each in connections if isinstance(each, Impatient) and each is not self]
        idle = [each for each in others if each._is_idle]
        if idle:
            oldest = min(idle, key=lambda each: each._since)
            self.connections.discard(oldest)
            oldest.transport.close()
