"""How far a turn has come, for the Execution strip: steps or calls, and what was billed (R-2.247–R-2.252). Pure."""

from __future__ import annotations

from dataclasses import dataclass

from maia.core.events import TurnEnded
from maia.core.types import Outcome
from maia.web.drawing.view import Trace, TurnView


@dataclass(frozen=True, slots=True)
class Progress:
    """`most` is there where whoever answers reports its steps; else `calls` of tools are told (R-2.249, R-2.250).

    `billed` are the tokens of all model calls of the turn, None while none was reported. `outcome` is how it ended as
    things stand now: decisions come after the end.
    """

    is_running: bool
    step: int
    most: int | None
    calls: int
    billed: int | None
    ended: TurnEnded | None
    outcome: Outcome | None = None


def progress_of(view: TurnView) -> Progress:
    """What the strip shows of a turn."""
    calls = sum(len(item.calls) for item in view.items if isinstance(item, Trace))
    usage = view.ended.usage if view.ended is not None else view.usage
    billed = None if usage is None else usage.prompt + usage.output
    return Progress(view.ended is None, view.step, view.most_steps, calls, billed, view.ended, view.outcome)
