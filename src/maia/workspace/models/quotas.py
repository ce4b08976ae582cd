"""The tokens that an agent may use in a month: what is used, what flies, who is refused and who is told (N-05.05)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from maia.core.agent import AgentDefinition
from maia.core.costs import Usage
from maia.core.endings import Failure
from maia.core.events import Notice
from maia.database.database import Database
from maia.database.spending import purpose_of_turn, today, tokens_since
from maia.workspace.models.budget import first_day
from maia.workspace.problems import QuotaReached

QUOTA_REACHED: Final = Failure("other", code="agent_quota")
"""Why a turn ends whose agent used up its tokens on the way."""
NEAR: Final = 80
"""Per cent of the tokens from which people are warned."""


@dataclass(frozen=True, slots=True)
class Quota:
    """Tokens of this calendar month, where the server is: those in and out of an agent. A limit of 0 is none."""

    used: int = 0
    limit: int = 0

    @property
    def percent(self) -> int:
        """How much of it is used, in whole per cent; 0 without a limit."""
        return 100 * self.used // self.limit if self.limit else 0

    @property
    def is_near(self) -> bool:
        return self.percent >= NEAR

    @property
    def is_reached(self) -> bool:
        return self.percent >= 100


class Quotas:
    """One for the whole server, so that turns of one agent that run at once see each other's tokens.

    They count by the agent's name, and stay when conversations are deleted.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._meters: set[Meter] = set()
        self._told: set[tuple[str, str]] = set()

    async def of(self, name: str, limit: int) -> Quota:
        """What the agent of that name used so far, turns that still run included."""
        since = first_day("monthly", date.today()).isoformat()
        used = await self._database.read(lambda c: tokens_since(c, since, purpose_of_turn(name)))
        return Quota(used + sum(each.tokens + each.guessed for each in self._meters if each.agent == name), limit)

    async def meter(self, agent: AgentDefinition | None) -> Meter:
        """For a turn of that agent that begins now. Raises `QuotaReached` where its tokens are used up."""
        if agent is None:
            return Meter(self)
        meter = Meter(self, agent.name, agent.monthly_tokens)
        if meter.limit and (now := await self.of(agent.name, meter.limit)).is_reached:
            raise QuotaReached(agent.nickname, now.used, now.limit, next_month(date.today()))
        return meter

    async def warning(self, agent: AgentDefinition | None) -> Notice | None:
        """What the next turn tells of tokens that are nearly used up, once a day and agent."""
        if agent is None or not (limit := agent.monthly_tokens) or (today(), agent.name) in self._told:
            return None
        now = await self.of(agent.name, limit)
        if not now.is_near:
            return None
        self._told.add((today(), agent.name))
        return Notice("warn", "quota.near", {"name": agent.nickname, "percent": now.percent, "n": limit})

    def hold(self, meter: Meter) -> None:
        """Count what a turn uses from now on, until its answer is written down."""
        self._meters.add(meter)

    def let_go(self, meter: Meter) -> None:
        self._meters.discard(meter)


@dataclass(eq=False, slots=True)
class Meter:
    """The tokens of one turn that runs. `agent` is empty where no agent has the conversation.

    `guessed` are those that a program used at least, which tells the sum only when it is done.
    """

    quotas: Quotas
    agent: str = ""
    limit: int = 0
    tokens: int = 0
    guessed: int = 0
    _prompt: int = 0

    def take(self, usage: Usage | None) -> None:
        """A model answered."""
        if usage is not None and self.agent:
            self.tokens += usage.prompt + usage.output
            self.guessed = 0
            self.quotas.hold(self)

    def guess(self, prompt: int) -> None:
        """A program asked its model with a prompt of so many tokens; the same number again tells nothing new."""
        if prompt != self._prompt and self.agent:
            self.guessed, self._prompt = self.guessed + prompt, prompt
            self.quotas.hold(self)

    def put_away(self) -> None:
        """The turn is over, and written down."""
        self.quotas.let_go(self)

    async def is_reached(self) -> bool:
        """Whether the agent may ask no model any more."""
        return bool(self.limit) and (await self.quotas.of(self.agent, self.limit)).is_reached


def next_month(today: date) -> date:
    """The first day of the month after."""
    return (today.replace(day=28) + timedelta(days=4)).replace(day=1)
