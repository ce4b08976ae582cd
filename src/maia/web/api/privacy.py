"""The privacy policy, and what it makes of a text (N-10.13–N-10.15)."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Body, Header, Response
from pydantic import BaseModel, StringConstraints

from maia.core.jsonvalue import JsonObject
from maia.web.drawing.clock import moment
from maia.web.entry.auth import AtDesk, SignedIn
from maia.workspace.privacy import mark_of

router = APIRouter(prefix="/privacy", tags=["privacy"])


LONGEST_TRIED: Final = 100_000
"""Characters of a text to try the policy on (N-10.15)."""


class Tried(BaseModel):
    text: Annotated[str, StringConstraints(max_length=LONGEST_TRIED)]


@router.get("/policy")
async def get_policy(desk: AtDesk, person: SignedIn, answer: Response) -> JsonObject:
    """The policy in force, its version, and who said it: `yaml`, `ui` or `defaults`. For owners and admins.

    The header `ETag` names exactly this one, for `If-Match` of a change.
    """
    return _marked(answer, await desk.workspace.privacy.shown(person.user))


@router.put("/policy")
async def put_policy(
    desk: AtDesk,
    person: SignedIn,
    body: Annotated[Any, Body()],
    answer: Response,
    if_match: Annotated[str | None, Header(max_length=100)] = None,
) -> JsonObject:
    """Another policy, from the next turn on; for the owner. A bad one is 400 `invalid_policy`, and nothing changes.

    With `If-Match`, 412 `policy_changed` where another one than that is in force by now.
    """
    seen = None if if_match in (None, "*") else if_match.strip().removeprefix("W/").strip('"')
    await desk.workspace.privacy.save(person.user, body, seen)
    return _marked(answer, await desk.workspace.privacy.shown(person.user))


@router.get("/counters")
async def get_counters(desk: AtDesk, person: SignedIn) -> JsonObject:
    """What the mask did since the server started: calls, messages, values by type. For owners and admins."""
    tally = desk.workspace.privacy.counted(person.user)
    return {"since": moment(tally.since), **tally.to_json()}


@router.post("/scan")
async def try_text(desk: AtDesk, person: SignedIn, body: Tried) -> JsonObject:
    """What the policy finds in a text, and what would leave of it; for the owner. Nothing is kept."""
    return await desk.workspace.privacy.tried(person.user, body.text)


def _marked(answer: Response, shown: JsonObject) -> JsonObject:
    answer.headers["ETag"] = f'"{mark_of(shown)}"'
    return shown
