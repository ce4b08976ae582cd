"""Agents and colleagues: who there is, their definitions read and changed, and the home thread with each (N-05)."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from maia.core.jsonvalue import JsonObject
from maia.web.api.agentshapes import (
    ChangedAgent,
    Kept,
    NewAgent,
    agent_json,
    beginning,
    definition_json,
    whole_json,
)
from maia.web.api.shapes import conversation_json
from maia.web.drawing.clock import moment
from maia.web.entry.auth import AtDesk, Person, SignedIn
from maia.web.entry.desk import Desk
from maia.workspace.definitions import Definition
from maia.workspace.people.rights import may
from maia.workspace.problems import Outdated

router = APIRouter(tags=["agents"])


@router.get("/colleagues")
async def colleagues(desk: AtDesk, person: SignedIn) -> JsonObject:
    """The agents that people talk to, the main ones first; `homeId` is your home thread with each, if any."""
    catalogue = desk.workspace.models.catalogue
    homes = {each.agent: each.id for each in await desk.workspace.staff.homes(person.user)}
    found = await desk.workspace.staff.colleagues()
    return {"colleagues": [{**agent_json(each, catalogue), "homeId": homes.get(each.name)} for each in found]}


@router.post("/colleagues/{name}/home")
async def open_home(desk: AtDesk, person: SignedIn, name: str) -> JsonObject:
    """The one conversation that goes on with a colleague, made at the first opening."""
    return conversation_json(await desk.workspace.home_thread(person.user, name, person.lang))


@router.get("/agents")
async def agents(desk: AtDesk, person: SignedIn) -> JsonObject:
    """All definitions: those of the home folder, then those of trusted folders, which are only read."""
    catalogue = desk.workspace.models.catalogue
    found = await desk.workspace.definitions.all(person.user)
    return {"agents": [definition_json(each, catalogue, person.say) for each in found]}


@router.post("/agents", status_code=201)
async def add_agent(desk: AtDesk, person: SignedIn, body: NewAgent) -> JsonObject:
    """A new agent of the home folder; its type's words and tools where it brings none of its own."""
    begins = body.description is None and body.instructions is None
    more = beginning(body.kind or "assistant", person.say) if begins else {}
    made = await desk.workspace.definitions.create(person.user, body.draft(more, body.name), person.lang)
    return await _whole(desk, person, made)


@router.post("/agents/restore")
async def restore_agent(desk: AtDesk, person: SignedIn, body: Kept) -> JsonObject:
    """Put a removed definition back: `{kept}`, as the removal told it."""
    return await _whole(desk, person, await desk.workspace.definitions.restore(person.user, body.kept))


@router.get("/agents/tools")
async def agent_tools(desk: AtDesk) -> JsonObject:
    """The tools that an agent may be given; `also` are other names that mean the same."""
    tools = await asyncio.to_thread(desk.workspace.definitions.tools)
    return {"tools": [{"name": each.name, "about": each.about, "also": [*each.also]} for each in tools]}


@router.get("/agents/{agent_id}")
async def agent(desk: AtDesk, person: SignedIn, agent_id: str) -> JsonObject:
    """A whole definition; what it opens on this machine is told to owners and administrators, keys masked."""
    return await _whole(desk, person, await desk.workspace.definitions.one(person.user, agent_id))


@router.patch("/agents/{agent_id}")
async def change_agent(desk: AtDesk, person: SignedIn, agent_id: str, body: ChangedAgent) -> JsonObject:
    """Other values of what is sent. 409 with the `agent` as it is now where the file changed since `revision`."""
    draft = body.draft(revision=body.revision)
    try:
        return await _whole(desk, person, await desk.workspace.definitions.change(person.user, agent_id, draft))
    except Outdated as problem:
        now = await desk.workspace.definitions.one(person.user, agent_id)
        problem.more = {"agent": await _whole(desk, person, now)}
        raise


@router.delete("/agents/{agent_id}")
async def remove_agent(desk: AtDesk, person: SignedIn, agent_id: str) -> JsonObject:
    """Put a definition aside; `kept` is how it is put back."""
    return {"kept": await desk.workspace.definitions.remove(person.user, agent_id)}


@router.get("/agents/{agent_id}/memories")
async def agent_memories(
    desk: AtDesk, person: SignedIn, agent_id: str, q: Annotated[str, Query(max_length=2_000)] = ""
) -> JsonObject:
    """What an agent keeps for itself at the terminal and in runs, the newest first; with `q` what fits, best first."""
    found = await desk.workspace.definitions.remembered(person.user, agent_id, q)
    rows = [
        {"id": each.entry_id, "text": each.text, "tags": list(each.tags), "createdAt": moment(int(each.created * 1000))}
        for each in found
    ]
    return {"memories": rows}


@router.delete("/agents/{agent_id}/memories/{entry_id}", status_code=204)
async def forget_memory(desk: AtDesk, person: SignedIn, agent_id: str, entry_id: str) -> Response:
    """Forget one thing for good."""
    await desk.workspace.definitions.forget(person.user, agent_id, entry_id)
    return Response(status_code=204)


async def _whole(desk: Desk, person: Person, found: Definition) -> JsonObject:
    catalogue = desk.workspace.models.catalogue
    whole = whole_json(found, catalogue, person.say, leads=may(person.user, "agents"))
    if found.colleague is None:
        return whole
    quota = await desk.workspace.quotas.of(found.name, found.colleague.definition.monthly_tokens)
    return {**whole, "tokensThisMonth": {"used": quota.used, "limit": quota.limit}}
