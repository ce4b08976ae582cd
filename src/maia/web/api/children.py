"""What conversations delegated, and where a delegated one comes from (N-06)."""

from __future__ import annotations

from fastapi import APIRouter

from maia.core.jsonvalue import JsonObject
from maia.web.drawing.clock import moment
from maia.web.entry.auth import AtDesk, Owned
from maia.workspace.records import Child

router = APIRouter(prefix="/conversations", tags=["conversations"])


@router.get("/{conversation_id}/children")
async def list_children(desk: AtDesk, row: Owned) -> JsonObject:
    """What this conversation delegated, the first one first; `above` are those that delegated it, the nearest first."""
    above = await desk.workspace.above(row)
    return {
        "children": [child_json(each) for each in await desk.workspace.children(row)],
        "above": [{"id": each.conversation_id, "title": each.title, "agent": each.agent} for each in above],
    }


def child_json(child: Child) -> JsonObject:
    """A delegated conversation; `turn` and `callId` name the call that made it, `costUsd` is null if unknown."""
    return {
        "id": child.id,
        "title": child.title,
        "agent": child.agent,
        "kind": child.kind,
        "status": child.status,
        "outcome": child.outcome,
        "turn": child.turn,
        "callId": child.call_id,
        "costUsd": child.cost_usd,
        "costIsEstimated": child.has_estimate,
        "createdAt": moment(child.created_at),
    }
