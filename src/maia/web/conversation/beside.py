"""What happens beside a conversation that its page shows as well: the navigation, and that it is gone, or is back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from maia.web.conversation.live import part
from maia.web.entry.auth import Person
from maia.web.entry.desk import Desk
from maia.web.layout.frame import nav_parts
from maia.web.layout.parts import BEAT
from maia.web.layout.stream import PATIENCE, frame
from maia.workspace.problems import NotYours
from maia.workspace.records import ConversationRow

GONE = "gone"
"""The event after which nothing more comes: it was deleted elsewhere, or its reader may not see it any more."""

BACK = "back"
"""The one event of a page of what was gone: somebody brought it back."""


async def beside(desk: Desk, person: Person, row: ConversationRow, number: int) -> AsyncGenerator[str]:
    """Frames for a page that was drawn after change `number` of this server."""
    boards = desk.workspace.boards
    shown: dict[str, str] = {}
    began_anew = number > boards.number
    number = 0 if began_anew else number
    while not boards.closed:
        number, is_mine = await boards.next(person.user, number, PATIENCE)
        if not is_mine:
            continue
        try:
            await desk.workspace.conversation(person.user, row.id)
        except NotYours:
            yield frame(GONE, event=GONE)
            return
        parts = await nav_parts(desk, person, f"/conversations/{row.id}")
        if html := "".join(part(name, html) for name, html in parts.items() if shown.get(name) != html):
            shown = {**parts}
            yield frame(html)
        await asyncio.sleep(BEAT)


async def until_back(desk: Desk, person: Person, conversation_id: str) -> AsyncGenerator[str]:
    """Frames for a page of a conversation that is gone; they tell nothing but that it is there again."""
    boards = desk.workspace.boards
    number = boards.number
    while not boards.closed:
        try:
            await desk.workspace.conversation(person.user, conversation_id)
        except NotYours:
            yield ": \n\n"
        else:
            yield frame(BACK, event=BACK)
            return
        number, _ = await boards.next(person.user, number, PATIENCE)
        await asyncio.sleep(BEAT)
