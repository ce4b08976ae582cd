"""Parts of a page that follow what changes: one stream a page, and only parts that are other ones now travel."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from hashlib import sha256
from typing import Final, TypeAlias

from starlette.requests import Request

from maia.web.entry.auth import Person
from maia.web.entry.desk import Desk
from maia.web.layout.stream import PATIENCE, frame

Parts: TypeAlias = Mapping[str, str]
"""HTML of elements by their ids, in the order in which they stand on the page."""
Draw: TypeAlias = Callable[[], Awaitable[Parts]]
BEAT: Final = 0.25
"""Seconds between two frames, at least: what comes together is drawn once."""
_LOOK_AGAIN: Final = 4
"""Silences after which parts are drawn again: hours pass, deadlines and ages with them."""
LONGEST_SHOWN: Final = 8000


def shown_word(parts: Parts) -> str:
    """What a page shows, as it tells its stream: `id=digest,…`."""
    return ",".join(f"{name}={_digest(html)}" for name, html in parts.items())


def reached(request: Request, shown: str) -> str:
    """What the page of a request shows: a browser that comes back says it by itself."""
    return request.headers.get("last-event-id", "") or shown


async def follow(desk: Desk, person: Person, draw: Draw, shown: str) -> AsyncGenerator[str]:
    """Frames for a page that shows `shown`: what is other now, then what changes. Ends when the reader may not read."""
    boards = desk.workspace.boards
    number, silences = boards.number, 0
    while not boards.closed:
        parts = await draw()
        if html := changes(parts, shown):
            shown = shown_word(parts)
            yield f"id: {shown}\n{frame(html)}" if len(shown) < LONGEST_SHOWN else f"id\n{frame(html)}"
        silences, is_mine = 0, False
        while not is_mine and silences < _LOOK_AGAIN and not boards.closed:
            before = number
            number, is_mine = await boards.next(person.user, number, PATIENCE)
            if number == before and not boards.closed:
                silences += 1
                if await desk.workspace.accounts.who(person.token) is None:
                    return
                yield ": \n\n"
        await asyncio.sleep(BEAT)


def changes(parts: Parts, shown: str) -> str:
    """The parts that a page does not show yet, with the order of all; empty where there are none."""
    known = {name: digest for name, _, digest in (each.partition("=") for each in shown.split(",")) if name}
    changed = {name: html for name, html in parts.items() if known.get(name) != _digest(html)}
    if not changed and list(known) == list(parts):
        return ""
    return json.dumps({"order": list(parts), "parts": changed}, ensure_ascii=False, separators=(",", ":"))


def _digest(html: str) -> str:
    return sha256(html.encode("utf-8", "replace")).hexdigest()[:10]
