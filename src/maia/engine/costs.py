"""What a conversation cost, a model each."""

from __future__ import annotations

from collections.abc import Sequence

from maia.core.costs import add_costs, add_usages
from maia.engine.views import ModelCost


def costs_by_model(spent: Sequence[ModelCost]) -> list[ModelCost]:
    """One row a model, in the order of first use."""
    rows: list[ModelCost] = []
    for model in dict.fromkeys(item.model for item in spent):
        mine = [item for item in spent if item.model == model]
        rows.append(ModelCost(model, add_usages(item.usage for item in mine), add_costs([item.cost for item in mine])))
    return rows
