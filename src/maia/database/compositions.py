"""Rows of what the last model call of a turn received, part by part; kept for some days only (R-2.087, R-2.126)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import Connection, delete, select, update

from maia.core.types import JsonObject
from maia.database.ids import new_id, now_ms
from maia.database.tables import COMPOSITION_SECTIONS, COMPOSITIONS, CONVERSATIONS

TokensSource: TypeAlias = Literal["measured", "estimated"]
_C, _S = COMPOSITIONS.c, COMPOSITION_SECTIONS.c


@dataclass(frozen=True, slots=True)
class SectionRow:
    """One section. `sent` is what was sent where that is another text; `privacy` is None where nobody noted it.

    `masked_types` says how many values of each type were replaced.
    """

    zone: str
    name: str
    origin: str
    tokens: int
    cut_chars: int
    text: str
    sent: str | None = None
    privacy: str | None = None
    masked: int = 0
    masked_types: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class CompositionRow:
    """One turn's composition. `policy` is the version of the privacy policy, `memory` the masked results of tools."""

    conversation_id: str
    turn: int
    provider_id: str
    model_id: str
    window: int | None
    tokens: int
    tokens_source: TokensSource
    policy: str
    memory: JsonObject
    sections: tuple[SectionRow, ...]
    created_at: int = 0


def keep_composition(connection: Connection, row: CompositionRow) -> None:
    """Write what a turn's last call received; the conversation shows how full its window is (R-2.104)."""
    made = new_id()
    values = {name: getattr(row, name) for name in CompositionRow.__slots__ if name not in ("sections", "created_at")}
    connection.execute(COMPOSITIONS.insert().values(id=made, created_at=now_ms(), **values))
    if row.sections:
        sections = [
            {"composition_id": made, "position": n, **{name: getattr(each, name) for name in SectionRow.__slots__}}
            for n, each in enumerate(row.sections, 1)
        ]
        connection.execute(COMPOSITION_SECTIONS.insert(), sections)
    connection.execute(
        update(CONVERSATIONS)
        .where(CONVERSATIONS.c.id == row.conversation_id)
        .values(context_tokens=row.tokens, context_window=row.window, context_source=row.tokens_source)
    )


def composition(connection: Connection, conversation_id: str, turn: int) -> CompositionRow | None:
    """The composition of that turn, None when none was recorded or it is kept no longer."""
    found = connection.execute(
        select(COMPOSITIONS).where(_C.conversation_id == conversation_id, _C.turn == turn)
    ).first()
    if found is None:
        return None
    names = SectionRow.__slots__
    query = select(*(_S[name] for name in names)).where(_S.composition_id == found.id).order_by(_S.position)
    sections = tuple(SectionRow(*row) for row in connection.execute(query))
    return CompositionRow(
        conversation_id,
        turn,
        found.provider_id,
        found.model_id,
        found.window,
        found.tokens or 0,
        found.tokens_source,
        found.policy,
        found.memory or {},
        sections,
        found.created_at,
    )


def turns_composed(connection: Connection, conversation_id: str) -> Sequence[int]:
    """The turns of which a composition is kept, the last first."""
    query = select(_C.turn).where(_C.conversation_id == conversation_id).order_by(_C.turn.desc())
    return list(connection.execute(query).scalars())


def purge_compositions(connection: Connection, before: int) -> int:
    """Forget what is older than that moment (N-18.04); how many turns that were."""
    return connection.execute(delete(COMPOSITIONS).where(_C.created_at < before)).rowcount
