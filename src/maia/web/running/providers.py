"""The page of providers: who can answer, their models, keys, and the routing tiers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from maia.core.costs import dollars
from maia.core.ports import Say
from maia.web.drawing.isolation import Panel
from maia.web.drawing.picker import compact
from maia.web.drawing.words import Sign
from maia.web.entry.auth import AtDesk, Person, SignedIn
from maia.web.entry.desk import Desk
from maia.web.layout.frame import page_of
from maia.workspace.calls.background import Group
from maia.workspace.models.budget import Level, Period
from maia.workspace.models.catalogue import TIERS, Catalogue, Pair, Tier
from maia.workspace.models.effort import LADDER, levels_of
from maia.workspace.people.rights import may
from maia.workspace.records import Kind, ModelRow, ProviderRow

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

HEALTH: Final[Mapping[str, Sign]] = {
    "ready": Sign("check", "success", "provider.health.ready"),
    "unknown": Sign("clock", "muted", "provider.health.unknown"),
    "absent": Sign("unknown", "muted", "provider.health.absent"),
    "no_key": Sign("key", "warning", "provider.health.no_key"),
    "auth": Sign("lock", "danger", "provider.health.auth"),
    "unreachable": Sign("x", "danger", "provider.health.unreachable"),
}
_OF_PROGRAMS: Final[Mapping[str, Sign]] = {
    "absent": Sign("unknown", "danger", "provider.health.absent_cli"),
    "auth": Sign("lock", "danger", "provider.health.auth_cli"),
}
KINDS: Final[Mapping[Kind, str]] = {
    "api": "provider.group.api",
    "local": "provider.group.local",
    "cli": "provider.group.cli",
}
Tab: TypeAlias = Literal["tiers", "providers", "budget"]
TABS: Final[Mapping[Tab, str]] = {
    "tiers": "provider.tab.tiers",
    "providers": "provider.tab.providers",
    "budget": "provider.tab.budget",
}
FORMATS: Final = (("openai", "provider.add_format.openai"), ("anthropic", "provider.add_format.anthropic"))
SMALL_CALLS: Final[Mapping[Group, str]] = {"titles": "provider.helpers.titles", "triage": "provider.helpers.triage"}
CAPS: Final[Mapping[Period, tuple[str, str]]] = {
    "daily": ("budget.cap.daily", "budget.spent.daily"),
    "weekly": ("budget.cap.weekly", "budget.spent.weekly"),
    "monthly": ("budget.cap.monthly", "budget.spent.monthly"),
}
"""What a cap is called, and what was spent of it."""
THRESHOLDS: Final[tuple[tuple[Level, str, str, str], ...]] = (
    ("warn", "warnAt", "budget.at.warn", "budget.at.warn.for"),
    ("downgrade", "downgradeAt", "budget.at.downgrade", "budget.at.downgrade.for"),
    ("stop", "hardStopAt", "budget.at.stop", "budget.at.stop.for"),
)
TIER_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "triage": ("provider.tier.triage", "provider.tier.triage.for"),
    "quick": ("provider.tier.quick", "provider.tier.quick.for"),
    "standard": ("provider.tier.standard", "provider.tier.standard.for"),
    "complex": ("provider.tier.complex", "provider.tier.complex.for"),
    "code": ("provider.tier.code", "provider.tier.code.for"),
    "heartbeat": ("provider.tier.heartbeat", "provider.tier.heartbeat.for"),
}
"""What a tier is called, and what it is for."""
LEVELS: Final[Mapping[Level, Sign]] = {
    "free": Sign("check", "success", "budget.level.free"),
    "warn": Sign("alert", "warning", "budget.level.warn"),
    "downgrade": Sign("pause", "warning", "budget.level.downgrade"),
    "stop": Sign("ban", "danger", "budget.level.stop"),
}
_OFF: Final = Sign("idle", "muted", "provider.off")


@dataclass(frozen=True, slots=True)
class ModelLine:
    """One model of a card. Prices are words: dollars, `local`, `plan`, a dash where nobody knows."""

    row: ModelRow
    window: str
    efforts: str
    price_in: str
    price_out: str
    is_default: bool


@dataclass(frozen=True, slots=True)
class Card:
    """One provider."""

    row: ProviderRow
    sign: Sign
    models: tuple[ModelLine, ...]
    enabled: int
    panel: Panel | None = None


@router.get("/providers")
async def providers_page(desk: AtDesk, person: SignedIn, tab: Tab = "providers") -> Response:
    """Providers, tiers or budget (N-01.01); who may not change them sees them."""
    values = {"providers": _providers, "tiers": _tiers, "budget": _budget}[tab]
    may_change = may(person.user, "models")
    shown = await values(desk, person)
    return await page_of(desk, person, "providers.html", "/providers", tab=tab, TABS=TABS, may=may_change, **shown)


async def _providers(desk: Desk, person: Person) -> dict[str, Any]:
    catalogue = await desk.workspace.models.known()
    panels = await asyncio.to_thread(_panels, desk, catalogue)
    cards = [replace(_card(each, catalogue, person.say), panel=panels.get(each.id)) for each in catalogue.providers]
    groups = [(key, [card for card in cards if card.row.kind == kind]) for kind, key in KINDS.items()]
    return {
        "groups": [(key, found) for key, found in groups if found],
        "formats": FORMATS,
        "count": len(cards),
        "ready": sum(card.sign.tone == "success" for card in cards),
        "owners": desk.workspace.models.key_owners(),
    }


def _panels(desk: Desk, catalogue: Catalogue) -> dict[str, Panel]:
    """Of the programs. Blocks the first time: the kernel is asked once."""
    walls = desk.workspace.isolations
    return {each.id: Panel(walls.of(each.id), walls.file_sandbox) for each in catalogue.providers if each.kind == "cli"}


async def _tiers(desk: Desk, person: Person) -> dict[str, Any]:
    del person
    catalogue = await desk.workspace.models.known()
    return {
        "tiers": [(catalogue.tier(each), *TIER_WORDS[each]) for each in TIERS],
        "choices": _choices(catalogue),
        "efforts": {each: _tier_levels(catalogue.tier(each), catalogue) for each in TIERS},
        "allowed": catalogue.auto_allowed,
        "small_calls": [(key, await desk.workspace.routing.background.who(each)) for each, key in SMALL_CALLS.items()],
        "tier_names": {each: words for each, (words, _) in TIER_WORDS.items()},
    }


async def _budget(desk: Desk, person: Person) -> dict[str, Any]:
    del person
    spending = await desk.workspace.budgets.spending()
    signs = {period: LEVELS[spending.of(period).level] for period in spending.spent}
    now = LEVELS[spending.standing.level]
    shared = {"caps": CAPS, "thresholds": THRESHOLDS, "dollars": dollars}
    return {"spending": spending, "signs": signs, "now": now, **shared}


def _card(row: ProviderRow, catalogue: Catalogue, say: Say) -> Card:
    default = catalogue.install_default()
    models = catalogue.models_of(row.id)
    lines = tuple(_line(each, row, default, say) for each in models)
    return Card(row, _sign(row), lines, sum(each.enabled for each in models))


def _sign(row: ProviderRow) -> Sign:
    if not row.enabled:
        return _OFF
    return (_OF_PROGRAMS if row.kind == "cli" else {}).get(row.health, HEALTH[row.health])


def _line(row: ModelRow, provider: ProviderRow, default: Pair | None, say: Say) -> ModelLine:
    return ModelLine(
        row,
        compact(row.window) or "—",
        _efforts(row, say),
        _price(row, provider, "input", say),
        _price(row, provider, "output", say),
        Pair(row.provider_id, row.id) == default,
    )


def _efforts(row: ModelRow, say: Say) -> str:
    if row.efforts is None:
        return say("provider.efforts.unknown")
    if not row.efforts:
        return say("provider.efforts.none")
    return ", ".join(say(f"effort.level.{each}") for each in row.efforts)


def _price(row: ModelRow, provider: ProviderRow, name: str, say: Say) -> str:
    if row.price is not None:
        return price_words(row.price[name])
    return {"local": say("provider.price_local"), "cli": say("provider.price_plan")}.get(provider.kind, "—")


def price_words(usd: float) -> str:
    """Dollars of a million tokens: cents, and what there is of a cent."""
    whole, _, part = f"{usd:.4f}".partition(".")
    return f"${whole}.{part[:2]}{part[2:].rstrip('0')}"


def _choices(catalogue: Catalogue) -> Sequence[tuple[Pair, str]]:
    """Every model that a tier may take, under its provider's name."""
    pairs = (Pair(each.provider_id, each.id) for each in catalogue.models)
    return [
        (pair, f"{catalogue.name_of(pair.provider)} / {pair.model}") for pair in pairs if catalogue.is_available(pair)
    ]


def _tier_levels(tier: Tier, catalogue: Catalogue) -> Sequence[str]:
    """The levels that a tier's models have; all of them while it has no model."""
    pairs = [pair for pair in (tier.primary, tier.fallback) if pair is not None]
    return levels_of(catalogue, pairs) if pairs else LADDER
