"""Sums that say what they are made of."""

from __future__ import annotations

import pytest

from maia.core.costs import Cost, Usage, add_costs, add_usages
from maia.engine.costs import costs_by_model
from maia.engine.views import ModelCost

REPORTED, ESTIMATED, UNKNOWN = Cost(1.0, "reported"), Cost(2.0, "estimated"), Cost()


@pytest.mark.parametrize(
    ("costs", "total"),
    [
        ([], UNKNOWN),
        ([UNKNOWN, UNKNOWN], UNKNOWN),
        ([REPORTED, REPORTED], Cost(2.0, "reported")),
        ([REPORTED, ESTIMATED], Cost(3.0, "estimated")),
        ([REPORTED, UNKNOWN], Cost(1.0, "estimated")),
    ],
    ids=["none", "unknown", "reported", "mixed", "partly unknown"],
)
def test_a_sum_says_what_it_is_made_of(costs: list[Cost], total: Cost) -> None:
    assert add_costs(costs) == total


def test_usage_that_nobody_reported_stays_unknown() -> None:
    assert add_usages([None, None]) is None
    assert add_usages([None, Usage(1, 2), Usage(3, 4)]) == Usage(4, 6)


def test_costs_come_by_model_in_the_order_of_first_use() -> None:
    spent = [
        ModelCost("b", Usage(1, 1), REPORTED),
        ModelCost("a", None, UNKNOWN),
        ModelCost("b", Usage(1, 1), REPORTED),
    ]
    assert costs_by_model(spent) == [
        ModelCost("b", Usage(2, 2), Cost(2.0, "reported")),
        ModelCost("a", None, UNKNOWN),
    ]
