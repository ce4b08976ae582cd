"""One call of a client as the tools see it: who calls, from what desk, and what they answer; no protocol in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from maia.core.jsonvalue import JsonObject
from maia.core.memories import PERSON
from maia.core.permission import Answer

if TYPE_CHECKING:
    from maia.core.errors import MaiaError
    from maia.core.events import ApprovalRequested
    from maia.core.memories import Memory
    from maia.core.ports import Say
    from maia.core.runs import Runs
    from maia.orchestrator.ports import AgentBook


@dataclass(frozen=True, slots=True)
class Identity:
    """Who calls, as authenticated (C6.04). `agent` is set where an agent calls for itself.

    An agent may not answer approvals: it would allow itself what the person wants to be asked about.
    """

    name: str = PERSON
    agent: str = ""

    @property
    def is_person(self) -> bool:
        return self.name == PERSON

    def may_see(self, owner: str) -> bool:
        """Whether a run of that identity is shown: the person sees all, everybody else their own."""
        return self.is_person or owner == self.name


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool answers: `text` to read, `data` for machines, of the form that the tool's output schema gives."""

    text: str
    data: JsonObject
    is_error: bool = False


class Client(Protocol):
    """What one call can do towards the client that made it."""

    @property
    def can_ask(self) -> bool:
        """Whether a person can be asked for an approval through this client."""
        ...

    async def tell(self, message: str) -> None:
        """Progress, where the client wants any."""
        ...

    async def ask(self, run_id: str, request: ApprovalRequested) -> Answer | None:
        """Ask the person; None where nobody answered. Raises `Pause` where the client answers with its next call."""
        ...

    async def was_cancelled(self) -> bool:
        """Whether the client itself took the call back, rather than going away. Asked once the call is cancelled."""
        ...


class Pause(Exception):
    """The call ends here, to be made again with the answer (protocol 2026-07-28, `input_required`)."""

    def __init__(self, run_id: str, request: ApprovalRequested) -> None:
        super().__init__(run_id, request.approval_id)
        self.run_id = run_id
        self.request = request
        self.run_ids: tuple[str, ...] = (run_id,)
        """Every run that the call has started."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """A call made again after a `Pause`: the runs it has started, and the answers by run and approval."""

    run_ids: tuple[str, ...] = ()
    answers: Mapping[tuple[str, str], Answer] = field(default_factory=dict[tuple[str, str], Answer])


@dataclass(frozen=True, slots=True)
class Desk:
    """What the tools work with. `memory` opens the store of an identity, `aside` lets work go on after the call.

    `defect` keeps the report of an error that is ours and gives the words for it. `command` is how a client starts us.
    """

    say: Say
    runs: Runs
    agents: AgentBook
    memory: Callable[[str], Awaitable[Memory]]
    aside: Callable[[Coroutine[Any, Any, Any]], object]
    defect: Callable[[Exception], MaiaError]
    command: tuple[str, ...] = ("maia", "mcp")


@dataclass(frozen=True, slots=True)
class Call:
    """One call. `resumed` is set when it was made before and paused."""

    desk: Desk
    identity: Identity
    client: Client
    resumed: Resumed | None = None
