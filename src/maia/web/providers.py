"""The page of providers: who can answer, their models, keys, and the routing tiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from maia.core.ports import Say
from maia.web.auth import AtDesk, SignedIn
from maia.web.frame import page_of
from maia.web.picker import compact
from maia.web.words import Sign
from maia.workspace.catalogue import TIERS, Catalogue, Pair, Tier
from maia.workspace.effort import LADDER, levels_of
from maia.workspace.records import ModelRow, ProviderRow
from maia.workspace.rights import may

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
KINDS: Final[Mapping[str, str]] = {
    "api": "provider.kind.api",
    "local": "provider.kind.local",
    "cli": "provider.kind.cli",
}
TIER_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "triage": ("provider.tier.triage", "provider.tier.triage.for"),
    "quick": ("provider.tier.quick", "provider.tier.quick.for"),
    "standard": ("provider.tier.standard", "provider.tier.standard.for"),
    "complex": ("provider.tier.complex", "provider.tier.complex.for"),
    "code": ("provider.tier.code", "provider.tier.code.for"),
    "heartbeat": ("provider.tier.heartbeat", "provider.tier.heartbeat.for"),
}
"""What a tier is called, and what it is for."""
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
    kind: str
    models: tuple[ModelLine, ...]
    enabled: int


@router.get("/providers")
async def providers_page(desk: AtDesk, person: SignedIn) -> Response:
    """All providers; who is no owner and no admin sees them and changes nothing."""
    catalogue = await desk.workspace.models.known()
    cards = [_card(each, catalogue, person.say) for each in catalogue.providers]
    return await page_of(
        desk,
        person,
        "providers.html",
        "/providers",
        cards=cards,
        ready=sum(card.sign.tone == "success" for card in cards),
        may=may(person.user, "models"),
        owners=desk.workspace.models.key_owners(),
        tiers=[(catalogue.tier(each), *TIER_WORDS[each]) for each in TIERS],
        choices=_choices(catalogue),
        efforts={each: _tier_levels(catalogue.tier(each), catalogue) for each in TIERS},
        allowed=catalogue.auto_allowed,
    )


def _card(row: ProviderRow, catalogue: Catalogue, say: Say) -> Card:
    default = catalogue.install_default()
    models = catalogue.models_of(row.id)
    lines = tuple(_line(each, row, default, say) for each in models)
    return Card(row, _sign(row), KINDS[row.kind], lines, sum(each.enabled for each in models))


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
    if row.price is not None and provider.kind != "local":
        return f"${row.price[name]:.2f}"
    return {"local": say("provider.price_local"), "cli": say("provider.price_plan")}.get(provider.kind, "—")


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
