"""Sums of money and tokens that never invent a zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add

from maia.core.types import Cost, Usage
from maia.engine.views import ModelCost


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


def costs_by_model(spent: Sequence[ModelCost]) -> list[ModelCost]:
    """One row a model, in the order of first use."""
    rows: list[ModelCost] = []
    for model in dict.fromkeys(item.model for item in spent):
        mine = [item for item in spent if item.model == model]
        rows.append(ModelCost(model, add_usages(item.usage for item in mine), add_costs([item.cost for item in mine])))
    return rows
