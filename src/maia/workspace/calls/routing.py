"""The way of one message: its tier, its model, and whether the budget lets it go there."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from maia.core.events import Notice
from maia.core.submission import Submission
from maia.database.conversations import ConversationRow
from maia.privacy.destination import AUTO
from maia.privacy.refused import MessageRefused
from maia.workspace.bench import WorkBench
from maia.workspace.calls.background import Background
from maia.workspace.calls.naming import Naming
from maia.workspace.calls.triage import by_words, routed
from maia.workspace.choosing import Chosen, chosen_for
from maia.workspace.colleagues import Assigned
from maia.workspace.log import Log
from maia.workspace.models.binding import Routed
from maia.workspace.models.budget import Standing
from maia.workspace.models.budgets import Budgets, Purse, must_be_open
from maia.workspace.models.catalogue import Catalogue, Pair
from maia.workspace.models.quotas import Quotas
from maia.workspace.models.shelf import Shelf
from maia.workspace.privacy import Privacy


@dataclass(frozen=True, slots=True)
class Way:
    """Who answers a message, from what it is paid, and what the person is told of that."""

    chosen: Chosen
    purse: Purse
    notices: tuple[Notice, ...] = ()


class Routing:
    """Chooses for each message; also finds titles, which is as much a matter of tiers and money."""

    def __init__(self, log: Log, models: Shelf, budgets: Budgets, quotas: Quotas, privacy: Privacy) -> None:
        self._models = models
        self._budgets = budgets
        self._quotas = quotas
        self._privacy = privacy
        self.background = Background(models, budgets)
        self._naming = Naming(log, self.background, privacy)

    async def way(
        self,
        row: ConversationRow,
        bench: WorkBench,
        assigned: Assigned,
        submission: Submission,
        override: Pair | None,
        *,
        masked: bool,
    ) -> Way:
        """The way of a message that was not stored yet. Raises `ModelUnavailable`, `BudgetStopped`, `QuotaReached`."""
        agent = assigned.colleague.definition if assigned.colleague else None
        meter = await self._quotas.meter(agent)
        known, now = await self._models.known(), await self._budgets.standing()
        to = None
        if row.model_binding == "auto" and known.auto_allowed and override is None:
            to = await self._routed(row, known, now, bench, submission.text, masked=masked)
        chosen = chosen_for(row, known, override, to, assigned)
        is_free = known.is_free(chosen.pair)
        must_be_open(now, is_free=is_free)
        warnings = (None if is_free else self._budgets.warning(now), await self._quotas.warning(agent))
        return Way(chosen, Purse(self._budgets, is_free, meter), tuple(each for each in warnings if each))

    async def _routed(
        self, row: ConversationRow, known: Catalogue, now: Standing, bench: WorkBench, text: str, *, masked: bool
    ) -> Routed:
        masking = await self._privacy.masking(bench.say, row.id)
        try:
            if not masked:
                await asyncio.to_thread(masking.screen, text, AUTO)
        except MessageRefused:
            return Routed(by_words(text, known).tier)  # it will be refused: nobody may see it before
        return await routed(text, known, now, self.background, bench, masking)

    def name(self, row: ConversationRow, turn: int, message: str, bench: WorkBench) -> None:
        """Look for a better title than the first words, beside the answer."""
        self._naming.begin(row.id, turn, message, bench)

    async def close(self) -> None:
        await self._naming.close()
