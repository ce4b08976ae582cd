"""Tokens and money: as they were reported, and sums that never invent a zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import floor, log10
from operator import add
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call, or of several added up, as the provider reported them.

    `input` counts only what was neither read from nor written to a cache; `reasoning` is part of `output`.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def prompt(self) -> int:
        """The whole prompt, cached parts included."""
        return self.input + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.reasoning + other.reasoning,
        )


CostSource: TypeAlias = Literal["reported", "estimated", "unknown"]


@dataclass(frozen=True, slots=True)
class Cost:
    """Money, with who says so. `usd` is None exactly when `source` is `unknown`: an unknown cost is never 0."""

    usd: float | None = None
    source: CostSource = "unknown"


def add_usages(usages: Iterable[Usage | None]) -> Usage | None:
    """The sum of what was reported, None when nothing was."""
    known = [usage for usage in usages if usage is not None]
    return reduce(add, known) if known else None


def add_costs(costs: Sequence[Cost]) -> Cost:
    """The sum of what is known; estimated as soon as one part is estimated or missing, unknown when all are."""
    known = [cost.usd for cost in costs if cost.usd is not None]
    if not known:
        return Cost()
    exact = all(cost.source == "reported" for cost in costs)
    return Cost(sum(known), "reported" if exact else "estimated")


def dollars(usd: float, decimals: int = 4) -> str:
    """US dollars, the same in every language: `$0.2184`; with more digits where these would show a nought."""
    if usd <= 0 or usd >= 10**-decimals:
        return f"${usd:,.{decimals}f}"
    return "$" + f"{usd:.{1 - floor(log10(usd))}f}".rstrip("0")
