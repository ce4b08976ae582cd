"""How long a program may be silent, and what it means when it was silent longer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds without a word: until a session is there (a fresh home is filled first), during a turn, and while a
    tool of the program runs (N-03.10). `cancel` is the time it has to end a stopped turn well."""

    start: float = 180.0
    idle: float = 600.0
    tool: float = 1_200.0
    cancel: float = 3.0


class Hung(Exception):
    """Nothing was heard for that many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


async def wait_while_heard(
    work: asyncio.Future[ResultT], limit: Callable[[], float | None], last_heard: Callable[[], float]
) -> ResultT:
    """The result of `work`, as long as something is heard. `limit` is in seconds, None where we are waited for.

    Raises `Hung`, and cancels `work` then and when it is cancelled itself.
    """
    loop = asyncio.get_running_loop()
    since = loop.time()
    waiting: asyncio.Future[Any] = work
    try:
        while not work.done():
            seconds = limit()
            if seconds is None:
                since = loop.time()
                await asyncio.wait({waiting}, timeout=1.0)
                continue
            left = max(since, last_heard()) + seconds - loop.time()
            if left <= 0:
                raise Hung(seconds)
            await asyncio.wait({waiting}, timeout=min(left, 1.0))
        return work.result()
    finally:
        if not work.done():
            work.cancel()
