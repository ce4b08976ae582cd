"""What a turn's model received, for as long as it is kept, and sums of it (N-18.03, N-18.05, R-2.106)."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from maia.core.jsonvalue import JsonObject
from maia.web.drawing.clock import moment
from maia.web.entry.auth import AtDesk, Owned
from maia.web.layout.stream import LARGEST
from maia.workspace.records import CompositionRow, MemoryDelivery, SectionRow

router = APIRouter(prefix="/observability", tags=["observability"])


@router.get("/compositions/{conversation_id}")
async def get_composition(
    desk: AtDesk, row: Owned, turn: Annotated[int | None, Query(ge=1, le=LARGEST)] = None
) -> JsonObject:
    """The composition of a turn, the last one unless named; null where none was recorded or it is kept no longer."""
    found = await desk.workspace.composition(row, turn or row.last_turn)
    return {"composition": None if found is None else _json(found)}


@router.get("/memory-parity")
async def get_memory_parity(desk: AtDesk, days: Annotated[int, Query(ge=1, le=90)] = 7) -> JsonObject:
    """What memory reached the models of each provider in the last days; averages of turns with memory."""
    found = await desk.workspace.memory_delivery(days)
    return {"days": days, "providers": [_parity(each) for each in found]}


def _parity(row: MemoryDelivery) -> JsonObject:
    return {
        "providerId": row.provider_id,
        "turns": row.turns,
        "withMemory": row.with_memory,
        "items": row.items,
        "memoryTokens": row.memory_tokens,
        "lookupsPerTurn": row.lookups,
    }


def _json(found: CompositionRow) -> dict[str, Any]:
    return {
        "conversationId": found.conversation_id,
        "turn": found.turn,
        "createdAt": moment(found.created_at),
        "providerId": found.provider_id,
        "modelId": found.model_id,
        "window": found.window,
        "tokens": found.tokens,
        "tokensSource": found.tokens_source,
        "policy": found.policy or None,
        "maskedResults": found.memory.get("maskedResults", {}),
        "delivery": _delivery(found.memory),
        "drillDown": _drill_down(found.memory),
        "sections": [_section(each) for each in found.sections],
    }


def _delivery(memory: JsonObject) -> JsonObject | None:
    """What was recalled for the message; null for a turn that was recorded before that was noted."""
    recall = memory.get("recall")
    if not recall:
        return None
    return {
        "model": memory["sizedFor"]["model"],
        "window": memory["sizedFor"]["window"],
        "hits": recall["items"],
        "expanded": recall["expanded"],
        "tokens": recall["tokens"],
        "budget": recall["budget"],
        "ids": recall["ids"],
        "withheld": recall["withheld"],
        "promptChannel": memory.get("promptChannel"),
    }


def _drill_down(memory: JsonObject) -> JsonObject | None:
    """The model's own look-ups; null where its tools do not reach the memory."""
    counts = memory.get("lookups")
    return counts and {"calls": counts["calls"], "reads": counts["items"], "limit": counts["limit"]}


def _section(section: SectionRow) -> dict[str, Any]:
    egress = None
    if section.privacy is not None:
        types = section.masked_types or {}
        egress = {
            "state": section.privacy,
            "masked": section.masked,
            "spans": [{"type": kind, "count": count} for kind, count in types.items()],
            "skipped": section.privacy if section.privacy not in ("masked", "clean") else None,
            "types": types,
        }
    return {
        "zone": section.zone,
        "name": section.name,
        "origin": section.origin,
        "tokens": section.tokens,
        "cutChars": section.cut_chars,
        "text": section.text,
        "sent": section.sent,
        "egress": egress,
    }
