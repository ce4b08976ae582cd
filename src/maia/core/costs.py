"""Sums of money and tokens that never invent a zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from math import floor, log10
from operator import add

from maia.core.types import Cost, Usage


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
