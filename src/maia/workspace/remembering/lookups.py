"""The three look-ups of one answer: what is open to it, the record says, and no argument (N-11.08)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from maia.core.errors import MaiaError
from maia.core.memories import Item
from maia.core.text import cut_middle
from maia.database import memories
from maia.database.database import Database
from maia.database.ids import ID_CHARS, now_ms
from maia.database.memories import NoteRow, Place, Said
from maia.database.search import messages_with_any
from maia.memory.injection import is_injection
from maia.memory.query import terms
from maia.workspace.remembering.memories import MOST_NOTES, Memories
from maia.workspace.remembering.weighing import Candidate, best, candidate_of, folded_words

LIMIT: Final = 3
"""Calls of one answer (R-2.121)."""
NOTE, SAID = "vt:", "rw:"
LONGEST_SAID: Final = 8_000
_EXCERPT: Final = 400
_LOOKED_THROUGH: Final = 60
_WORDS: Final = 12
_SHORTEST: Final = 3


class LookupRefused(MaiaError):
    """No look-up is made: all are used, or the conversation is gone."""


@dataclass(slots=True)
class Counts:
    """What was looked up. `calls` goes up to the last call that found something (R-2.121), `items` is what was read."""

    made: int = 0
    calls: int = 0
    items: int = 0


class TurnLookups:
    """The memory of one conversation for one answer; a `core.memories.Lookups`."""

    def __init__(self, database: Database, notes: Memories, conversation_id: str) -> None:
        self._database = database
        self._notes = notes
        self._conversation_id = conversation_id
        self.counts = Counts()

    async def search(self, query: str, limit: int) -> Sequence[Item]:
        self._take()
        return self._read(await self._database.read(lambda c: _searched(c, self._place(c), query, limit)))

    async def expand(self, ids: Sequence[str]) -> Sequence[Item]:
        self._take()
        return self._read(await self._database.read(lambda c: _expanded(c, self._place(c), ids)))

    async def keep(self, text: str, *, everywhere: bool) -> Item:
        place = await self._database.read(self._place)
        scope, scope_id = ("project", place.project_id) if place.project_id and not everywhere else ("global", "")
        kept = await self._notes.add(
            place.owner_id, text, scope, scope_id, origin="agent", conversation_id=place.conversation_id
        )
        return _note_item(kept, kept.text)

    # Inside

    def _take(self) -> None:
        if self.counts.made >= LIMIT:
            raise LookupRefused("tool.memory.spent", limit=LIMIT)
        self.counts.made += 1

    def _read(self, items: Sequence[Item]) -> Sequence[Item]:
        if items:
            self.counts.calls = self.counts.made
            self.counts.items += len(items)
        return items

    def _place(self, connection: Connection) -> Place:
        place = memories.place_of(connection, self._conversation_id)
        if place is None:
            raise LookupRefused("tool.memory.no_conversation")
        return place


def _searched(connection: Connection, place: Place, query: str, limit: int) -> list[Item]:
    """Notes and earlier messages together, best first; what reads like orders to a model is left out (N-11.11)."""
    now = now_ms()
    known = memories.weighable_at(connection, place, MOST_NOTES)
    said = _messages(connection, place, query)
    candidates = [
        *(candidate_of(each, now, place) for each in known),
        *(Candidate(each.id, folded_words(each.text), (now - each.created_at) / 1000) for each in said.values()),
    ]
    ids = best(query, candidates)[:limit]
    notes = memories.notes_at(connection, place, ids)
    items = (
        _note_item(notes[each], cut_middle(notes[each].text, _EXCERPT).text)
        if each in notes
        else _said_item(said[each], _around(said[each].text, query))
        for each in ids
    )
    return list(items)


def _messages(connection: Connection, place: Place, query: str) -> dict[str, Said]:
    forms = [form for term in terms(query) for form in term.forms[:2] if len(form) >= _SHORTEST][:_WORDS]
    ids = messages_with_any(connection, place.owner_id, forms, _LOOKED_THROUGH)
    found = memories.said_at(connection, place, ids)
    return {each: said for each, said in found.items() if not is_injection(said.text)}


def _expanded(connection: Connection, place: Place, ids: Sequence[str]) -> list[Item]:
    notes = memories.notes_at(connection, place, _named(ids, NOTE))
    said = memories.said_at(connection, place, _named(ids, SAID))
    items: list[Item] = []
    for each in ids:
        name = each[3:]
        if each.startswith(NOTE) and name in notes:
            items.append(_note_item(notes[name], notes[name].text))
        elif each.startswith(SAID) and name in said and not is_injection(said[name].text):
            items.append(_said_item(said[name], cut_middle(said[name].text, LONGEST_SAID).text))
    return items


def _named(ids: Sequence[str], prefix: str) -> list[str]:
    return [each[3:] for each in ids if each.startswith(prefix) and len(each) == ID_CHARS + 3]


def _note_item(note: NoteRow, text: str) -> Item:
    return Item(NOTE + note.id, text, note.changed_at / 1000)


def _said_item(said: Said, text: str) -> Item:
    title = "" if is_injection(said.title) else said.title
    return Item(SAID + said.id, text, said.created_at / 1000, title)


def _around(text: str, query: str) -> str:
    """The part of a message around the first word that was looked for."""
    plain = text.casefold()
    places = (plain.find(form) for term in terms(query) for form in term.forms if len(form) >= _SHORTEST)
    at = min((place for place in places if place >= 0), default=0)
    start = max(0, at - _EXCERPT // 4)
    part = text[start : start + _EXCERPT]
    return f"{'…' if start else ''}{part}{'…' if start + _EXCERPT < len(text) else ''}"
