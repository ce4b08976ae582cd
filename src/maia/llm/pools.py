"""Connections that stay open between calls, shared by all who call: the handshake with a server is made once.

Each conversation has a wire of its own. If each wire had its own connections, the first word of every conversation
would wait for a name to be found, a connection and a handshake, with a server that is talked to all the time. Nothing
of a call stays with a connection: keys travel with each request, and what a server sent beyond an answer goes with its
connection, or another conversation would read it as its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary, WeakSet

if TYPE_CHECKING:
    import httpcore2

KEEP_ALIVE: Final = 50.0
"""Seconds: servers and what stands before them close silent connections after a minute."""
_IDLE: Final = 16
"""Silent connections that are kept at most."""


@dataclass(frozen=True, slots=True)
class _Shared:
    pool: httpcore2.AsyncConnectionPool
    users: WeakSet[object] = field(default_factory=WeakSet[object])


_SHARED: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _Shared]] = WeakKeyDictionary()


def lend(user: object, proxy: str, parsed: Callable[[str], httpcore2.Proxy]) -> httpcore2.AsyncConnectionPool:
    """The connections of the running loop through that proxy (empty: none), for `user` until it gives them back."""
    shared = _SHARED.setdefault(asyncio.get_running_loop(), {})
    if proxy not in shared:
        shared[proxy] = _Shared(_opened(parsed(proxy) if proxy else None))
    shared[proxy].users.add(user)
    return shared[proxy].pool


async def give_back(user: object) -> None:
    """Close what only `user` has used, if it used anything on this loop."""
    shared = _SHARED.get(asyncio.get_running_loop(), {})
    for proxy, each in list(shared.items()):
        if user in each.users:
            each.users.discard(user)
            if not each.users:
                del shared[proxy]
                await each.pool.aclose()


async def without_surplus(response: httpcore2.Response) -> None:
    """Close the connection of an answer behind which more came, so that it is no other call's answer.

    `httpcore2` keeps such bytes for the next request. It tells nobody of them: where its insides are others than those
    of 2.16, each connection is closed.
    """
    answer: Any = response
    inside = answer.stream
    for name in ("_stream", "_connection", "_h11_state"):
        inside = getattr(inside, name, None)
    left, _ = inside.trailing_data if inside is not None else (b"?", False)
    if left:
        await answer.extensions["network_stream"].aclose()


def _opened(proxy: httpcore2.Proxy | None) -> httpcore2.AsyncConnectionPool:
    import httpcore2

    from maia.llm.paced import PacedBackend

    return httpcore2.AsyncConnectionPool(
        proxy=proxy,
        max_connections=None,
        max_keepalive_connections=_IDLE,
        keepalive_expiry=KEEP_ALIVE,
        network_backend=PacedBackend(),
    )
