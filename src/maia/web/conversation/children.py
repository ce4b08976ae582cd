"""What a conversation delegated, in its Execution strip: who works on what, how far, at what cost (R-2.009)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from maia.core.text import visible
from maia.web.drawing.words import OUTCOMES, STATUSES, Sign
from maia.web.entry.auth import AtDesk, Owned, SignedIn
from maia.web.entry.desk import Desk
from maia.web.entry.strangers import NO_STORE
from maia.web.layout.frame import reader_of
from maia.workspace.records import Child, ConversationRow

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
KINDS: Final[Mapping[str, str]] = {
    "specialist": "delegate.kind.specialist",
    "card": "delegate.kind.card",
    "sub": "delegate.kind.sub",
}
FINISHED: Final = Sign("check", "success", "rail.run.finished")


@dataclass(frozen=True, slots=True)
class Below:
    """One of them; `who` is what its agent is called, empty where there is none."""

    child: Child
    who: str
    sign: Sign

    @property
    def kind(self) -> str:
        """The key of what it is."""
        return KINDS[self.child.kind]


async def below_of(desk: Desk, row: ConversationRow) -> Sequence[Below]:
    """Those of a conversation, the first one first."""
    found = await desk.workspace.children(row)
    if not found:
        return ()
    called = {each.name: each.nickname for each in await desk.workspace.staff.everybody(row)}
    return [Below(each, visible(called.get(each.agent or "", each.agent or "")), sign_of(each)) for each in found]


def sign_of(child: Child) -> Sign:
    """How it stands: what its status says, and where nothing runs or waits how its last answer ended."""
    if child.status != "idle" or child.outcome is None:
        return STATUSES[child.status]
    return next((sign for name, sign in OUTCOMES.items() if name == child.outcome and sign is not None), FINISHED)


@router.get("/ui/conversations/{conversation_id}/children")
async def draw_children(desk: AtDesk, person: SignedIn, row: Owned) -> Response:
    """The list, after something of it changed."""
    html = reader_of(desk, person).draw("children.html", row=row, below=await below_of(desk, row))
    return HTMLResponse(html, headers=NO_STORE)
