"""Levels of autonomy, for background runs alone (N-07.02, N-07.03)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from maia.core.jsonvalue import JsonObject
from maia.web.api.body import Body
from maia.web.drawing.clock import moment
from maia.web.entry.auth import AtDesk, SignedIn
from maia.workspace.approvals import may_decide
from maia.workspace.autonomy.levels import Standing

router = APIRouter(prefix="/autonomy", tags=["autonomy"])


class ChangedLevel(Body):
    level: Annotated[int, Field(strict=True)]


@router.get("")
async def get_autonomy(desk: AtDesk, person: SignedIn) -> JsonObject:
    """The level of each category: 1 Notice, 2 Approve, 3 Auto; who may decide also changes them."""
    levels = await desk.workspace.levels.all()
    return {"mayChange": may_decide(person.user), "levels": [level_json(each) for each in levels]}


@router.patch("/{category}")
async def change_level(desk: AtDesk, person: SignedIn, category: str, body: ChangedLevel) -> JsonObject:
    """Another level, from the next call on. 400 `autonomy_locked` where the category cannot rise."""
    await desk.workspace.levels.change(person.user, category, body.level)
    levels = await desk.workspace.levels.all()
    return next(level_json(each) for each in levels if each.category == category)


def level_json(standing: Standing) -> JsonObject:
    """A category as everybody reads it."""
    return {
        "category": standing.category,
        "level": standing.level,
        "reversible": not standing.is_locked,
        "locked": standing.is_locked,
        "changedAt": moment(standing.changed_at),
        "changedBy": standing.changed_by,
    }
