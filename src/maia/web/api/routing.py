"""Routing: the tiers, and whether conversations may be routed at all (N-04)."""

from __future__ import annotations

from typing import Annotated, Any, Self

from fastapi import APIRouter
from pydantic import Field, Strict, model_validator

from maia.core.jsonvalue import JsonObject
from maia.web.api.shapes import Body, Level, Name
from maia.web.entry.auth import AtDesk, SignedIn
from maia.workspace.calls.background import ORDERS, Group
from maia.workspace.models.budgets import Spending
from maia.workspace.models.catalogue import TIERS, Pair, Tier

router = APIRouter(prefix="/routing", tags=["routing"])

Dollars = Annotated[float, Strict(), Field(allow_inf_nan=False)]


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


class BudgetBody(Body):
    """Caps in US dollars, null for none, and shares of a cap. What is not sent stays (N-04.12, N-04.13)."""

    daily: Dollars | None = None
    weekly: Dollars | None = None
    monthly: Dollars | None = None
    warn_at: Dollars | None = Field(None, alias="warnAt")
    downgrade_at: Dollars | None = Field(None, alias="downgradeAt")
    hard_stop_at: Dollars | None = Field(None, alias="hardStopAt")


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


@router.get("/budget")
async def get_budget(desk: AtDesk) -> JsonObject:
    """The caps, what is spent of each, and how near the nearest one is."""
    return budget_json(await desk.workspace.budgets.spending())


@router.put("/budget")
async def set_budget(desk: AtDesk, person: SignedIn, body: BudgetBody) -> JsonObject:
    """Other caps or shares; 400 `invalid_budget` for what cannot be."""
    change = body.model_dump(by_alias=True, exclude_unset=True)
    return budget_json(await desk.workspace.budgets.change(person.user, change))


@router.get("/auxiliary")
async def auxiliary(desk: AtDesk) -> JsonObject:
    """Which model would make the server's own small calls now, or why none would (N-04.11)."""
    await desk.workspace.models.known()
    groups = [await _auxiliary(desk, group) for group in ORDERS]
    return {"groups": groups}


async def _auxiliary(desk: AtDesk, group: Group) -> JsonObject:
    who = await desk.workspace.routing.background.who(group)
    if isinstance(who, str):
        return {"group": group, "providerId": None, "modelId": None, "origin": None, "tier": None, "reason": who}
    first = who[0]
    origin = "tier" if first.tier else first.step
    named: dict[str, Any] = {"providerId": first.pair.provider, "modelId": first.pair.model}
    return {"group": group, **named, "origin": origin, "tier": first.tier, "reason": None}


def budget_json(spending: Spending) -> JsonObject:
    """Dollars; `unknown` counts turns and calls whose cost nobody knows, and which are in no sum (R-2.210)."""
    now = spending.standing
    spent = {period: {"usd": each.usd, "unknown": each.unknown} for period, each in spending.spent.items()}
    return {"budget": spending.budget.to_json(), "spent": spent, "level": now.level, "period": now.period}


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
