"""The privacy policy, and what it makes of a text (N-10.13–N-10.15)."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import BaseModel, StringConstraints

from maia.core.types import JsonObject
from maia.web.entry.auth import AtDesk, SignedIn

router = APIRouter(prefix="/privacy", tags=["privacy"])


class Tried(BaseModel):
    text: Annotated[str, StringConstraints(max_length=100_000)]


@router.get("/policy")
async def get_policy(desk: AtDesk, person: SignedIn) -> JsonObject:
    """The policy in force, its version, and who said it: `yaml`, `ui` or `defaults`. For owners and admins."""
    return await desk.workspace.privacy.shown(person.user)


@router.put("/policy")
async def put_policy(desk: AtDesk, person: SignedIn, body: Annotated[Any, Body()]) -> JsonObject:
    """Another policy, from the next turn on; for the owner. A bad one is 400 `invalid_policy`, and nothing changes."""
    await desk.workspace.privacy.save(person.user, body)
    return await desk.workspace.privacy.shown(person.user)


@router.post("/scan")
async def try_text(desk: AtDesk, person: SignedIn, body: Tried) -> JsonObject:
    """What the policy finds in a text, and what would leave of it; for the owner. Nothing is kept."""
    return await desk.workspace.privacy.tried(person.user, body.text)
