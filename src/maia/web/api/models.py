"""Providers, their models, keys and the default model (N-01, N-02.07); changing needs an owner or an admin."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field, StringConstraints

from maia.core.jsonvalue import JsonObject
from maia.core.secret import Secret
from maia.core.text import kept_name, visible
from maia.web.api.bindings import options_json
from maia.web.api.isolation import sandbox_json
from maia.web.api.shapes import Body, Name
from maia.web.drawing.clock import moment
from maia.web.entry.auth import AtDesk, SignedIn
from maia.workspace.models.catalogue import Catalogue, Pair
from maia.workspace.models.effort import Options, Thinking, is_toggle, levels_of
from maia.workspace.models.supply import Address, AddressFormat
from maia.workspace.records import ModelRow, ProviderRow

router = APIRouter(prefix="/model", tags=["models"])
Key = Annotated[str, StringConstraints(min_length=1, max_length=8_000)]


class Switch(Body):
    enabled: bool


class Chosen(Body):
    provider_id: Name = Field(alias="providerId")
    model_id: Name = Field(alias="modelId")

    @property
    def pair(self) -> Pair:
        return Pair(self.provider_id, self.model_id)


class SwitchedModel(Switch):
    model_id: Name = Field(alias="modelId")


class Tried(Body):
    model_id: Name | None = Field(None, alias="modelId")


class PastedKey(Body):
    key: Key = Field(repr=False)
    provider: Annotated[str, StringConstraints(max_length=100)] = ""


class NewAddress(Body):
    """`format` is what the server speaks: OpenAI's chat completions or Anthropic's messages."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=60)]
    format: AddressFormat = "openai"
    url: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
    key: Annotated[str, StringConstraints(max_length=8_000)] = Field("", repr=False)


@router.get("/providers")
async def list_providers(desk: AtDesk, person: SignedIn) -> JsonObject:
    """All providers with their models, by name."""
    catalogue = await desk.workspace.models.known()
    sandbox = await asyncio.to_thread(sandbox_json, desk.workspace.isolations, person.say)
    return {
        "providers": [_with_sandbox(provider_json(each, catalogue), sandbox) for each in catalogue.providers],
        "autoRoutingEnabled": catalogue.auto_allowed,
        "default": _pair_json(catalogue.install_default()),
    }


@router.get("/providers/{provider_id}")
async def get_provider(desk: AtDesk, person: SignedIn, provider_id: str) -> JsonObject:
    """One provider with its models."""
    catalogue = await desk.workspace.models.known()
    sandbox = await asyncio.to_thread(sandbox_json, desk.workspace.isolations, person.say)
    return _with_sandbox(provider_json(desk.workspace.models.provider(provider_id), catalogue), sandbox)


@router.patch("/providers/{provider_id}")
async def switch_provider(desk: AtDesk, person: SignedIn, provider_id: str, body: Switch) -> JsonObject:
    """Switch a provider on or off."""
    row = await desk.workspace.models.switch(person.user, provider_id, enabled=body.enabled)
    return provider_json(row, desk.workspace.models.catalogue)


@router.patch("/providers/{provider_id}/models")
async def switch_model(desk: AtDesk, person: SignedIn, provider_id: str, body: SwitchedModel) -> JsonObject:
    """Switch a model on or off. Its name stands in the body: names hold slashes."""
    row = await desk.workspace.models.switch_model(person.user, Pair(provider_id, body.model_id), enabled=body.enabled)
    return model_json(row)


@router.post("/providers/{provider_id}/models/refresh")
async def refresh_models(desk: AtDesk, person: SignedIn, provider_id: str) -> JsonObject:
    """Ask the provider for its models; 502 where it does not say, and then nothing is changed (N-01.10)."""
    done = await desk.workspace.models.refresh(person.user, provider_id)
    provider = provider_json(desk.workspace.models.provider(provider_id), desk.workspace.models.catalogue)
    return {"missing": list(done.missing), "restored": list(done.restored), "provider": provider}


@router.post("/providers/{provider_id}/test")
async def try_provider(desk: AtDesk, person: SignedIn, provider_id: str, body: Tried) -> JsonObject:
    """One short call to a model of the provider: its default or first one, unless another is named."""
    models = desk.workspace.models
    models.provider(provider_id)
    pair = Pair(provider_id, body.model_id) if body.model_id else models.catalogue.usual_of(provider_id)
    done = await models.attempt(person.user, pair or Pair(provider_id, ""))
    return {"modelId": pair.model if pair else None, "text": done.text, "seconds": done.seconds}


