"""What is remembered for the person who asks: their notes, found, added, changed, forgotten (N-11)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field, StringConstraints
from starlette.responses import Response

from maia.core.jsonvalue import JsonObject
from maia.web.api.body import Body
from maia.web.drawing.clock import moment
from maia.web.entry.auth import AtDesk, SignedIn
from maia.workspace.records import NoteRow
from maia.workspace.remembering.memories import MOST_NOTES, PAGE

router = APIRouter(prefix="/memory", tags=["memory"])
Scope = Literal["global", "type", "project"]
Text = Annotated[str, StringConstraints(max_length=20_000)]
Id = Annotated[str, StringConstraints(max_length=60, pattern=r"^[^\x00]*$")]


class NewNote(Body):
    """A note. `scopeId` is the project, or the kind of project, that the scope names."""

    text: Text
    scope: Scope = "global"
    scope_id: Id = Field("", alias="scopeId")
    standing: bool = False
    important: bool = False


class NoteChange(Body):
    """Other values; what is not sent stays as it is."""

    text: Text | None = None
    scope: Scope | None = None
    scope_id: Id | None = Field(None, alias="scopeId")
    standing: bool | None = None
    important: bool | None = None

    def asked(self) -> dict[str, Any]:
        """What was really sent, by the names of columns."""
        given = {name: getattr(self, name) for name in self.model_fields_set & NoteChange.model_fields.keys()}
        named = {"standing": "is_standing", "important": "is_important"}
        return {named.get(name, name): value for name, value in given.items() if value is not None}


@router.get("/notes")
async def list_notes(
    desk: AtDesk,
    person: SignedIn,
    q: Annotated[str, Query(max_length=2_000)] = "",
    before: Annotated[str | None, Query(max_length=60)] = None,
    limit: Annotated[int, Query(ge=1, le=PAGE)] = PAGE,
) -> JsonObject:
    """Your notes, the newest first, from the one before `before` on; with `q` those that fit, best first."""
    notes = desk.workspace.memories
    found = await notes.found(person.user, q) if q.strip() else await notes.page(person.user, before, limit)
    return {
        "notes": [note_json(each) for each in found[:limit]],
        "count": await notes.count(person.user),
        "most": MOST_NOTES,
    }


@router.post("/notes", status_code=201)
async def add_note(desk: AtDesk, person: SignedIn, body: NewNote) -> JsonObject:
    """Keep a note; protected data and keys in it are masked before."""
    made = await desk.workspace.memories.add(
        person.user.id,
        body.text,
        body.scope,
        body.scope_id,
        is_standing=body.standing,
        is_important=body.important,
    )
    return note_json(made)


@router.patch("/notes/{note_id}")
async def change_note(desk: AtDesk, person: SignedIn, note_id: str, body: NoteChange) -> JsonObject:
    """Other values of one of your notes."""
    return note_json(await desk.workspace.memories.change(person.user, note_id, body.asked()))


@router.delete("/notes/{note_id}", status_code=204)
async def forget_note(desk: AtDesk, person: SignedIn, note_id: str) -> Response:
    """Forget one of your notes for good."""
    await desk.workspace.memories.forget(person.user, note_id)
    return Response(status_code=204)


def note_json(note: NoteRow) -> JsonObject:
    """`recalled` is false for what reads like orders to a model: no answer gets it."""
    return {
        "id": note.id,
        "text": note.text,
        "scope": note.scope,
        "scopeId": note.scope_id or None,
        "origin": note.origin,
        "standing": note.is_standing,
        "important": note.is_important,
        "recalled": not note.is_flagged,
        "conversationId": note.conversation_id,
        "createdAt": moment(note.created_at),
        "changedAt": moment(note.changed_at),
    }
