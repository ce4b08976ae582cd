"""The server's own small calls to models: isolated, in a fixed order, and never a conversation's (N-04.07)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from maia.core.endings import FailureKind
from maia.core.errors import MaiaError
from maia.core.events import WireAnswer, WireEvent, WireFailed
from maia.core.messages import TextPart, UserMessage
from maia.core.requests import ModelRequest, Section
from maia.database.spending import Spent
from maia.engine.masking import Masking
from maia.workspace.bench import WorkBench
from maia.workspace.models.budgets import Budgets
from maia.workspace.models.catalogue import Catalogue, Pair
from maia.workspace.models.effort import thinking
from maia.workspace.models.shelf import Shelf

Group: TypeAlias = Literal["titles", "triage", "memory", "judge", "team"]
Step: TypeAlias = Literal["heartbeat", "triage", "quick", "standard", "default", "other"]
NoReason: TypeAlias = Literal["tier_not_configured", "no_eligible_provider", "budget_stop"]
"""Why nobody is asked (N-04.10)."""

ORDERS: Final[Mapping[Group, tuple[Step, ...]]] = {
    "titles": ("heartbeat",),
    "triage": ("triage",),
    "memory": ("heartbeat", "default", "other"),
    "judge": ("heartbeat", "quick", "default", "other"),
    "team": ("quick", "standard", "default", "other"),
}
"""Who is asked for what, the first that may answer (N-04.05, N-04.08, N-04.09); `other` is any, by name."""

_TRIED_ELSEWHERE: Final[frozenset[FailureKind]] = frozenset(("network", "timeout", "overloaded", "rate_limit"))
"""Failures after which the second model is asked (N-04.09); any other would fail there as well."""
_MOST_CHARS: Final = 20_000
NO_MODEL: Final = "offline"
"""The assistant by rules: it finds a title as it finds anything, but judges nothing."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model that may do such a call, and the step that names it."""

    pair: Pair
    step: Step

    @property
    def tier(self) -> str | None:
        return None if self.step in ("default", "other") else self.step


@dataclass(frozen=True, slots=True)
class Errand:
    """One call: a system prompt, one message of a user, how long an answer may be and how many seconds it may take."""

    group: Group
    system: str
    text: str
    max_tokens: int = 512
    seconds: float = 30.0


def candidates(group: Group, catalogue: Catalogue) -> list[Candidate]:
    """The models that may be asked, in their order."""
    found: dict[Pair, Candidate] = {}
    for step in ORDERS[group]:
        for pair in _of_step(step, catalogue):
            if _is_eligible(pair, catalogue) and not (group == "judge" and pair.provider == NO_MODEL):
                found.setdefault(pair, Candidate(pair, step))
    return list(found.values())


def _is_eligible(pair: Pair, catalogue: Catalogue) -> bool:
    """Agent programs are not, as long as nobody verified that they can make an isolated call."""
    provider = catalogue.provider(pair.provider)
    return catalogue.is_available(pair) and provider is not None and provider.kind != "cli"


def _of_step(step: Step, catalogue: Catalogue) -> Iterator[Pair]:
    match step:
        case "default":
            found = [catalogue.install_default()]
        case "other":
            found = [catalogue.first_of(each.id) for each in catalogue.providers]
        case _:
            tier = catalogue.tier(step)
            found = [tier.primary, tier.fallback]
    yield from (pair for pair in found if pair is not None)


class Background:
    """Makes such calls. What they cost counts for the budget, and for no conversation (R-2.129)."""

    def __init__(self, models: Shelf, budgets: Budgets) -> None:
        self._models = models
        self._budgets = budgets
        self._warm: set[Pair] = set()
        """Models that refuse to be told a temperature."""

    async def who(self, group: Group) -> list[Candidate] | NoReason:
        """Who would be asked now: the first, and the second for when that cannot be reached (N-04.09).

        At the hard stop of the budget only what costs nothing.
        """
        catalogue = self._models.catalogue
        if not (found := candidates(group, catalogue)):
            tiers = [catalogue.tier(step) for step in ORDERS[group]]
            named = any(tier.primary or tier.fallback for tier in tiers)
            return "no_eligible_provider" if named or len(tiers) > 1 else "tier_not_configured"
        if (await self._budgets.standing()).is_stopped:
            found = [each for each in found if catalogue.is_free(each.pair)]
        return found[:2] or "budget_stop"

    async def ask(self, errand: Errand, bench: WorkBench, masking: Masking) -> str | None:
        """The answer; None where nobody may be asked, or nobody answers in words and in time."""
        who = await self.who(errand.group)
        for candidate in who if isinstance(who, list) else ():
            try:
                async with asyncio.timeout(errand.seconds):
                    last = await self._call(errand, candidate, bench, masking)
            except TimeoutError:
                continue
            except MaiaError:
                return None
            if isinstance(last, WireAnswer):
                return "".join(part.text for part in last.message.parts if isinstance(part, TextPart)).strip()
            if not (isinstance(last, WireFailed) and last.failure.kind in _TRIED_ELSEWHERE):
                return None
        return None

    async def _call(self, errand: Errand, candidate: Candidate, bench: WorkBench, masking: Masking) -> WireEvent | None:
        """The last event of the call; one that refuses its temperature is asked once more without."""
        last = await self._called(errand, candidate, bench, masking)
        if candidate.pair not in self._warm and _refuses_temperature(last):
            self._warm.add(candidate.pair)
            last = await self._called(errand, candidate, bench, masking)
        return last

    async def _called(
        self, errand: Errand, candidate: Candidate, bench: WorkBench, masking: Masking
    ) -> WireEvent | None:
        """The last event. What it cost is written down, also where it failed."""
        bound = await bench.open(candidate.pair)
        wire = masking.bound(bound, bench.destination(bound)).wire
        if wire is None:
            return None
        last, chars, events = None, 0, wire.stream(self._request(errand, candidate))
        try:
            async for last in events:
                chars += len(getattr(last, "text", ""))
                if chars > _MOST_CHARS:
                    break
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()
        usage = last.usage if isinstance(last, (WireAnswer, WireFailed)) else None
        reported = last.cost_usd if isinstance(last, WireAnswer) else None
        cost = bench.price(candidate.pair.model, bound.provider, usage, reported)
        tokens = (usage.prompt, usage.output) if usage else (None, None)
        await self._budgets.note(Spent(errand.group, *candidate.pair, *tokens, cost.usd))
        return last

    def _request(self, errand: Errand, candidate: Candidate) -> ModelRequest:
        """A real system prompt and one message: no tools, no session, nothing of any conversation (N-04.07).

        Without chance, where the model can: who checks the same call twice must not say two things.
        """
        catalogue = self._models.catalogue
        asked = catalogue.tier(candidate.tier).effort if candidate.tier else "low"
        depth = thinking(catalogue.model(candidate.pair), tier=asked)
        return ModelRequest(
            candidate.pair.model,
            (Section("background", errand.system, "maia"),),
            (UserMessage((TextPart(errand.text),)),),
            max_output_tokens=errand.max_tokens,
            effort=depth.sent,
            temperature=None if candidate.pair in self._warm else 0.0,
        )


def _refuses_temperature(last: WireEvent | None) -> bool:
    return isinstance(last, WireFailed) and "temperature" in last.failure.provider_text.lower()
