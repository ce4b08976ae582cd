"""Terminal sessions of a folder: listed, and opened as conversations; the files are only read."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from maia.core.jsonvalue import JsonObject
from maia.web.api.body import Body
from maia.web.drawing.clock import moment
from maia.web.entry.auth import AtDesk, SignedIn

router = APIRouter(prefix="/terminal-sessions", tags=["terminal sessions"])
_PATH = 4_096


class OpenSession(Body):
    """Which session to open."""

    folder: Annotated[str, Field(max_length=_PATH)]
    name: Annotated[str, Field(max_length=200)]


@router.get("")
async def list_sessions(desk: AtDesk, person: SignedIn, folder: Annotated[str, Query(max_length=_PATH)]) -> JsonObject:
    """The sessions that terminals keep in a folder, the last changed first.

    `conversationId` is the conversation that a session was opened as; `isGoingOn`: a terminal writes it now.
    """
    found = await desk.workspace.sessions.listed(person.user, folder)
    return {
        "sessions": [
            {
                "name": each.name,
                "title": each.title,
                "modifiedAt": moment(each.modified),
                "size": each.size,
                "isGoingOn": each.is_going_on,
                "conversationId": each.conversation,
            }
            for each in found
        ]
    }


@router.post("", status_code=201)
async def open_session(desk: AtDesk, person: SignedIn, body: OpenSession, answer: Response) -> JsonObject:
    """Open a session as a conversation: 201 for a new one, 200 for the one that stands for it already.

    What is new in the session is added there. Where both went on since, the session becomes a conversation of its own.
    """
    opened = await desk.workspace.sessions.open(person.user, body.folder, body.name, person.lang)
    if not opened.is_new:
        answer.status_code = 200
    return {"conversationId": opened.conversation, "isNew": opened.is_new, "added": opened.added}
