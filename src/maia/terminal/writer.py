"""The thread that writes to the terminal, so that a slow or stopped one never holds up the keys or the agent."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue


class Writer:
    """Writes from a thread of its own, one text at a time.

    On the loop, `idle` is called after each text, and `gone` once when the terminal is gone.
    """

    def __init__(self, write: Callable[[str], None], idle: Callable[[], None], gone: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._write = write
        self._idle = idle
        self._gone = gone
        self._waiting: SimpleQueue[str | None] = SimpleQueue()
        self.busy = 0
        self._thread = threading.Thread(target=self._run, name="terminal-writer", daemon=True)
        self._thread.start()

    def put(self, text: str) -> None:
        """Write `text` after what is already waiting."""
        self.busy += 1
        self._waiting.put(text)

    def close(self, patience: float = 1.0) -> None:
        """Let it write what waits, for at most `patience` seconds."""
        self._waiting.put(None)
        self._thread.join(patience)

    def _run(self) -> None:
        while (text := self._waiting.get()) is not None:
            try:
                self._write(text)
            except OSError:
                self._tell(self._gone)
                return
            self._tell(self._written)

    def _tell(self, what: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(what)
        except RuntimeError:  # the loop is closed: nobody waits for news of the screen any more
            return

    def _written(self) -> None:
        self.busy -= 1
        self._idle()
