"""Conversations as records: their place on the board, notes and history, search, deletion and its undo."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from maia.core.jsonvalue import JsonObject
from maia.web.api.boardquery import BoardQuery
from maia.web.api.cardshapes import Moved, NewNote, card_json, entry_json
from maia.web.api.shapes import conversation_json, message_json
from maia.web.drawing.export import MEDIA_TYPES, as_json, as_markdown, file_header
from maia.web.entry.auth import AtDesk, Owned, SignedIn

router = APIRouter(tags=["records"])
_ENTRIES = 100


@router.post("/conversations/{conversation_id}/move")
async def move_card(desk: AtDesk, person: SignedIn, row: Owned, body: Moved) -> JsonObject:
    """To another column; there in front of the card `before`, behind the card `after`, `first`, or at its end."""
    await desk.workspace.cards.move(person.user, row, body.asked(), body.place)
    return card_json(await desk.workspace.cards.card(person.user, row))


@router.get("/conversations/{conversation_id}/history")
async def read_history(
    desk: AtDesk,
    row: Owned,
    kind: Annotated[Literal["note", "change"] | None, Query()] = None,
    before: Annotated[str | None, Query(max_length=60)] = None,
) -> JsonObject:
    """Notes and changes of tracked fields, the newest first; `next` goes into `before` for older ones."""
    found = await desk.workspace.cards.history(row, kind, _ENTRIES, before)
    after = found[-1].id if len(found) == _ENTRIES else None
    return {"entries": [entry_json(entry) for entry in found], "next": after}


@router.post("/conversations/{conversation_id}/notes", status_code=201)
async def add_note(desk: AtDesk, person: SignedIn, row: Owned, body: NewNote) -> JsonObject:
    """A person's note on the record; no model reads it."""
    return {"id": await desk.workspace.cards.note(person.user, row, body.note)}


@router.delete("/conversations/{conversation_id}", status_code=204)
async def delete_conversation(desk: AtDesk, person: SignedIn, row: Owned) -> Response:
    """Out of every list; `…/restore` takes it back."""
    await desk.workspace.cards.delete(person.user, row)
    return Response(status_code=204)


@router.post("/conversations/{deleted_id}/restore")
async def restore_conversation(desk: AtDesk, person: SignedIn, deleted_id: str) -> JsonObject:
    """Take a deletion back."""
    return conversation_json(await desk.workspace.cards.restore(person.user, deleted_id))


@router.get("/search")
async def search(
    desk: AtDesk, person: SignedIn, query: Annotated[str, Query(alias="q", max_length=400)] = ""
) -> JsonObject:
    """Conversations with all these words in the title or in one message; the last word may be a beginning."""
    found = await desk.workspace.cards.search(person.user, query)
    return {"found": [{**conversation_json(each.row), "excerpt": each.excerpt} for each in found]}


@router.get("/board")
async def read_board(desk: AtDesk, person: SignedIn, query: Annotated[BoardQuery, Query()]) -> JsonObject:
    """Cards in the order of their lanes: of each the first `limit`, and how many it has."""
    board = await desk.workspace.boards.board(person.user, query.asked)
    return {
        "lanes": [{"key": lane.key, "count": lane.count} for lane in board.lanes],
        "cards": [card_json(card) for lane in board.lanes for card in lane.cards],
        "labels": list(board.labels),
    }


@router.get("/conversations/{conversation_id}/export")
async def export_conversation(
    desk: AtDesk, person: SignedIn, row: Owned, kind: Annotated[Literal["md", "json"], Query(alias="format")] = "md"
) -> Response:
    """The whole conversation as a file: to be read, or for other programs."""
    card = await desk.workspace.cards.card(person.user, row)
    messages = await desk.workspace.whole(row)
    if kind == "json":
        body = as_json({**card_json(card), "messages": [message_json(each) for each in messages]})
    else:
        body = as_markdown(card, messages, person.user.name, person.say)
    headers = {"content-disposition": file_header(row.title or row.id, kind)}
    return Response(body, media_type=MEDIA_TYPES[kind], headers=headers)
