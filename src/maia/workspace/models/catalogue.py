"""All providers, models and tiers at one moment, and what may be asked of them; a value, never changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from maia.core.requests import Effort
from maia.database.providers import ModelRow, ProviderRow, TierRow


class Pair(NamedTuple):
    """A model, named as everywhere: never without its provider."""

    provider: str
    model: str


TIERS: Final = ("triage", "quick", "standard", "complex", "code", "heartbeat")
"""The routing tiers (N-04.01). `triage` and `heartbeat` are for the server's own small calls and never routed to."""

ROUTED: Final = ("quick", "standard", "complex", "code")
"""The tiers that a message may go to (R-2.052), the cheapest first."""

_USUAL_EFFORT: Final[Mapping[str, Effort]] = {"triage": "low", "quick": "low", "heartbeat": "low"}
"""What a tier asks for where nobody set it (N-04.02)."""


@dataclass(frozen=True, slots=True)
class Tier:
    """A tier as it is set: its model, the one for when that is off, and how deep both think."""

    name: str
    primary: Pair | None = None
    fallback: Pair | None = None
    effort: Effort | None = None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """`providers` are sorted by name. `started_with` is the model that the server was started with, by any name."""

    providers: Sequence[ProviderRow] = ()
    models: Sequence[ModelRow] = ()
    tiers: Sequence[TierRow] = ()
    default: Pair | None = None
    auto_allowed: bool = False
    started_with: str | None = None
    _by_id: dict[str, ProviderRow] = field(init=False, repr=False, compare=False)
    _by_pair: dict[Pair, ModelRow] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_id", {each.id: each for each in self.providers})
        object.__setattr__(self, "_by_pair", {Pair(each.provider_id, each.id): each for each in self.models})

    def provider(self, provider_id: str) -> ProviderRow | None:
        return self._by_id.get(provider_id)

    def model(self, pair: Pair) -> ModelRow | None:
        return self._by_pair.get(pair)

    def name_of(self, provider_id: str) -> str:
        """The provider's name, the same everywhere (R-2.028); its id only where it is not known any more."""
        found = self._by_id.get(provider_id)
        return found.name if found else provider_id

    def is_free(self, pair: Pair) -> bool:
        """Whether nothing is paid for a call: it runs on this machine, and no price is known of it.

        A gateway on this machine tells the prices of the services to which it passes calls on.
        """
        provider, model = self._by_id.get(pair.provider), self._by_pair.get(pair)
        is_priced = model is not None and model.price is not None and any(model.price.values())
        return provider is not None and provider.kind == "local" and not is_priced

    def is_blind(self, pair: Pair) -> bool:
        """Whether a model is known not to see images: never one of which nothing is known (N-01.14).

        A program opens files by itself, whatever its model.
        """
        provider, model = self._by_id.get(pair.provider), self._by_pair.get(pair)
        return model is not None and model.sees_images is False and (provider is None or provider.kind != "cli")

    def models_of(self, provider_id: str) -> list[ModelRow]:
        return [each for each in self.models if each.provider_id == provider_id]

    def is_available(self, pair: Pair | None) -> bool:
        """Whether it may answer now: it and its provider are on, and it is still offered (R-2.055)."""
        if pair is None:
            return False
        provider, model = self._by_id.get(pair.provider), self._by_pair.get(pair)
        there = provider is not None and provider.enabled and provider.health not in ("absent", "no_key")
        return bool(there and model and model.enabled and not model.is_gone)

    def first_of(self, provider_id: str) -> Pair | None:
        """The first model of a provider that may answer."""
        pairs = (Pair(provider_id, each.id) for each in self.models_of(provider_id))
        return next((pair for pair in pairs if self.is_available(pair)), None)

    def usual_of(self, provider_id: str) -> Pair | None:
        """The model of a provider to try: the default of the installation where it is its own, else its first."""
        default = self.install_default()
        is_own = default is not None and default.provider == provider_id and self.is_available(default)
        return default if is_own else self.first_of(provider_id)

    def named(self, word: str) -> Pair | None:
        """The one available model of that name, `provider/model` or an id that a single provider has (N-01.11)."""
        provider, _, rest = word.partition("/")
        if rest and self.is_available(pair := Pair(provider, rest)):
            return pair
        owners = [pair for pair in self._by_pair if pair.model == word and self.is_available(pair)]
        return owners[0] if len(owners) == 1 else None

    def meant(self, word: str) -> Pair | None:
        """The model that a definition means by a whole name or a part of one, available or not, programs aside.

        Of several that a part fits, the first available one in the order of the lists: as everywhere in definitions.
        """
        provider, _, rest = word.partition("/")
        if rest and (pair := Pair(provider, rest)) in self._by_pair:
            return pair
        own = [pair for pair in self._by_pair if (found := self._by_id.get(pair.provider)) and found.kind != "cli"]
        whole = [pair for pair in own if pair.model == word]
        part = [pair for pair in own if word.casefold() in f"{pair.provider}/{pair.model}".casefold()]
        fitting = whole or [pair for pair in part if self.is_available(pair)]
        return next((pair for pair in fitting if self.is_available(pair)), next(iter(fitting), None))

    def tier(self, name: str) -> Tier:
        """A tier, with what counts where nobody set it."""
        rows = {each.position: each for each in self.tiers if each.tier == name}
        if not rows:
            return Tier(name, effort=_USUAL_EFFORT.get(name))
        return Tier(name, _pair(rows.get(0)), _pair(rows.get(1)), rows[min(rows)].effort)

    def tier_model(self, name: str) -> Pair | None:
        """The model of a tier that may answer now: its own, else its fallback."""
        tier = self.tier(name)
        return next((pair for pair in (tier.primary, tier.fallback) if self.is_available(pair)), None)

    def install_default(self) -> Pair | None:
        """The model of a conversation that names none (R-2.044, N-04.03).

        What the server was started with; else the Standard tier; else the default model; else the first model of the
        first provider by name, those that did not answer last. A word that names no model gives None: nothing is
        guessed in its place.
        """
        if self.started_with is not None:
            return self.named(self.started_with)
        if (standard := self.tier_model("standard")) is not None:
            return standard
        if self.default is not None:
            if self.is_available(self.default):
                return self.default
            if (other := self.first_of(self.default.provider)) is not None:
                return other
        by_name = sorted(self.providers, key=lambda each: each.health in ("auth", "unreachable"))
        firsts = (self.first_of(each.id) for each in by_name)
        return next((pair for pair in firsts if pair is not None), None)


def _pair(row: TierRow | None) -> Pair | None:
    return Pair(row.provider_id, row.model_id) if row is not None and row.model_id else None
