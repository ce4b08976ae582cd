"""What bounds a turn: small objects asked before each step and each call, no flags in the loop (T5.08)."""

from __future__ import annotations

from dataclasses import dataclass, field

from maia.core.types import ToolCallPart

DEFAULT_ITERATIONS = 50
SAME_CALL_NUDGE = 3
BROKEN_ANSWERS = 3


@dataclass(slots=True)
class StepLimit:
    """At most `size` round trips to the model; `extend` grants another series of the same size."""

    size: int
    granted: int = field(init=False)

    def __post_init__(self) -> None:
        self.granted = self.size

    def reached(self, steps: int) -> bool:
        return steps >= self.granted

    def extend(self) -> None:
        self.granted += self.size


@dataclass(slots=True)
class CallBudget:
    """At most `size` tool calls a turn; None is no limit. Calls beyond it are skipped, not run."""

    size: int | None
    used: int = 0

    def take(self) -> bool:
        """Count one call; False when the budget is spent."""
        if self.size is not None and self.used >= self.size:
            return False
        self.used += 1
        return True

    @property
    def spent(self) -> bool:
        return self.size is not None and self.used >= self.size


@dataclass(slots=True)
class Repeats:
    """Notices a model that makes the same call again and again, as small ones do."""

    last: tuple[tuple[str, str], ...] = ()
    times: int = 0

    def note(self, calls: tuple[ToolCallPart, ...]) -> bool:
        """Take the calls of one answer; True when they repeat the ones before for the third time or more."""
        these = tuple((call.name, repr(sorted(call.arguments.items()))) for call in calls)
        self.times = self.times + 1 if these == self.last else 1
        self.last = these
        return self.times >= SAME_CALL_NUDGE
