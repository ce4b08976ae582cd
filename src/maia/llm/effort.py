"""Which efforts a model knows, and which of them an asked one becomes. How it is written is the wire's affair."""

from __future__ import annotations

from typing import get_args

from maia.core.types import Effort
from maia.llm.catalogue import facts_of

EFFORTS: tuple[Effort, ...] = get_args(Effort)
"""From none to most."""


def efforts_of(model: str, base_url: str = "") -> tuple[Effort, ...] | None:
    """The efforts a model knows, from least to most; empty when it has no such control, None when nobody knows."""
    return facts_of(model, base_url).efforts


def nearest_effort(asked: Effort, known: tuple[Effort, ...] | None) -> Effort | None:
    """The effort to send for an asked one: itself where the model knows it or nobody knows, else the nearest it has.

    Of two equally near the lower one is taken, and None where the model has no such control.
    """
    if known is None or asked in known:
        return asked
    wanted = EFFORTS.index(asked)
    return min(known, key=lambda effort: (abs(EFFORTS.index(effort) - wanted), EFFORTS.index(effort)), default=None)
