"""Refusals and what guards this installation, for its owner and administrators (N-09.04, N-09.10)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from maia.core.jsonvalue import JsonObject
from maia.web.api.isolation import sandbox_json
from maia.web.drawing.clock import moment
from maia.web.entry.auth import AtDesk, Person, SignedIn
from maia.web.layout.places import place_of
from maia.workspace.autonomy.security import LISTED
from maia.workspace.records import DenialRow

router = APIRouter(prefix="/security", tags=["security"])


@router.get("")
async def get_security(desk: AtDesk, person: SignedIn) -> JsonObject:
    """Counters of 24 hours, the stores and vaults that were found, configured paths, own data, the sandbox."""
    found = await desk.workspace.security.guarded(person.user)
    counts = [{"checkpoint": at, "reason": why, "count": n} for (at, why), n in sorted(found.counts.items())]
    return {
        "refusals24h": counts,
        "stores": list(found.stores),
        "vaults": list(found.vaults),
        "foreignMemoryPaths": [{"path": path, "state": state} for path, state in found.foreign],
        "ownData": list(found.own),
        "workspaces": found.workspaces or None,
        "sandbox": sandbox_json(desk.workspace.isolations, person.say),
    }


@router.get("/denials")
async def list_denials(desk: AtDesk, person: SignedIn, before: Annotated[str, Query(max_length=80)] = "") -> JsonObject:
    """Each refusal that needed no person, the newest first; `next` goes into `before`. No value of a call is in it."""
    rows = await desk.workspace.security.denials(person.user, place_of(before))
    after = f"{rows[-1].at}-{rows[-1].id}" if len(rows) == LISTED else None
    return {"denials": [denial_json(row, person) for row in rows], "next": after}


def denial_json(row: DenialRow, person: Person) -> JsonObject:
    """A refusal; the conversation is named to its owner alone (N-20.04)."""
    return {
        "id": row.id,
        "at": moment(row.at),
        "decision": "deny",
        "checkpoint": row.checkpoint,
        "reason": row.reason,
        "tool": row.tool,
        "conversationId": row.conversation_id if row.owner_id == person.user.id else None,
    }
