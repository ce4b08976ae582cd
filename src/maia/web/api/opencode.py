"""OpenCode's terminal: who may open one, leave to open it, and the line that carries it (N-21.01–N-21.05)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, WebSocket, WebSocketException
from pydantic import Field

from maia.core.jsonvalue import JsonObject
from maia.core.screens import LARGEST, SMALLEST, Size
from maia.core.text import visible
from maia.web.api.body import Body
from maia.web.api.line import carry
from maia.web.entry.auth import AtDesk, Person, SignedIn, signed_in_line
from maia.web.entry.desk import desk_of
from maia.workspace.people.rights import may
from maia.workspace.problems import NotYours
from maia.workspace.terminals import check_right

router = APIRouter(prefix="/opencode", tags=["opencode"])
lines = APIRouter(prefix="/opencode")
LINE = "/api/v1/opencode/terminal"


class OpenTerminal(Body):
    """In which conversation."""

    conversation_id: Annotated[str, Field(alias="conversationId", max_length=60)]


@router.get("/access")
async def access(person: SignedIn) -> JsonObject:
    """Whether this person may open a terminal, and whether they may change how OpenCode is set up."""
    manages = may(person.user, "opencode")
    return {"terminal": manages, "settings": manages}


@router.post("/sessions", status_code=201)
async def open_session(desk: AtDesk, person: SignedIn, body: OpenTerminal) -> JsonObject:
    """Leave to open a terminal in an own conversation: once, within a minute, as a WebSocket at `line`.

    It takes `?columns=…&rows=…`. What is typed goes there as binary messages, and as text `{"type": "resize",
    "columns", "rows"}`, `{"type": "seen", "bytes"}` for output that was shown (256 KiB may be on their way) and
    `{"type": "ping"}`. What the program prints comes as binary messages, as text `{"type": "dropped", "message"}` for
    keys that nobody reads, and at last `{"type": "over", "why", "message"}`. `isOpen`: there is a terminal in this
    conversation already, which ends when the line is opened. Nothing of it is kept.
    """
    check_right(person.user)
    row = await desk.workspace.conversation(person.user, body.conversation_id)
    ticket = await desk.workspace.terminals.ticket(person.user, person.token, row)
    left_out = [
        {"path": each.row.path, "message": visible(person.say(why.key, **why.values))}
        for each in ticket.left_out
        if (why := each.refused) is not None
    ]
    return {
        "id": ticket.id,
        "line": f"{LINE}/{ticket.id}",
        "folder": ticket.folder,
        "leftOut": left_out,
        "isOpen": ticket.is_open,
    }


@lines.websocket("/terminal/{ticket_id}")
async def terminal(
    socket: WebSocket,
    ticket_id: str,
    person: Annotated[Person, Depends(signed_in_line)],
    columns: Annotated[int, Query(ge=SMALLEST[0], le=LARGEST[0])] = 80,
    rows: Annotated[int, Query(ge=SMALLEST[1], le=LARGEST[1])] = 24,
) -> None:
    """The line of a terminal; without a ticket of one's own it is refused before it is opened."""
    desk = desk_of(socket)
    try:
        ticket = await desk.workspace.terminals.taken(ticket_id, person.token)
    except NotYours:
        raise WebSocketException(1008) from None
    await carry(desk, person, socket, ticket, Size(columns, rows))
