"""The pages of agents: all of them, and one with its configuration, its memories and its work (N-05.03, N-05.04)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Final, Literal, get_args

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse, Response

from maia.core.jsonvalue import JsonObject
from maia.core.requests import Effort
from maia.web.drawing.agentview import BEGINNINGS, GROUPS, KINDS, RULES, SHOWN, Show, card_of, fits, form_of
from maia.web.entry.auth import AtDesk, Person, SignedIn
from maia.web.entry.desk import Desk
from maia.web.layout.frame import page_of
from maia.web.layout.marks import mark_of_page
from maia.workspace.definitions import Definition
from maia.workspace.models.quotas import next_month
from maia.workspace.people.rights import may

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
RECENT: Final = 30
EFFORTS: Final[tuple[Effort, ...]] = get_args(Effort)


@router.get("/agents")
async def agents(
    desk: AtDesk,
    person: SignedIn,
    show: Show = "all",
    gone: Annotated[str, Query(alias="removed", max_length=200)] = "",
) -> Response:
    """All agents as cards. `removed` is what was just put aside, and can be put back."""
    definitions = desk.workspace.definitions
    catalogue = await desk.workspace.models.known()
    found = await definitions.all(person.user)
    removed = await definitions.removed(person.user)
    return await page_of(
        desk,
        person,
        "agents.html",
        "/agents",
        cards=[card_of(each, catalogue, person.say) for each in found if fits(each, show)],
        counts_of={each: sum(fits(one, each) for one in found) for each in SHOWN},
        show=show,
        shows=SHOWN,
        state=await mark_of_page(desk, person, "/agents"),
        leads=may(person.user, "agents"),
        removed=removed,
        undo=next(((kept, name) for kept, name in removed if kept == gone), None),
        kinds=KINDS,
        groups=GROUPS,
        beginnings=BEGINNINGS,
    )


@router.get("/agents/{agent_id}")
async def configuration(desk: AtDesk, person: SignedIn, agent_id: str) -> Response:
    """What its file says, to change for those who lead agents."""
    found = await desk.workspace.definitions.one(person.user, agent_id)
    catalogue = await desk.workspace.models.known()
    form: JsonObject = {}
    if found.colleague is not None:
        installed = await asyncio.to_thread(desk.workspace.definitions.tools)
        form = form_of(found, catalogue, installed, person.say)
    used = await desk.workspace.definitions.used_by(found.name) if found.is_own else ()
    words: Mapping[str, Any] = {"kinds": KINDS, "groups": GROUPS, "rules": RULES, "efforts": EFFORTS}
    return await _page(desk, person, found, "configuration", form=form, used_by=used, **words)


@router.get("/agents/{agent_id}/memories")
async def memories(
    desk: AtDesk, person: SignedIn, agent_id: str, q: Annotated[str, Query(max_length=2_000)] = ""
) -> Response:
    """What it keeps for itself, the newest first, or what fits a question."""
    found = await desk.workspace.definitions.one(person.user, agent_id)
    kept = await desk.workspace.definitions.remembered(person.user, agent_id, q)
    return await _page(desk, person, found, "memories", memories=kept, query=q)


@router.get("/agents/{agent_id}/workspace")
async def workspace(desk: AtDesk, person: SignedIn, agent_id: str) -> Response:
    """The reader's own conversations with it, the home thread first."""
    found = await desk.workspace.definitions.one(person.user, agent_id)
    rows = await desk.workspace.definitions.conversations(person.user, found.name, RECENT)
    home = next((row for row in rows if row.home_of), None)
    return await _page(desk, person, found, "workspace", home=home, rows_of=[row for row in rows if row is not home])


Tab = Literal["configuration", "memories", "workspace"]
_TABS: Final[Mapping[Tab, str]] = {each: f"agentpage.tab.{each}" for each in get_args(Tab)}


async def _page(desk: Desk, person: Person, found: Definition, tab: Tab, **values: Any) -> Response:
    leads = may(person.user, "agents")
    is_there: Mapping[Tab, bool] = {
        "configuration": True,
        "memories": leads and found.is_own and found.colleague is not None,
        "workspace": found.colleague is not None,
    }
    limit = found.colleague.definition.monthly_tokens if found.colleague else 0
    return await page_of(
        desk,
        person,
        "agent.html",
        "/agents",
        found=found,
        card=card_of(found, desk.workspace.models.catalogue, person.say),
        config=found.colleague.config if found.colleague else {},
        tab=tab,
        quota=await desk.workspace.quotas.of(found.name, limit),
        until=f"{next_month(date.today()):%d/%m/%Y}",
        tabs={name: words for name, words in _TABS.items() if is_there[name]},
        leads=leads,
        edits=leads and found.is_own and found.colleague is not None,
        **values,
    )
