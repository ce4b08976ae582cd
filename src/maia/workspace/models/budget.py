"""Spending caps a day, week and month, and how near they are: pure (N-04.12, N-04.13)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from maia.core.jsonvalue import JsonObject
from maia.database.spending import Sum
from maia.workspace.problems import Unfit

Period: TypeAlias = Literal["daily", "weekly", "monthly"]
Level: TypeAlias = Literal["free", "warn", "downgrade", "stop"]
PERIODS: Final[tuple[Period, ...]] = get_args(Period)
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
"""Ordered: the strictest wins."""
LARGEST: Final = 1_000_000.0
_USUAL: Final[Mapping[Level, float]] = {"warn": 0.8, "downgrade": 1.0, "stop": 1.2}
_FIELDS: Final[Mapping[Level, str]] = {"warn": "warnAt", "downgrade": "downgradeAt", "stop": "hardStopAt"}


@dataclass(frozen=True, slots=True)
class Budget:
    """Caps in US dollars, of those periods that have one; `at` holds the shares of a cap at which something changes."""

    caps: Mapping[Period, float] = field(default_factory=dict[Period, float])
    at: Mapping[Level, float] = field(default_factory=lambda: dict(_USUAL))

    def to_json(self) -> JsonObject:
        caps = {period: self.caps.get(period) for period in PERIODS}
        return {**caps, **{name: self.at[level] for level, name in _FIELDS.items()}}


@dataclass(frozen=True, slots=True)
class Standing:
    """How near the nearest cap is. `period` is None where nothing is capped."""

    level: Level = "free"
    period: Period | None = None
    usd: float = 0.0
    cap: float = 0.0

    @property
    def is_stopped(self) -> bool:
        return self.level == "stop"

    @property
    def is_downgraded(self) -> bool:
        return LEVELS.index(self.level) >= LEVELS.index("downgrade")


def first_day(period: Period, today: date) -> date:
    """The day on which a period began; weeks begin on Monday (ISO 8601)."""
    match period:
        case "daily":
            return today
        case "weekly":
            return today - timedelta(days=today.weekday())
        case "monthly":
            return today.replace(day=1)


def standing(budget: Budget, spent: Mapping[Period, Sum], more: float = 0.0) -> Standing:
    """The standing of the cap that is nearest to its end; `more` dollars are spent, but not yet written down."""
    return max(_standings(budget, spent, more), key=lambda each: (LEVELS.index(each.level), _share(each)))


def _standings(budget: Budget, spent: Mapping[Period, Sum], more: float) -> Iterator[Standing]:
    yield Standing()
    for period, cap in budget.caps.items():
        usd = spent[period].usd + more
        reached: list[Level] = [level for level in LEVELS[1:] if usd >= cap * budget.at[level]]
        yield Standing(reached[-1] if reached else "free", period, usd, cap)


def _share(each: Standing) -> float:
    return each.usd / each.cap if each.cap else -1.0


def changed(budget: Budget, change: Mapping[str, Any]) -> Budget:
    """The budget with what was sent changed; a cap of None is none.

    Raises `Unfit` for a cap or a share that cannot be, and for shares that are not in their order.
    """
    caps, at = dict(budget.caps), dict(budget.at)
    for period in PERIODS:
        if period in change:
            caps.pop(period, None)
            if change[period] is not None:
                caps[period] = _number(change[period], period, LARGEST)
    for level, name in _FIELDS.items():
        if change.get(name) is not None:
            at[level] = _number(change[name], name, 10.0)
    if not at["warn"] <= at["downgrade"] <= at["stop"]:
        raise Unfit("invalid_budget", "budget.out_of_order")
    return Budget(caps, at)


def _number(value: Any, name: str, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise Unfit("invalid_budget", "budget.no_number", name=name)
    if not 0 < value <= most:
        raise Unfit("invalid_budget", "budget.out_of_range", name=name, most=f"{most:g}")
    return float(value)


def read_budget(value: Any) -> Budget:
    """A budget as it was kept; what cannot be read of it counts as never set."""
    if not isinstance(value, dict):
        return Budget()
    try:
        return changed(Budget(), cast(JsonObject, value))
    except Unfit:
        return Budget()
