"""Routing: the tiers, and whether conversations may be routed at all (N-04)."""

from __future__ import annotations

from typing import Self

from fastapi import APIRouter
from pydantic import Field, model_validator

from maia.core.types import JsonObject
from maia.web.api.shapes import Body, Level, Name
from maia.web.auth import AtDesk, SignedIn
from maia.workspace.catalogue import TIERS, Pair, Tier

router = APIRouter(prefix="/routing", tags=["routing"])


class Allowed(Body):
    allowed: bool


class TierBody(Body):
    """A tier's model and the one for when that is off; without a model the tier is empty."""

    provider_id: Name | None = Field(None, alias="providerId")
    model_id: Name | None = Field(None, alias="modelId")
    fallback_provider_id: Name | None = Field(None, alias="fallbackProviderId")
    fallback_model_id: Name | None = Field(None, alias="fallbackModelId")
    effort: Level | None = None

    @model_validator(mode="after")
    def whole_pairs(self) -> Self:
        for provider, model in (
            (self.provider_id, self.model_id),
            (self.fallback_provider_id, self.fallback_model_id),
        ):
            if (provider is None) != (model is None):
                raise ValueError("a provider and its model are sent together")
        return self


@router.get("/tiers")
async def list_tiers(desk: AtDesk) -> JsonObject:
    """All tiers, and whether automatic routing is allowed."""
    catalogue = await desk.workspace.models.known()
    return {
        "tiers": [tier_json(catalogue.tier(each)) for each in TIERS],
        "autoRoutingEnabled": catalogue.auto_allowed,
    }


@router.get("/tiers/{tier}")
async def get_tier(desk: AtDesk, tier: str) -> JsonObject:
    """One tier."""
    desk.workspace.models.must_be_tier(tier)
    return tier_json((await desk.workspace.models.known()).tier(tier))


@router.put("/tiers/{tier}")
async def set_tier(desk: AtDesk, person: SignedIn, tier: str, body: TierBody) -> JsonObject:
    """What a tier uses; conversations that have a model stay where they are (R-2.045)."""
    models = desk.workspace.models
    await models.set_tier(
        person.user,
        tier,
        _pair(body.provider_id, body.model_id),
        _pair(body.fallback_provider_id, body.fallback_model_id),
        body.effort,
    )
    return tier_json(models.catalogue.tier(tier))


@router.put("/automatic")
async def allow_automatic(desk: AtDesk, person: SignedIn, body: Allowed) -> JsonObject:
    """Allow automatic routing, or take that back; it only permits (N-04.04)."""
    await desk.workspace.models.allow_auto(person.user, allowed=body.allowed)
    return {"autoRoutingEnabled": body.allowed}


def tier_json(tier: Tier) -> JsonObject:
    first, second = tier.primary, tier.fallback
    return {
        "tier": tier.name,
        "providerId": first.provider if first else None,
        "modelId": first.model if first else None,
        "fallbackProviderId": second.provider if second else None,
        "fallbackModelId": second.model if second else None,
        "effort": tier.effort,
    }


def _pair(provider: str | None, model: str | None) -> Pair | None:
    return Pair(provider, model) if provider and model else None
