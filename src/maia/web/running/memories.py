"""The page of what is remembered: add, find, change, forget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse, Response

from maia.core.ports import Say
from maia.core.text import visible
from maia.web.entry.auth import AtDesk, SignedIn
from maia.web.layout.frame import page_of
from maia.workspace.records import NoteRow, Project, ProjectType
from maia.workspace.remembering.memories import LONGEST_NOTE, MOST_NOTES, PAGE

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/memory")
async def memory_page(
    desk: AtDesk,
    person: SignedIn,
    q: Annotated[str, Query(max_length=2_000)] = "",
    before: Annotated[str | None, Query(max_length=60)] = None,
) -> Response:
    """Somebody's notes, the newest first, or those that fit a question."""
    notes, query = desk.workspace.memories, q.strip()
    found = await notes.found(person.user, query) if query else await notes.page(person.user, before, PAGE)
    projects, types, _ = await desk.workspace.planning.all()
    return await page_of(
        desk,
        person,
        "memory.html",
        "/memory",
        notes=found,
        query=q,
        count=await notes.count(person.user),
        most=MOST_NOTES,
        longest=LONGEST_NOTE,
        older=found[-1].id if not query and len(found) == PAGE else None,
        is_newest=before is None,
        projects=projects,
        types=types,
        places={each.id: place(each, names(projects, types), person.say) for each in found},
        origins={each.id: person.say(f"memories.origin.{each.origin}") for each in found},
    )


def names(projects: Sequence[Project], types: Sequence[ProjectType]) -> Mapping[str, str]:
    """What projects and their kinds are called."""
    return {each.id: visible(each.name) for each in (*projects, *types)}


def place(note: NoteRow, known: Mapping[str, str], say: Say) -> str:
    """Where a note holds, in words."""
    if note.scope == "global":
        return say("memories.scope.global")
    name = known.get(note.scope_id)
    return say("memories.scope.gone") if name is None else say(f"memories.scope.{note.scope}", name=name)
