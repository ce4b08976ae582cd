"""Calls that wait for a person, and the decisions on them (R-2.238–R-2.242)."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from maia.core.jsonvalue import JsonObject
from maia.web.api.shapes import Body
from maia.web.drawing.clock import moment
from maia.web.entry.auth import AtDesk, Person, SignedIn
from maia.workspace.approvals import may_decide
from maia.workspace.records import ApprovalRow

router = APIRouter(prefix="/approvals", tags=["approvals"])


class Decision(Body):
    decision: Literal["approve", "refuse"]


@router.get("")
async def list_approvals(
    desk: AtDesk, person: SignedIn, decided: Annotated[bool, Query(strict=False)] = False
) -> JsonObject:
    """What waits, the oldest first, or what was `decided`, the last first; your own unless you decide on them."""
    rows = await desk.workspace.approvals.listed(person.user, decided=decided)
    return {"mayDecide": may_decide(person.user), "approvals": [approval_json(row, person) for row in rows]}


@router.get("/{approval_id}")
async def get_approval(desk: AtDesk, person: SignedIn, approval_id: str) -> JsonObject:
    """One request with the exact call."""
    return approval_json(await desk.workspace.approvals.one(person.user, approval_id), person)


@router.post("/{approval_id}")
async def decide(desk: AtDesk, person: SignedIn, approval_id: str, body: Decision) -> JsonObject:
    """Approve or refuse. 403 `not_allowed` without the right, 409 `already` when somebody decided before."""
    verdict = "approved" if body.decision == "approve" else "refused"
    return approval_json(await desk.workspace.approvals.decide(person.user, approval_id, verdict), person)


def _problem(row: ApprovalRow, person: Person) -> str | None:
    """Why the run that waited for it could not go on."""
    kept = json.loads(row.problem) if row.problem else None
    return None if kept is None else person.say(kept["key"], **kept["values"])


def approval_json(row: ApprovalRow, person: Person) -> JsonObject:
    """A request as everybody outside sees it. Of another person's conversation only the call is told (N-20.04)."""
    is_own = row.owner_id == person.user.id
    return {
        "id": row.id,
        "status": row.status,
        "tool": row.tool,
        "category": row.category,
        "background": row.is_background,
        "problem": _problem(row, person),
        "arguments": row.arguments,
        "preview": row.preview,
        "reason": person.say(row.reason["key"], **row.reason["values"]),
        "askedBy": row.asker,
        "conversationId": row.conversation_id if is_own else None,
        "turn": row.turn if is_own else None,
        "createdAt": moment(row.created_at),
        "decidedAt": moment(row.decided_at),
        "decidedBy": row.decider,
        "usedAt": moment(row.used_at),
    }
