"""The budget of this installation: what is spent and what flies, who may still spend, and who is told (N-04.12)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from sqlalchemy import Connection

from maia.core.costs import Cost, Usage, dollars
from maia.core.endings import Failure
from maia.core.events import Notice, WireEvent, WireFailed
from maia.core.messages import AssistantMessage
from maia.core.ports import Wire
from maia.core.requests import ModelRequest
from maia.database import settings
from maia.database.database import Database
from maia.database.spending import Spent, Sum, add_spent, spent_since, today
from maia.database.users import User
from maia.engine.setup import Bound
from maia.workspace.models.budget import PERIODS, Budget, Period, Standing, changed, first_day, read_budget, standing
from maia.workspace.models.quotas import QUOTA_REACHED, Meter
from maia.workspace.people.rights import may
from maia.workspace.problems import BudgetStopped, NotAllowed

_SETTING = "budget"
BUDGET_STOP = Failure("other", code="budget_stop")
"""Why a turn ends that reached the hard stop on its way."""


@dataclass(frozen=True, slots=True)
class Spending:
    """The budget with what is spent in each period, and where it stands."""

    budget: Budget
    spent: Mapping[Period, Sum]
    standing: Standing

    def of(self, period: Period) -> Standing:
        """The standing of one cap alone."""
        cap = self.budget.caps.get(period)
        return standing(Budget({period: cap}, self.budget.at), self.spent) if cap else Standing()


class Budgets:
    """One for the whole server, so that turns that run at once see each other's spending."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._budget: Budget | None = None
        self._purses: set[Purse] = set()
        self._told: set[tuple[str, Period]] = set()

    async def budget(self) -> Budget:
        """The caps; read once, since one server works on a database."""
        if self._budget is None:
            self._budget = read_budget(await self._database.read(lambda c: settings.setting(c, _SETTING)))
        return self._budget

    async def spending(self) -> Spending:
        """All of it, as it is now."""

        def find(connection: Connection) -> dict[Period, Sum]:
            now = date.today()
            return {period: spent_since(connection, first_day(period, now).isoformat()) for period in PERIODS}

        budget, spent = await self.budget(), await self._database.read(find)
        return Spending(budget, spent, standing(budget, spent, sum(each.spent for each in self._purses)))

    async def standing(self) -> Standing:
        """How near the nearest cap is; a server without caps is asked for nothing."""
        return (await self.spending()).standing if (await self.budget()).caps else Standing()

    async def change(self, by: User, change: Mapping[str, Any]) -> Spending:
        """Other caps or shares. Raises `NotAllowed` for all but owners and admins, `Unfit`."""
        if not may(by, "models"):
            raise NotAllowed("provider.not_allowed")

        def keep(connection: Connection) -> Budget:
            budget = changed(read_budget(settings.setting(connection, _SETTING)), change)
            kept = budget.to_json()
            settings.keep_setting(connection, _SETTING, kept, by.id)
            settings.note_act(connection, "routing.budget", by=by.id, details=kept)
            return budget

        await asyncio.shield(asyncio.ensure_future(self._in_force(keep)))
        return await self.spending()

    async def _in_force(self, keep: Callable[[Connection], Budget]) -> None:
        """Change it, and go by it from then on, whether or not who asked for it still waits."""
        self._budget = await self._database.write(keep)
        self._told.clear()

    def warning(self, now: Standing) -> Notice | None:
        """What the next turn tells of a cap that is near, once a day and cap."""
        if now.level == "free" or now.period is None or (told := (today(), now.period)) in self._told:
            return None
        self._told.add(told)
        values = {"spent": dollars(now.usd, 2), "cap": dollars(now.cap, 2), "percent": round(100 * now.usd / now.cap)}
        return Notice("warn", f"budget.near_{now.period}", values)

    async def note(self, spent: Spent) -> None:
        """Write down a call of the server's own."""
        await self._database.write(lambda c: add_spent(c, today(), spent))

    def hold(self, purse: Purse) -> None:
        """Count what a turn spends from now on, until its answer is written down."""
        self._purses.add(purse)

    def let_go(self, purse: Purse) -> None:
        self._purses.discard(purse)


def must_be_open(now: Standing, *, is_free: bool) -> None:
    """Raises `BudgetStopped` at the hard stop, for what costs something."""
    if now.is_stopped and not is_free:
        raise BudgetStopped(f"budget.stopped_{now.period}", spent=dollars(now.usd, 2), cap=dollars(now.cap, 2))


@dataclass(eq=False, slots=True)
class Purse:
    """The spending of one turn that runs. `is_free`: its model costs nothing, so no cap stops it.

    `meter` counts the tokens of the agent that answers.
    """

    budgets: Budgets
    is_free: bool
    meter: Meter
    spent: float = 0.0

    def take(self, cost: Cost, usage: Usage | None) -> None:
        """One call of the turn was paid."""
        self.meter.take(usage)
        if cost.usd:
            self.spent += cost.usd
            self.budgets.hold(self)

    def put_away(self) -> None:
        """The turn is over, and written down."""
        self.budgets.let_go(self)
        self.meter.put_away()

    async def closed(self) -> Failure | None:
        """Why no model may be asked any more, None while one may."""
        if not self.is_free and (await self.budgets.standing()).is_stopped:
            return BUDGET_STOP
        return QUOTA_REACHED if await self.meter.is_reached() else None

    def around(self, bound: Bound) -> Bound:
        """Who answers, asked no more once the hard stop or the agent's tokens are reached."""
        if bound.wire is None or (self.is_free and not self.meter.limit):
            return bound
        return replace(bound, wire=_PaidWire(bound.wire, self))


@dataclass(frozen=True, slots=True)
class _PaidWire:
    wire: Wire
    purse: Purse
    provider: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "provider", self.wire.provider)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[WireEvent]:
        if (failure := await self.purse.closed()) is not None:
            yield WireFailed(failure, AssistantMessage(()))
            return
        events = self.wire.stream(request)
        try:
            async for event in events:
                yield event
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()
