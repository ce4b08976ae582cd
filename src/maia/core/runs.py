"""The port of runs: tasks given to agents, which go on whoever is still listening (C6.01, C6.05)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from maia.core.costs import Cost, Usage
from maia.core.endings import Failure, Outcome
from maia.core.events import ApprovalRequested, Event
from maia.core.permission import Answer
from maia.core.reason import Reason

RunState: TypeAlias = Literal["queued", "running", "waiting", "ended", "lost"]
"""`waiting`: for an approval. `lost`: whatever ran it died before its end; its session can be taken up again."""

Asking: TypeAlias = Literal["ask", "refuse"]
"""Whether somebody can be asked for an approval; where nobody can, a call that needs one is refused with the reason."""


@dataclass(frozen=True, slots=True)
class RunWish:
    """A task for an agent. Empty fields leave the choice to the agent's definition, then to the settings.

    `agent` is a name or nickname, empty for plain maia; `session` continues an earlier run's session; `identity` is
    who asked, as authenticated. `folder` is the launch folder of the run. `timeout` is in seconds.
    """

    task: str
    agent: str = ""
    folder: str = ""
    model: str = ""
    runner: str = ""
    session: str = ""
    max_iterations: int | None = None
    timeout: float | None = None
    asking: Asking = "refuse"
    identity: str = ""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run as it stands. Times are seconds since 1970; `text` is the answer so far, whole once it has ended.

    `started` is when it was asked for as long as it is queued. `outcome` is None until it ended. `open_asks` are the
    approvals that wait. `identity` is who started it. `problem` says in words why it could not begin, was cut short or
    is lost; a `failure` of the model stands beside it.
    """

    run_id: str
    task: str
    state: RunState
    started: float
    agent: str = ""
    nickname: str = ""
    runner: str = ""
    model: str = ""
    provider: str = ""
    folder: str = ""
    session: str = ""
    identity: str = ""
    ended: float | None = None
    outcome: Outcome | None = None
    text: str = ""
    steps: int = 0
    tool_calls: int = 0
    usage: Usage | None = None
    cost: Cost = field(default_factory=Cost)
    failure: Failure | None = None
    open_asks: tuple[ApprovalRequested, ...] = ()
    problem: Reason | None = None


@dataclass(frozen=True, slots=True)
class RunNote:
    """One event of a run. `seq` counts from 1 without gaps; `time` is seconds since 1970."""

    seq: int
    time: float
    event: Event


class Runs(Protocol):
    """Every method but `listed` raises `MaiaError` for a run that is not there; all where the store cannot be used."""

    async def start(self, wish: RunWish) -> RunInfo:
        """Begin; returns at once. Raises `MaiaError` where it cannot begin (unknown agent, folder not allowed…)."""
        ...

    def follow(self, run_id: str, after: int = 0) -> AsyncIterator[RunNote]:
        """The notes after that number, those to come included, until the run has ended. Leaving early ends nothing."""
        ...

    async def info(self, run_id: str) -> RunInfo: ...

    async def listed(self, identity: str | None = None, limit: int = 100) -> Sequence[RunInfo]:
        """Newest first; of one identity where given."""
        ...

    async def answer(self, run_id: str, approval_id: str, answer: Answer) -> bool:
        """Answer an approval; False where it waits no more."""
        ...

    async def stop(self, run_id: str) -> RunInfo:
        """Stop it with everything it started, and say how it ended. A run that has ended is left as it is."""
        ...

    async def aclose(self) -> None:
        """Let go of the runs; they go on."""
        ...
