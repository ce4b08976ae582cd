"""What the model of one turn is told beside the conversation: the project's words, the clock, what is remembered."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from maia.core.delegation import DELEGATE_TO_AGENT, RUN_SPECIALIST
from maia.core.jsonvalue import JsonObject
from maia.core.requests import Section
from maia.core.runtime import PromptWay
from maia.core.tool import AnyTool
from maia.database import conversations, memories, projects, settings
from maia.database.conversations import ConversationRow
from maia.database.database import Database
from maia.database.ids import now_ms
from maia.database.messages import messages_of
from maia.database.tables.conversations import PROJECT_TYPES, PROJECTS
from maia.database.tables.memory import MEMORIES
from maia.database.tables.people import SETTINGS
from maia.engine.setup import Bound
from maia.tools.delegation import delegation_tools
from maia.tools.lookups import lookup_tools
from maia.workspace.delegating.delegation import TurnDelegation
from maia.workspace.remembering.lookups import LIMIT, TurnLookups
from maia.workspace.remembering.memories import MOST_NOTES, Memories
from maia.workspace.remembering.moment import TIMEZONE, known_zone, turn_time
from maia.workspace.remembering.recall import (
    BUDGET,
    BY_MODELS,
    BY_PROGRAMS,
    Calls,
    Recalled,
    budget_of,
    laid_out,
    query_of,
)
from maia.workspace.remembering.weighing import best, candidate_of

MASTER: Final = "prompts.master"
"""The setting with what is told in all conversations; who maia is and its rules stand above it and stay."""
BUDGET_SETTING: Final = "memory.index.budgetChars"
BY_MESSAGE: Final = frozenset(("grok", "kimi"))
"""Programs whose instructions travel in the message, which is told beside them (R-2.124)."""
_PRIVATE: Final = ("MemorySearch", "MemoryStore")
"""Tools of a private memory: here everybody's own takes their place."""
_LETTERS: Final = "bcdfghjkmnpqrstvwxz"
_MOST: Final = 64
"""Of standing notes, and of found ones, that are read for one message: more than any block has room for."""
_log = logging.getLogger("maia.workspace")


_STANDS_IN: Final = (SETTINGS, PROJECTS, PROJECT_TYPES, MEMORIES)


@dataclass(frozen=True, slots=True)
class _Standing:
    """What is the same for all conversations of a person in a project. `budget` is what the installation gives."""

    zone: ZoneInfo | None
    budget: int
    told: tuple[Section, ...]
    has_notes: bool


@dataclass(slots=True)
class Briefing:
    """`sections` join the system prompt, `preface` rides on the message, `tools` are there beside the folder's own."""

    model: str
    window: int | None
    preface: tuple[Section, ...]
    recalled: Recalled
    sections: tuple[Section, ...] = ()
    lookups: TurnLookups | None = None
    channel: str | None = None
    tools: Mapping[str, AnyTool] = field(default_factory=dict[str, AnyTool])
    delegation: TurnDelegation | None = None

    def with_tools(self, own: Mapping[str, AnyTool]) -> dict[str, AnyTool]:
        """The tools of the turn; it is known by then who work can be handed to."""
        delegating = _delegating(self.delegation) if self.delegation is not None else {}
        return {**{name: tool for name, tool in own.items() if name not in _PRIVATE}, **self.tools, **delegating}

    def observed(self, prompt: PromptWay | None, *, came: bool) -> None:
        """What the program's driver saw: tools for which it never came did not reach it, whatever the try said."""
        if not came:
            self.lookups = None
        if prompt is not None and self.channel is not None:
            self.channel = prompt

    def delivery(self) -> JsonObject:
        """What the record of the turn keeps of it (R-2.115–R-2.124); read at the turn's end."""
        recalled, counts = self.recalled, self.lookups and self.lookups.counts
        return {
            "sizedFor": {"model": self.model, "window": self.window},
            "recall": {
                "items": len(recalled.ids),
                "expanded": recalled.expanded,
                "tokens": recalled.tokens,
                "budget": recalled.budget,
                "ids": list(recalled.ids),
                "withheld": recalled.withheld,
            },
            "lookups": counts and {"calls": counts.calls, "limit": LIMIT, "items": counts.items},
            "promptChannel": self.channel,
        }


