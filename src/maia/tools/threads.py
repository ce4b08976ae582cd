"""Runs blocking file work off the event loop, so that a slow disk never freezes the screen."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

ResultT = TypeVar("ResultT")


async def in_thread(work: Callable[[], ResultT], stop: threading.Event | None = None) -> ResultT:
    """The result of `work`, done in a thread.

    Cancelled, it sets `stop` and still waits for the end: a half-done write that goes on unseen would be worse.
    """
    task = asyncio.create_task(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if stop is not None:
            stop.set()
        await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # looked at, so that the loop does not report it as forgotten
        raise
