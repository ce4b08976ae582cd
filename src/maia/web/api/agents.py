"""Agents and colleagues: who there is, what their definitions say, and the home thread with each (R-2.004, R-2.008)."""

from __future__ import annotations

from fastapi import APIRouter

from maia.core.types import JsonObject
from maia.web.api.shapes import conversation_json
from maia.web.entry.auth import AtDesk, SignedIn
from maia.workspace.colleagues import Colleague
from maia.workspace.models.catalogue import Catalogue

router = APIRouter(tags=["agents"])
_MANAGERS = ("owner", "admin")


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
async def agents(desk: AtDesk) -> JsonObject:
    """All agents of the home folder, specialists included."""
    catalogue = desk.workspace.models.catalogue
    return {"agents": [agent_json(each, catalogue) for each in await desk.workspace.staff.everybody()]}


@router.get("/agents/{name}")
async def agent(desk: AtDesk, person: SignedIn, name: str) -> JsonObject:
    """One agent; owners and administrators see the whole definition, keys masked."""
    found = await desk.workspace.staff.agent(name)
    short = agent_json(found, desk.workspace.models.catalogue)
    return {**found.config, **short} if person.user.role in _MANAGERS else short


def agent_json(agent: Colleague, catalogue: Catalogue) -> JsonObject:
    """What everybody may know of an agent. Without a model of its own it has the conversation's."""
    pair = agent.pair(catalogue)
    definition = agent.definition
    return {
        "name": agent.name,
        "nickname": agent.nickname,
        "description": agent.description,
        "group": definition.group,
        "effort": definition.effort,
        "tools": None if definition.tools is None else list(definition.tools),
        "providerId": pair.provider or None if pair else None,
        "modelId": pair.model if pair else None,
        "isAvailable": pair is None or catalogue.is_available(pair),
    }
