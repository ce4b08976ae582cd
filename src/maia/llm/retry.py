"""Tries a model call again while nothing was shown yet, with the server's own waiting time where it gives one."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Final

from maia.core.endings import Failure
from maia.core.events import RetryScheduled, WireEvent, WireFailed
from maia.llm.errors import is_quota

MAX_TRIES: Final = 4
MAX_WAIT: Final = 60.0
FIRST_WAIT: Final = 0.5

_LASTING: Final = ("InvalidURL", "InvalidProxy", "UnsupportedProtocol")
"""What no second try will mend."""

Attempt = Callable[[], AsyncGenerator[WireEvent]]


def tries_for(failure: Failure) -> int:
    """How often a call that fails like this is tried in all; 1 means never again."""
    if is_quota(failure):
        return 1
    match failure.kind:
        case "rate_limit" | "overloaded":
            return MAX_TRIES
        case "network":
            if failure.cause in ("certificate", "not_tls") or failure.code in _LASTING:
                return 1
            return 2 if failure.code == "ConnectError" else MAX_TRIES
        case "timeout" | "incomplete":
            return 2
        case _:
            return 1


def wait_before(attempt: int, failure: Failure, chance: float) -> float:
    """Seconds before the next try. `attempt` counts the failed ones from 1, `chance` lies in [0, 1)."""
    if failure.retry_after is not None:
        return min(failure.retry_after, MAX_WAIT)
    return min(FIRST_WAIT * 2 ** (attempt - 1) * (0.75 + chance / 2), MAX_WAIT)


async def retrying(
    attempt: Attempt,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    chance: Callable[[], float] = random.random,
) -> AsyncGenerator[WireEvent]:
    """Events of the first attempt that shows something, or of the last one. Each wait is told by `RetryScheduled`."""
    tried = 0
    while True:
        tried += 1
        shown = False
        async with aclosing(attempt()) as events:
            async for event in events:
                if not shown and isinstance(event, WireFailed) and tried < tries_for(event.failure):
                    wait = wait_before(tried, event.failure, chance())
                    yield RetryScheduled(tried, wait, event.failure)
                    break
                shown = True
                yield event
            else:
                return
        await sleep(wait)