class Briefer:
    """Puts briefings together. It fails no turn: where the memory cannot be read, the clock is told alone."""

    def __init__(self, database: Database, notes: Memories) -> None:
        self._database = database
        self._notes = notes

    async def brief(
        self,
        row: ConversationRow,
        turn: int,
        message: str,
        bound: Bound,
        window: int | None,
        delegation: TurnDelegation,
        *,
        can_look: bool,
    ) -> Briefing:
        """For one turn of a conversation, by the window of the model that answers it; without tools it gets more."""
        key = ("briefing", row.owner_id, row.project_id)
        standing = await self._database.known(key, _STANDS_IN, lambda c: _standing(c, row))
        own = row.prompt
        if own is None:
            own = await self._database.look(lambda c: conversations.prompt_of(c, row.id))
        budget = budget_of(window, standing.budget)
        recalled = laid_out((), (), budget, "", can_look=can_look)
        if standing.has_notes and budget:
            calls = BY_MODELS if bound.runtime is None else BY_PROGRAMS
            recalled = await self._recalled(row, turn, message, budget, calls, can_look=can_look)
        clock = turn_time(datetime.now(UTC), standing.zone)
        briefing = Briefing(
            bound.model,
            window,
            (clock, *([recalled.section] if recalled.section else [])),
            recalled,
            (*standing.told, *_own_words(row, own)),
            channel="message" if bound.runtime is not None and bound.provider in BY_MESSAGE else None,
        )
        if can_look:
            briefing.lookups = TurnLookups(self._database, self._notes, row.id)
            briefing.tools = _named(briefing.lookups)
            briefing.delegation = delegation
        return briefing

    async def _recalled(
        self, row: ConversationRow, turn: int, message: str, budget: int, calls: Calls, *, can_look: bool
    ) -> Recalled:
        try:
            return await self._database.read(
                lambda c: _recalled(c, row, turn, message, budget, calls, can_look=can_look)
            )
        except Exception:  # what is remembered helps; that it cannot be read must keep nobody from an answer
            _log.exception("recall failed")
            return Recalled(None, withheld="failed")


def _standing(connection: Connection, row: ConversationRow) -> _Standing:
    kept = settings.known_settings(connection, TIMEZONE, BUDGET_SETTING, MASTER)
    budget = kept.get(BUDGET_SETTING)
    return _Standing(
        known_zone(kept.get(TIMEZONE)),
        budget if isinstance(budget, int) else BUDGET,
        _told(connection, row, kept.get(MASTER)),
        memories.has_notes(connection, row.owner_id),
    )


def _named(lookups: TurnLookups) -> dict[str, AnyTool]:
    """The memory tools by their names; `search_memory` is another one of the search (R-2.457)."""
    tools: dict[str, AnyTool] = {tool.spec.name: tool for tool in lookup_tools(lookups)}
    names = (("memory_search", "MemorySearch"), ("memory_expand", "MemoryExpand"), ("search_memory", "MemorySearch"))
    return {**tools, **{name: tools[real] for name, real in names}}


def _delegating(delegation: TurnDelegation) -> dict[str, AnyTool]:
    """The tools that hand work on by their names; `delegate_to_agent` is another one of `run_specialist` (N-06.01)."""
    tools: dict[str, AnyTool] = {tool.spec.name: tool for tool in delegation_tools(delegation)}
    return {**tools, **({DELEGATE_TO_AGENT: tools[RUN_SPECIALIST]} if RUN_SPECIALIST in tools else {})}


def _told(connection: Connection, row: ConversationRow, shared: object) -> tuple[Section, ...]:
    """What people wrote for the model, from the widest to the nearest, which refines it (N-12.01)."""
    layers: list[Section] = []
    if isinstance(shared, str) and shared.strip():
        layers.append(Section("master-prompt", f"# Instructions of this workspace\n\n{shared.strip()}", MASTER))
    return (*layers, *_project_prompt(connection, row))


def _own_words(row: ConversationRow, prompt: str) -> tuple[Section, ...]:
    """The layer behind all others: what was written for this conversation alone."""
    if not prompt.strip():
        return ()
    return (Section("conversation-prompt", f"# Instructions of this conversation\n\n{prompt.strip()}", row.id),)


def _project_prompt(connection: Connection, row: ConversationRow) -> tuple[Section, ...]:
    """The project's words: none take its kind's, a leading `+` adds to them, anything else replaces them (N-12.07)."""
    project = projects.project(connection, row.project_id) if row.project_id else None
    if project is None:
        return ()
    kinds = (each.prompt for each in projects.project_types(connection) if each.id == project.type_id)
    shared, own = next(kinds, "").strip(), project.prompt.strip()
    told = f"{shared}\n\n{own[1:].strip()}".strip() if own.startswith("+") else own or shared
    if not told:
        return ()
    return (Section("project-prompt", f"# Instructions of the project {project.name}\n\n{told}", project.name),)


def _recalled(
    connection: Connection, row: ConversationRow, turn: int, message: str, budget: int, calls: Calls, *, can_look: bool
) -> Recalled:
    place = memories.place_of(connection, row.id)
    if place is None or budget == 0:
        return laid_out((), (), budget, "", can_look=can_look)
    known, now = memories.weighable_at(connection, place, MOST_NOTES), now_ms()
    if not known:
        return laid_out((), (), budget, "", can_look=can_look)
    title = row.title if row.title_by != "message" else ""
    query = query_of(message, _said_before(connection, row.id, turn), title)
    standing = [each.id for each in known if each.is_standing][:_MOST]
    found = best(query, [candidate_of(each, now, place) for each in known if not each.is_standing])[:_MOST]
    notes = memories.notes_at(connection, place, [*standing, *found])
    return laid_out(
        [notes[each] for each in standing],
        [notes[each] for each in found],
        budget,
        _nonce(),
        can_look=can_look,
        calls=calls,
    )


def _said_before(connection: Connection, conversation_id: str, turn: int) -> str:
    """The person's message before this one."""
    found = messages_of(connection, conversation_id, 2, turn)
    return next((each.text for each in found if each.role == "user"), "")


def _nonce() -> str:
    """A word that nobody can know before: letters alone, so that no mask takes it for a number."""
    return "".join(secrets.choice(_LETTERS) for _ in range(12))
