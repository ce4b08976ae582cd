"""How far a turn has come, for the Execution strip: steps or calls, and what was billed (R-2.247–R-2.252). Pure."""

from __future__ import annotations

from dataclasses import dataclass

from maia.core.endings import Outcome
from maia.core.events import TurnEnded
from maia.web.drawing.view import Trace, TurnView


@dataclass(frozen=True, slots=True)
class Progress:
    """`most` is there where whoever answers reports its steps; else `calls` of tools are told (R-2.249, R-2.250).

    `billed` are the tokens of all model calls of the turn, None while none was reported. `outcome` is how it ended as
    things stand now: decisions come after the end. `waits`: it asked a person, or a specialist of it waits for one.
    """

    is_running: bool
    step: int
    most: int | None
    calls: int
    billed: int | None
    ended: TurnEnded | None
    outcome: Outcome | None = None
    waits: bool = False


def progress_of(view: TurnView) -> Progress:
    """What the strip shows of a turn."""
    calls = [call for item in view.items if isinstance(item, Trace) for call in item.calls]
    waits = view.question is not None or any(call.state == "pending" for call in calls)
    usage = view.ended.usage if view.ended is not None else view.usage
    billed = None if usage is None else usage.prompt + usage.output
    return Progress(view.ended is None, view.step, view.most_steps, len(calls), billed, view.ended, view.outcome, waits)
