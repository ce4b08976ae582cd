"""Connections to `maia serve`: who only dawdles is sent away, and a line (WebSocket) may come of one."""

from __future__ import annotations

from typing import Any, Final

from maia.orchestrator.patience import Impatient

_SLOWEST: Final = 5_000.0
"""Bytes a second."""


class FromSlowLines(Impatient):
    """Uploads take their time. What speaks WebSocket is loaded when the first line is opened, not at start."""

    slowest = _SLOWEST

    def _should_upgrade_to_ws(self) -> bool:
        return True

    def handle_websocket_upgrade(self, event: Any) -> None:
        from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

        self.ws_protocol_class = WebSocketsSansIOProtocol
        super().handle_websocket_upgrade(event)
