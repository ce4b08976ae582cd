"""What is remembered for people: their notes, kept masked, changed and forgotten by them alone (N-11, N-10.18)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection

from maia.core.text import can_be_kept
from maia.database import memories, projects
from maia.database.database import Database
from maia.database.ids import ID_CHARS, now_ms
from maia.database.memories import NoteOrigin, NoteRow, NoteScope
from maia.database.users import User
from maia.memory.injection import is_injection
from maia.memory.rough import rough_vector
from maia.workspace.privacy import Privacy
from maia.workspace.problems import NotThere, Unusable
from maia.workspace.remembering.weighing import best, candidate_of, folded_words

MOST_NOTES: Final = 2_000
"""Of one person. Each message looks through all that are open to it."""
LONGEST_NOTE: Final = 4_000
PAGE: Final = 100
_FIELDS: Final = ("scope", "scope_id", "text", "is_standing", "is_important")


class Memories:
    """The notes of all people. Other people's are `NotThere` everywhere."""

    def __init__(self, database: Database, privacy: Privacy) -> None:
        self._database = database
        self._privacy = privacy

    async def page(self, user: User, before: str | None = None, limit: int = PAGE) -> Sequence[NoteRow]:
        """Their notes, the newest first; those before the note `before`. Raises `NotThere` for what is no note."""
        count = max(1, min(limit, PAGE))
        last = None if before is None else _id(before)
        return await self._database.read(lambda c: memories.notes_of(c, user.id, None, last, count))

    async def count(self, user: User) -> int:
        """How many notes they have."""
        return await self._database.read(lambda c: memories.count_notes(c, user.id))

    async def found(self, user: User, query: str) -> Sequence[NoteRow]:
        """Their notes that fit, best first, those too that no model is told."""

        def find(connection: Connection) -> Sequence[NoteRow]:
            now = now_ms()
            known = memories.weighable(connection, user.id, MOST_NOTES)
            ids = best(query, [candidate_of(each, now) for each in known])[:PAGE]
            rows = {row.id: row for row in memories.notes_of(connection, user.id, ids)}
            return [rows[each] for each in ids]

        return await self._database.read(find)

    async def add(
        self,
        user_id: str,
        text: str,
        scope: NoteScope = "global",
        scope_id: str = "",
        *,
        origin: NoteOrigin = "person",
        conversation_id: str | None = None,
        is_standing: bool = False,
        is_important: bool = False,
    ) -> NoteRow:
        """Keep a note, with protected data and keys masked. Raises `Unusable`; then nothing is kept."""
        given = {"scope": scope, "scope_id": scope_id, "text": text}
        given = _placed({**given, "is_standing": is_standing, "is_important": is_important})
        values = await self._checked(given, origin)

        def make(connection: Connection) -> NoteRow:
            _known_scope(connection, values)
            if memories.count_notes(connection, user_id) >= MOST_NOTES:
                raise Unusable("memories.too_many", limit=MOST_NOTES)
            made = {**values, "origin": origin, "conversation_id": conversation_id}
            return memories.notes_of(connection, user_id, [memories.add_note(connection, user_id, made)])[0]

        return await self._database.write(make)

    async def change(self, user: User, note_id: str, fields: Mapping[str, Any]) -> NoteRow:
        """Other values of a note; words that a person wrote are theirs. Raises `NotThere`, `Unusable`."""
        values = await self._checked({name: fields[name] for name in _FIELDS if name in fields}, "person")
        if "text" in values:
            values["origin"] = "person"

        def work(connection: Connection) -> NoteRow:
            before = memories.notes_of(connection, user.id, [_id(note_id)])
            if not before:
                raise NotThere("memories.not_found")
            placed = _placed({"scope": before[0].scope, "scope_id": before[0].scope_id, **values})
            _known_scope(connection, placed)
            memories.change_note(connection, user.id, note_id, placed)
            return memories.notes_of(connection, user.id, [note_id])[0]

        return await self._database.write(work)

    async def forget(self, user: User, note_id: str) -> None:
        """Remove a note for good. Raises `NotThere`."""
        if not await self._database.write(lambda c: memories.forget_note(c, user.id, _id(note_id))):
            raise NotThere("memories.not_found")

    async def _checked(self, values: dict[str, Any], origin: NoteOrigin) -> dict[str, Any]:
        if "text" not in values:
            return values
        text = str(values["text"]).strip()
        if not text:
            raise Unusable("memories.empty")
        if len(text) > LONGEST_NOTE:
            raise Unusable("memories.too_long", n=len(text), limit=LONGEST_NOTE)
        if not can_be_kept(text):
            raise Unusable("memories.no_text")
        kept = await self._privacy.for_keeping(text)
        found_by = {"words": folded_words(kept), "vector": rough_vector(kept)}
        return {**values, "text": kept, **found_by, "is_flagged": origin != "person" and is_injection(kept)}


def _id(note_id: str) -> str:
    """The id, where it can be one. Raises `NotThere`."""
    if not _can_be_id(note_id):
        raise NotThere("memories.not_found")
    return note_id


def _can_be_id(given: str) -> bool:
    return len(given) == ID_CHARS and given.isascii() and given.isalnum()


def _placed(values: dict[str, Any]) -> dict[str, Any]:
    """A note for everywhere belongs to nothing."""
    return {**values, "scope_id": ""} if values["scope"] == "global" else values


def _known_scope(connection: Connection, values: Mapping[str, Any]) -> None:
    """Raises `Unusable` for a project or kind of project that there is not."""
    scope, scope_id = values["scope"], str(values["scope_id"])
    if scope == "global":
        return
    known = _can_be_id(scope_id) and (
        projects.project(connection, scope_id) is not None
        if scope == "project"
        else scope_id in {each.id for each in projects.project_types(connection)}
    )
    if not known:
        raise Unusable("memories.no_scope")
