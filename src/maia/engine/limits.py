"""What bounds a turn: small objects asked before each step and each call, no flags in the loop (T5.08)."""

from __future__ import annotations

from dataclasses import dataclass, field

BROKEN_ANSWERS = 3
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
