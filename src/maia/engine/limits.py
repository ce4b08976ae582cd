"""What bounds a turn: small objects asked before each step and each call, no flags in the loop (T5.08)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from maia.core.types import ToolCallPart, ToolResultPart

BROKEN_ANSWERS = 3
WORDS_AFTER_REPEATS = 2
"""How often the same call with the same result may come again before the model is asked for words alone."""
CUT_FROM_TOKENS = 4_000


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
    """Notices a model that makes the same calls again and gets the same results, as small ones do.

    A call that is repeated to see something change (a poll, a test run) gets other results and is left alone. `times`
    counts how often the last ones came again.
    """

    last: tuple[tuple[str, str, str], ...] = ()
    times: int = 0

    def note(self, calls: Sequence[ToolCallPart], results: Sequence[ToolResultPart]) -> bool:
        """Take the calls of one answer with their results; True when both are what they were the last time."""
        texts = {result.call_id: result.text for result in results}
        these = tuple((c.name, repr(sorted(c.arguments.items())), texts.get(c.call_id, "")) for c in calls)
        self.times = self.times + 1 if these == self.last else 0
        self.last = these
        return self.times > 0


@dataclass(slots=True)
class SilentCut:
    """Notices a server that reads only a part of what is sent and does not say so, as Ollama does beyond `num_ctx`."""

    told: set[str] = field(default_factory=set[str])

    def note(self, model: str, sent: int, read: int) -> bool:
        """Take the tokens of one request as counted here and as the server counted; True once a model when it cut.

        Vocabularies differ, and some servers leave the tools out: only less than half of a long request tells.
        """
        if model in self.told or sent < CUT_FROM_TOKENS or not 0 < read < sent / 2:
            return False
        self.told.add(model)
        return True
