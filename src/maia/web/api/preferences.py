"""Settings of the installation, read and changed by its owner and administrators."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body

from maia.core.jsonvalue import JsonObject
from maia.web.entry.auth import AtDesk, SignedIn

router = APIRouter(prefix="/settings", tags=["settings"])


@router.get("")
async def read_settings(desk: AtDesk, person: SignedIn) -> JsonObject:
    """Each by its name, null where it is as by default."""
    return {"settings": await desk.workspace.preferences.all(person.user)}


@router.patch("")
async def change_settings(
    desk: AtDesk, person: SignedIn, body: Annotated[dict[str, Any], Body(max_length=20)]
) -> JsonObject:
    """Other values by name, all or none; null brings the default back."""
    return {"settings": await desk.workspace.preferences.change(person.user, body)}
