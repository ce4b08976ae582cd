"""The Folders tab: the named roots of a conversation, the first one primary (R-2.312–R-2.318, R-2.349)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from maia.core.ports import Say
from maia.core.text import visible
from maia.web.entry.auth import AtDesk, Owned, SignedIn
from maia.web.entry.strangers import NO_STORE
from maia.web.layout.frame import reader_of
from maia.workspace.folders import Kept
from maia.workspace.people.rights import may
from maia.workspace.records import FolderRow

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@dataclass(frozen=True, slots=True)
class Line:
    """A folder of the list; `problem` says why a turn leaves it out, empty when it does not (R-2.339, R-2.342)."""

    row: FolderRow
    name: str
    problem: str
    tone: Literal["danger", "warning"]


def line_of(kept: Kept, say: Say) -> Line:
    """In words."""
    name = say("rail.workspace") if kept.row.is_workspace else visible(kept.row.name)
    why = kept.refused
    problem = visible(say(why.key, **why.values)) if why is not None else ""
    return Line(kept.row, name, problem, "danger" if why is not None and why.refusal.is_protected else "warning")


@router.get("/ui/conversations/{conversation_id}/rail/folders")
async def folders_panel(desk: AtDesk, person: SignedIn, row: Owned) -> Response:
    """The tab as it stands, each folder looked at now."""
    workspace = desk.workspace
    kept = await workspace.work_folders.looked(row)
    card = await workspace.cards.card(person.user, row)
    defaults = await workspace.defaults.of("project", row.project_id) if row.project_id else ()
    shared = tuple((each.row.name, each.row.path) for each in kept if not each.row.is_workspace)
    may_set = may(person.user, "planning") and len(shared) == len(kept) and bool(shared)
    html = reader_of(desk, person).draw(
        "folders.html",
        row=row,
        folders=[line_of(each, person.say) for each in kept],
        offers_own=bool(kept) or await workspace.work_folders.offers_own(),
        project=visible(card.project or ""),
        defaults=defaults,
        may_set=may_set and shared != tuple((each.name, each.path) for each in defaults),
    )
    return HTMLResponse(html, headers=NO_STORE)
