"""What a turn's model received, for as long as it is kept (N-18.05, R-2.106)."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from maia.core.types import JsonObject
from maia.web.auth import AtDesk, Owned
from maia.web.clock import moment
from maia.web.stream import LARGEST
from maia.workspace.records import CompositionRow, SectionRow

router = APIRouter(prefix="/observability", tags=["observability"])


@router.get("/compositions/{conversation_id}")
async def get_composition(
    desk: AtDesk, row: Owned, turn: Annotated[int | None, Query(ge=1, le=LARGEST)] = None
) -> JsonObject:
    """The composition of a turn, the last one unless named; null where none was recorded or it is kept no longer."""
    found = await desk.workspace.composition(row, turn or row.last_turn)
    return {"composition": None if found is None else _json(found)}


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
        "delivery": None,
        "drillDown": None,
        "sections": [_section(each) for each in found.sections],
    }


def _section(section: SectionRow) -> dict[str, Any]:
    egress = None
    if section.privacy is not None:
        egress = {"state": section.privacy, "masked": section.masked, "types": section.masked_types or {}}
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
