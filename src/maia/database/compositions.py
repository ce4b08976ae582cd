"""Rows of what the last model call of a turn received, part by part; kept for some days only (R-2.087, R-2.126)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Literal, TypeAlias, cast

from sqlalchemy import ColumnElement, Connection, delete, select, update

from maia.core.jsonvalue import JsonObject
from maia.database.ids import new_id, now_ms
from maia.database.tables.conversations import COMPOSITION_SECTIONS, COMPOSITIONS, CONVERSATIONS
from maia.database.tables.memory import CONTEXT_DAYS

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
    """Forget what is older than that moment but for sums of each day (N-18.04); how many turns that were."""
    for (day, provider_id), sums in _by_day(_noted(connection, _C.created_at < before)).items():
        add_to_day(connection, day, provider_id, sums)
    return connection.execute(delete(COMPOSITIONS).where(_C.created_at < before)).rowcount


# What remains ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MemoryDelivery:
    """What memory reached the models of a provider: how many turns, how many with memory, and averages.

    `items` and `memory_tokens` are those of a turn with memory, None where there was none; `lookups` are those of any.
    """

    provider_id: str
    turns: int
    with_memory: int
    items: float | None
    memory_tokens: float | None
    lookups: float


def memory_delivery(connection: Connection, since: date) -> Sequence[MemoryDelivery]:
    """Of each provider from that day on, in UTC, who answered most first: what is kept whole, and sums of what was."""
    start = int(datetime.combine(since, time(), UTC).timestamp() * 1000)
    found: dict[str, Counter[str]] = {}
    for (_, provider_id), sums in _by_day(_noted(connection, _C.created_at >= start)).items():
        found.setdefault(provider_id, Counter()).update(sums)
    d = CONTEXT_DAYS.c
    query = select(d.provider_id, *(d[name] for name in _SUMS)).where(d.day >= since.isoformat())
    for provider_id, *sums in connection.execute(query):
        found.setdefault(provider_id, Counter()).update(dict(zip(_SUMS, sums, strict=True)))
    return sorted((_averaged(*each) for each in found.items()), key=lambda each: (-each.turns, each.provider_id))


def _averaged(provider_id: str, sums: Counter[str]) -> MemoryDelivery:
    turns, told = sums["turns"], sums["with_memory"]
    items, tokens = (sums[name] / told if told else None for name in ("items", "memory_tokens"))
    return MemoryDelivery(provider_id, turns, told, items, tokens, sums["lookups"] / turns)


def _noted(connection: Connection, which: ColumnElement[bool]) -> Sequence[tuple[int, str, JsonObject]]:
    """When a turn was, who answered, and what is noted of its memory."""
    query = select(_C.created_at, _C.provider_id, _C.memory).where(which)
    return [(int(at), str(name), cast(JsonObject, memory or {})) for at, name, memory in connection.execute(query)]


_SUMS = ("turns", "with_memory", "items", "expanded", "memory_tokens", "lookups", "items_read")


def _by_day(kept: Iterable[tuple[int, str, JsonObject]]) -> Mapping[tuple[str, str], Counter[str]]:
    """Of each day, in UTC, and each provider: turns, and what memory reached them (R-2.127)."""
    days: dict[tuple[str, str], Counter[str]] = {}
    for created_at, provider_id, memory in kept:
        day = datetime.fromtimestamp(created_at / 1000, UTC).date().isoformat()
        sums = days.setdefault((day, provider_id), Counter())
        recall: JsonObject = memory.get("recall") or {}
        looked: JsonObject = memory.get("lookups") or {}
        sums["turns"] += 1
        sums["with_memory"] += bool(recall.get("items"))
        for name, value in (
            ("items", recall.get("items")),
            ("expanded", recall.get("expanded")),
            ("memory_tokens", recall.get("tokens")),
            ("lookups", looked.get("calls")),
            ("items_read", looked.get("items")),
        ):
            sums[name] += value or 0
    return days


def add_to_day(connection: Connection, day: str, provider_id: str, sums: Mapping[str, int]) -> None:
    """Add to the sums of that day and provider."""
    d = CONTEXT_DAYS.c
    more = {name: d[name] + sums.get(name, 0) for name in _SUMS}
    where = (d.day == day, d.provider_id == provider_id)
    if not connection.execute(update(CONTEXT_DAYS).where(*where).values(**more)).rowcount:
        first = {name: sums.get(name, 0) for name in _SUMS}
        connection.execute(CONTEXT_DAYS.insert().values(day=day, provider_id=provider_id, **first))
