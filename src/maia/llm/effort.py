"""Which effort is sent to a model for the one that was asked. How it is written is the wire's affair."""

from __future__ import annotations

from typing import get_args

from maia.core.requests import Effort

EFFORTS: tuple[Effort, ...] = get_args(Effort)
"""From none to most."""


def nearest_effort(asked: Effort, known: tuple[Effort, ...] | None) -> Effort | None:
    """The effort to send for an asked one: itself where the model knows it or nobody knows, else the nearest it has.

    Of two equally near the lower one is taken, and None where the model has no such control.
    """
    if known is None or asked in known:
        return asked
    wanted = EFFORTS.index(asked)
    return min(known, key=lambda effort: (abs(EFFORTS.index(effort) - wanted), EFFORTS.index(effort)), default=None)