@router.post("/keys/look")
async def look_at_key(desk: AtDesk, person: SignedIn, body: PastedKey) -> JsonObject:
    """What a key is, by its shape; nothing is kept and nothing is sent."""
    look = desk.workspace.models.look_at_key(person.user, Secret(body.key), body.provider)
    notices = [{"level": each.level, "message": visible(person.say(each.key, **each.values))} for each in look.notices]
    name = desk.workspace.models.owner_name(look.provider)
    return {"provider": look.provider or None, "name": name, "token": look.shown, "host": look.host, "notices": notices}


@router.post("/providers", status_code=201)
async def add_provider(desk: AtDesk, person: SignedIn, body: PastedKey) -> JsonObject:
    """Keep a key, encrypted, and its provider with it; the key is never shown again (N-01.06)."""
    models = desk.workspace.models
    provider_id = await models.add_key(person.user, Secret(body.key), body.provider)
    return provider_json(models.provider(provider_id), models.catalogue)


@router.post("/addresses", status_code=201)
async def add_address(desk: AtDesk, person: SignedIn, body: NewAddress) -> JsonObject:
    """A model server by its address; whether it answers is told by its `health`."""
    models = desk.workspace.models
    key = Secret(body.key) if body.key else None
    address = Address(kept_name(body.name), body.format, body.url, key)
    provider_id = await models.add_address(person.user, address)
    return provider_json(models.provider(provider_id), models.catalogue)


@router.delete("/providers/{provider_id}", status_code=204)
async def remove_provider(desk: AtDesk, person: SignedIn, provider_id: str) -> None:
    """Take back a server that was added by its address, and its key with it."""
    await desk.workspace.models.remove(person.user, provider_id)


@router.put("/defaults")
async def set_default(desk: AtDesk, person: SignedIn, body: Chosen) -> JsonObject:
    """The default model of conversations that name none (N-04.03)."""
    await desk.workspace.models.set_default(person.user, body.pair)
    return {"providerId": body.provider_id, "modelId": body.model_id}


@router.get("/effort-options")
async def effort_options(
    desk: AtDesk,
    provider_id: Annotated[str, Query(alias="providerId", max_length=300)],
    model_id: Annotated[str, Query(alias="modelId", max_length=300)],
) -> JsonObject:
    """The levels that a model has."""
    await desk.workspace.models.known()
    pair = Pair(provider_id, model_id)
    row = desk.workspace.models.model(pair)
    levels = levels_of(desk.workspace.models.catalogue, [pair])
    usual = Thinking(row.default_effort, None, "model" if row.default_effort else "")
    return options_json(Options(levels, is_toggle(levels), None, usual))


def provider_json(row: ProviderRow, catalogue: Catalogue) -> JsonObject:
    """A provider with its models. The key is never in it."""
    return {
        "id": row.id,
        "name": row.name,
        "kind": row.kind,
        "enabled": row.enabled,
        "health": row.health,
        "baseUrl": row.base_url or None,
        "added": row.is_added,
        "keySource": row.secret_name,
        "checkedAt": moment(row.checked_at),
        "models": [model_json(each) for each in catalogue.models_of(row.id)],
    }


def _with_sandbox(body: JsonObject, sandbox: JsonObject) -> JsonObject:
    """With what walls a program in, null for a provider that is none (N-03.09)."""
    return {**body, "fileSandbox": sandbox if body["kind"] == "cli" else None}


def model_json(row: ModelRow) -> JsonObject:
    """A model; null is unknown."""
    body: dict[str, Any] = {
        "id": row.id,
        "name": row.name,
        "realModelId": row.real_id or row.id,
        "contextWindow": row.window,
        "maxOutputTokens": row.max_output,
        "vision": row.sees_images,
        "efforts": None if row.efforts is None else list(row.efforts),
        "defaultEffort": row.default_effort,
        "effortSource": row.effort_source,
        "price": row.price,
        "enabled": row.enabled,
        "missing": row.is_gone,
    }
    return body


def _pair_json(pair: Pair | None) -> JsonObject | None:
    return None if pair is None else {"providerId": pair.provider, "modelId": pair.model}
