"""The `!` command of a person as events: its row, its live output, and its result for the next request (T4.01)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Final

from maia.core.events import Event, PendingAdded, ToolCallFinished, ToolCallStarted, ToolOutput
from maia.core.told import told
from maia.engine.schedule import INTERRUPTED
from maia.engine.setup import Setup

BANG: Final = "!"
"""The name under which it shows in the events."""


class Bang:
    """At most one such command at a time."""

    def __init__(self, setup: Setup, emit: Callable[[Event], None]) -> None:
        self._setup = setup
        self._emit = emit
        self._stop: asyncio.Event | None = None

    def stop(self) -> bool:
        """End the running command, keeping what it printed; False when none runs."""
        if self._stop is None:
            return False
        self._stop.set()
        return True

    async def run(self, command: str) -> None:
        """Run it to its end and tell all of it. Cancelled, it tells that its end is unknown."""
        call_id = f"bang-{datetime.now().timestamp():.6f}"
        self._emit(ToolCallStarted(call_id, BANG, {"command": command}, command))
        began = asyncio.get_running_loop().time()
        self._stop = asyncio.Event()
        try:
            outcome = await self._setup.bang(command, lambda text: self._emit(ToolOutput(call_id, text)), self._stop)
        except asyncio.CancelledError:
            said = told(INTERRUPTED, self._setup.say)
            self._emit(ToolCallFinished(call_id, BANG, "unknown", said, words=INTERRUPTED))
            return
        finally:
            self._stop = None
        duration = round(asyncio.get_running_loop().time() - began, 3)
        status = "succeeded" if outcome.succeeded else "failed"
        self._emit(ToolCallFinished(call_id, BANG, status, outcome.text, outcome.summary, duration=duration))
        self._emit(PendingAdded(outcome.attachment))
