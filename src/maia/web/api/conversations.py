"""Conversations and their messages (R-2.069–R-2.085)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from maia.core.jsonvalue import JsonObject
from maia.core.submission import Submission
from maia.web.api.bindings import binding_json, options_json
from maia.web.api.cardshapes import card_json
from maia.web.api.foldershapes import folders_json, folders_of
from maia.web.api.shapes import (
    ChangedConversation,
    ListQuery,
    NewConversation,
    NewMessage,
    conversation_json,
    json_answer,
    message_json,
)
from maia.web.entry.auth import AtDesk, InOwned, Owned, SignedIn
from maia.web.entry.desk import Desk
from maia.web.layout.places import place_of
from maia.web.layout.stream import LARGEST, frames, streamed
from maia.workspace.changing import Asked
from maia.workspace.records import ConversationRow

router = APIRouter(prefix="/conversations", tags=["conversations"])
_MESSAGES = 200


@router.post("/{conversation_id}/messages", status_code=202)
async def send_message(asked: InOwned, body: NewMessage) -> JsonObject:
    """Send a message. The answer is written in the server; its events come from `…/events`.

    One with protected data for a model elsewhere is refused with 422 `privacy_blocked`; `maskedContent` is what may be
    sent instead, which `privacy: "mask"` does (R-2.082, R-2.083).
    """
    masked = body.privacy == "mask"
    row = asked.row
    begun = await asked.desk.workspace.submit(
        asked.person.user,
        row,
        Submission(body.content),
        body.pair,
        masked=masked,
        files=body.attachments,
        system=body.system.strip(),
    )
    return {"turn": begun.turn, "messageId": begun.answer, "cursor": row.last_seq}


@router.get("")
async def list_conversations(desk: AtDesk, person: SignedIn, query: Annotated[ListQuery, Query()]) -> Response:
    """Your conversations, the last changed first; `next` goes into `cursor` for those after them."""
    rows = await desk.workspace.conversations(person.user, query.limit, place_of(query.cursor), archived=query.archived)
    after = f"{rows[-1].updated_at}-{rows[-1].id}" if len(rows) == query.limit else None
    return json_answer({"conversations": [conversation_json(row) for row in rows], "next": after})


@router.post("", status_code=201)
async def create_conversation(desk: AtDesk, person: SignedIn, body: NewConversation) -> JsonObject:
    """A new conversation. Without `folders` it works in a workspace of its own (R-2.347)."""
    made = await desk.workspace.create(
        person.user, body.title, person.lang, folders_of(body.folders), body.start, fields=body.asked()
    )
    return await _whole(desk, made)


@router.get("/{conversation_id}")
async def get_conversation(
    desk: AtDesk, person: SignedIn, row: Owned, before: Annotated[int | None, Query(ge=1, le=LARGEST)] = None
) -> JsonObject:
    """A conversation with its last messages, oldest first; `before` a turn for those before it."""
    found = await desk.workspace.messages(row, _MESSAGES, before)
    catalogue = await desk.workspace.models.known()
    binding = binding_json(await desk.workspace.answering(row), catalogue)
    card = card_json(await desk.workspace.cards.card(person.user, row))
    whole = await _whole(desk, row)
    whole["prompt"] = await desk.workspace.cards.prompt(row)
    return {**card, **whole, **binding, "messages": [message_json(message) for message in found]}


@router.patch("/{conversation_id}")
async def change_conversation(desk: AtDesk, person: SignedIn, row: Owned, body: ChangedConversation) -> JsonObject:
    """Another title, field, model or effort; archived or opened again; other folders: all of it, or none (R-2.346)."""
    folders = None if body.folders is None else folders_of(body.folders)
    asked = Asked(body.asked(), body.title, body.choice, body.archived, folders)
    await desk.workspace.changing.change(person.user, row, asked)
    return await _whole(desk, await desk.workspace.conversation(person.user, row.id))


@router.get("/{conversation_id}/effort-options")
async def effort_options(desk: AtDesk, row: Owned) -> JsonObject:
    """The levels that this conversation's model has, the stored one, and what Automatic stands for (N-02.07)."""
    return options_json((await desk.workspace.answering(row)).options)


@router.post("/{conversation_id}/stop", status_code=202)
async def stop_answer(desk: AtDesk, row: Owned) -> JsonObject:
    """Stop the answer that is being written; what was written is kept."""
    return {"stopped": desk.workspace.stop(row)}


@router.get("/{conversation_id}/events")
async def follow_events(
    request: Request, desk: AtDesk, person: SignedIn, row: Owned, cursor: Annotated[int, Query(ge=0, le=LARGEST)] = 0
) -> Response:
    """All events after `cursor` (or `Last-Event-ID`), then what comes: one JSON frame each, the number as its id.

    `binding` says at a turn's beginning who answers, `done` at its end what it came to (R-2.079, R-2.085).
    """
    desk.workspace.warm(row)  # who listens is about to write
    return streamed(desk, person, frames(desk, person, row, _from(request, cursor)))


async def _whole(desk: Desk, row: ConversationRow) -> JsonObject:
    """A conversation with its folders."""
    return {**conversation_json(row), "folders": folders_json(await desk.workspace.folders(row))}


def _from(request: Request, cursor: int) -> int:
    """A browser that comes back says where it was."""
    last = request.headers.get("last-event-id", "")
    return int(last) if last.isascii() and last.isdigit() and len(last) < 16 else cursor
