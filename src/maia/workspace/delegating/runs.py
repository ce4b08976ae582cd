"""In which way a turn was asked for, and what that means for it; the port through which one turn starts another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol, TypeAlias

from maia.core.costs import Cost
from maia.core.events import TurnEnded
from maia.database.conversations import ConversationRow
from maia.database.late import AwaitedBy, WaitsFor
from maia.workspace.colleagues import Role
from maia.workspace.problems import Unusable

RunKind: TypeAlias = Literal["chat", "specialist", "background"]
STEPS: Final[Mapping[RunKind, int]] = {"specialist": 10, "background": 20}
"""Round trips to the model where the agent has no number of its own; a chat has that of the settings (N-05.07)."""
MOST: Final = 24
"""Conversations that one message of a person may start or go on with, those of specialists included."""


@dataclass(slots=True)
class Allowance:
    """How many more conversations a person's message may start or go on with, shared by all that come of it."""

    left: int = MOST

    def take(self) -> None:
        """Raises `Unusable` when all were started."""
        if self.left <= 0:
            raise Unusable("delegate.too_many", n=MOST)
        self.left -= 1


@dataclass(frozen=True, slots=True)
class How:
    """In which way a turn was asked for. `by` names who asked in a person's place, empty for a person.

    A turn that is not `attended` is ruled by the levels of autonomy, and pauses where a call waits for a person;
    `resumes` is the turn from which it goes on, 0 for none. `system` stands in place of the whole system prompt of this
    turn, and of nothing else (N-11.15).
    """

    kind: RunKind = "chat"
    by: str = ""
    allowance: Allowance = field(default_factory=Allowance)
    attended: bool = True
    resumes: int = 0
    system: str = ""

    @property
    def is_by_person(self) -> bool:
        """Whether a person wrote this."""
        return self.kind == "chat"

    @property
    def awaited_by(self) -> AwaitedBy:
        """Who waits for its result: the turn that gave a specialist its task, until it is over."""
        if self.kind != "specialist" or self.resumes:
            return ""
        return "reader" if self.attended else "run"

    def bounded(self, role: Role) -> Role:
        """The role with the steps of such a run; an agent's own number wins (R-2.257)."""
        return role if role.turns or self.kind not in STEPS else replace(role, turns=STEPS[self.kind])


@dataclass(frozen=True, slots=True)
class Done:
    """How a run that was waited for ended. `text` is what it said last, `cost` is with that of the runs below it.

    `waits` is what it needs of a person before it has a result.
    """

    text: str
    ended: TurnEnded
    cost: Cost
    waits: WaitsFor = ""


class Runs(Protocol):
    """All turns of the server, for a turn that starts another one."""

    async def begin(self, row: ConversationRow, text: str, how: How) -> None:
        """Begin a turn in a person's place. A refusal stays in the conversation as a failed turn, and is raised."""
        ...

    async def done(self, conversation_id: str) -> Done:
        """Wait for the turn that was begun. Raises `Unusable` where it ended without an answer."""
        ...

    def stop(self, conversation_id: str) -> bool:
        """Stop the turn that runs there; what was written is kept."""
        ...

    async def ended(self, conversation_id: str) -> None:
        """Wait until no turn runs there."""
        ...
