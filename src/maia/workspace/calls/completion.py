"""One call to a model outside any conversation, for programs: masked, paid and refused as every other (N-01.12)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from maia.core.costs import Cost, Usage
from maia.core.endings import Failure, StopReason
from maia.core.errors import ModelFailed
from maia.core.events import TextDelta, WireAnswer, WireEvent, WireFailed
from maia.core.messages import AssistantMessage, Message, TextPart, UserMessage
from maia.core.ports import Say, Wire
from maia.core.requests import ModelRequest, Section
from maia.database.spending import Spent
from maia.privacy.refused import MessageRefused
from maia.workspace.models.budgets import Budgets, must_be_open
from maia.workspace.models.catalogue import Catalogue, Pair
from maia.workspace.models.effort import level, levels_of, unsupported
from maia.workspace.models.shelf import Shelf
from maia.workspace.models.supply import Reached
from maia.workspace.privacy import Privacy, blocked
from maia.workspace.problems import ModelUnavailable, TrialFailed

PURPOSE = "completion"
"""Under which what it costs is booked."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody wants of a model. `provider` is None where the model's name has to tell (N-01.11)."""

    provider: str | None
    model: str
    messages: tuple[Message, ...]
    system: str = ""
    max_tokens: int | None = None
    temperature: float | None = None
    stop_sequences: tuple[str, ...] = ()
    effort: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """How a call ended well."""

    text: str
    stop: StopReason
    raw_stop: str
    usage: Usage | None
    cost: Cost
    provider: str
    model: str


@dataclass(frozen=True, slots=True)
class Opened:
    """A call that may be made."""

    pair: Pair
    reached: Reached
    wire: Wire
    request: ModelRequest


class Completion:
    """Makes such calls."""

    def __init__(self, models: Shelf, budgets: Budgets, privacy: Privacy) -> None:
        self._models = models
        self._budgets = budgets
        self._privacy = privacy

    async def open(self, asked: Asked, say: Say, user_id: str) -> Opened:
        """Check all that can be checked before anything is sent; a refused text is noted as that of the user.

        Raises `ModelUnavailable`, `Unfit` for a level that the model lacks, `BudgetStopped`,
        `PrivacyBlocked`.
        """
        catalogue = await self._models.known()
        pair = _pair(asked, catalogue)
        effort = level(asked.effort)
        levels = levels_of(catalogue, [pair])
        if asked.effort is not None and effort not in levels:
            raise unsupported(asked.effort, levels)
        must_be_open(await self._budgets.standing(), is_free=catalogue.is_free(pair))
        reached = await self._models.reach(pair)
        masking = await self._privacy.masking(say, None)
        try:
            await asyncio.to_thread(masking.screen, _said(asked.messages), reached.destination)
        except MessageRefused as problem:
            await self._privacy.refused(problem.refused, user_id, None)
            raise blocked(problem) from None
        wire = masking.bound(reached.bound, reached.destination).wire
        if wire is None:
            raise ModelUnavailable("model_binding_unavailable", "provider.no_single_calls", name=pair.provider)
        request = ModelRequest(
            pair.model,
            (Section("system", asked.system),) if asked.system else (),
            asked.messages,
            max_output_tokens=asked.max_tokens,
            effort=effort,
            temperature=asked.temperature,
            stop_sequences=asked.stop_sequences,
        )
        return Opened(pair, reached, wire, request)

    async def run(self, opened: Opened) -> AsyncGenerator[str | Reply]:
        """Pieces of the answer as they come, then how it ended. Raises `TrialFailed`; what it cost is booked anyhow."""
        last: WireEvent | None = None
        events = opened.wire.stream(opened.request)
        try:
            async for last in events:
                if isinstance(last, TextDelta):
                    yield last.text
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()
            cost = await self._book(opened, last)
        if not isinstance(last, WireAnswer):
            failed = ModelFailed(last.failure if isinstance(last, WireFailed) else Failure("incomplete"))
            raise TrialFailed(failed.failure.kind, failed.key, **failed.values)
        text = "".join(part.text for part in last.message.parts if isinstance(part, TextPart))
        model = last.message.model or opened.pair.model
        yield Reply(text, last.stop, last.raw_stop, last.usage, cost, opened.pair.provider, model)

    async def _book(self, opened: Opened, last: WireEvent | None) -> Cost:
        usage = last.usage if isinstance(last, (WireAnswer, WireFailed)) else None
        reported = last.cost_usd if isinstance(last, WireAnswer) else None
        cost = opened.reached.price(opened.pair.model, opened.reached.bound.provider, usage, reported)
        tokens = (usage.prompt, usage.output) if usage else (None, None)
        await self._budgets.note(Spent(PURPOSE, *opened.pair, *tokens, cost.usd))
        return cost


def _pair(asked: Asked, catalogue: Catalogue) -> Pair:
    """The one model that is meant, never a guess (N-01.11)."""
    found = catalogue.named(asked.model) if asked.provider is None else Pair(asked.provider, asked.model)
    if found is None or not catalogue.is_available(found):
        raise ModelUnavailable("model_binding_unavailable", "binding.no_such_model", model=asked.model)
    return found


def _said(messages: tuple[Message, ...]) -> str:
    """Everything that people and models said in it, as one text to look through."""
    spoken = (each for each in messages if isinstance(each, (UserMessage, AssistantMessage)))
    return "\n\n".join(part.text for each in spoken for part in each.parts if isinstance(part, TextPart))
