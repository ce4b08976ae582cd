"""The port of delegating: what one turn of the workspace may hand to other agents and threads (N-06.01, N-06.02)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from maia.core.costs import Cost
from maia.core.endings import Outcome
from maia.core.results import ToolStatus

RUN_SPECIALIST: Final = "run_specialist"
DELEGATE_TO_AGENT: Final = "delegate_to_agent"
ASSIGN_TASK: Final = "assign_task"
CREATE_SUB_CONVERSATION: Final = "create_sub_conversation"
DELEGATING: Final = (RUN_SPECIALIST, DELEGATE_TO_AGENT, ASSIGN_TASK, CREATE_SUB_CONVERSATION)
"""The names of the tools; the second is another one of the first (R-2.457)."""


_WENT_WELL: Final[tuple[Outcome, ...]] = ("finished", "turn_limit", "output_limit", "tool_budget")


def status_of(outcome: Outcome) -> ToolStatus:
    """How a call ended that waited for a run with this outcome."""
    return "succeeded" if outcome in _WENT_WELL else "failed"


@dataclass(frozen=True, slots=True)
class Delegate:
    """An agent that something can be handed to. `name` is how it is stored, `nickname` what people call it."""

    name: str
    nickname: str
    description: str


@dataclass(frozen=True, slots=True)
class Run:
    """How a run that was waited for went. `text` is what it said last; `cost` holds that of runs below it.

    `waits` is what it needs of a person; with `comes_later` its result comes by itself once it has got that.
    """

    conversation: str
    agent: str
    outcome: Outcome
    text: str
    problem: str
    cost: Cost
    waits: Literal["", "approval", "answer"] = ""
    comes_later: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """A conversation that goes on by itself, or waits for a person."""

    conversation: str
    title: str
    agent: str
    is_running: bool


class Delegation(Protocol):
    """What one turn may delegate; as which agent, and on which model, was settled before.

    Every method raises `MaiaError`: for an agent that is not there or works above already, when the conversations are
    too deep or too many. A cancelled `run` stops what it waits for.
    """

    @property
    def specialists(self) -> Sequence[Delegate]: ...
    @property
    def colleagues(self) -> Sequence[Delegate]: ...

    async def run(self, call_id: str, agent: str, task: str, conversation: str) -> Run:
        """Let a specialist do a task and wait for it; with the id of an earlier conversation it goes on there."""
        ...

    async def assign(self, call_id: str, agent: str, title: str, task: str) -> Opened:
        """Put a card on the board that a colleague works on in the background."""
        ...

    async def open(self, call_id: str, title: str, message: str, agent: str) -> Opened:
        """Open a thread under this conversation; with a `message` it is answered there, and nobody waits for it."""
        ...
