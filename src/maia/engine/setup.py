"""What a session is built from: values and ports that the composition root provides."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from maia.core.agent import AgentLevel
from maia.core.events import Notice
from maia.core.ports import Hands, Judge, Say, Wire
from maia.core.requests import ChosenBy, Effort, Section
from maia.core.results import DiffBlock
from maia.core.runtime import Bridge, Runtime
from maia.core.submission import Attachment
from maia.core.tool import AnyTool
from maia.engine.context import Tally, Window
from maia.engine.toolset import ALL, Toolset
from maia.engine.turn import Price
from maia.engine.views import AgentList, Change, ModelChoice, RuleFile, Trust
from maia.store.sessions import Sessions


@dataclass(frozen=True, slots=True)
class Config:
    """One reading of the settings and the folder; `/clear` and `/new` read again.

    With `concludes` nobody is asked when the steps are spent: the model is asked for its conclusion (T7.05).
    `is_final` says that nobody will grant further steps.
    `toolset` bounds what a program may do with tools of its own;
    a model that `takes_tools` not is offered none.
    """

    judge: Judge
    tools: Mapping[str, AnyTool]
    sections: tuple[Section, ...]
    notices: tuple[Notice, ...]
    rules: tuple[RuleFile, ...]
    max_iterations: int
    max_tool_calls: int | None = None
    max_output_tokens: int | None = None
    effort: Effort | None = None
    concludes: bool = False
    is_final: bool = False
    toolset: Toolset = ALL
    takes_tools: bool = True


@dataclass(frozen=True, slots=True)
class Bound:
    """Who answers, chosen by `why`: a model reached by `wire`, or the program `runtime`, which runs the whole turn.

    Exactly one of the two is set. `model` is `OWN_MODEL` where a program chooses. By `bridge` tools of ours reach it.
    """

    model: str
    provider: str
    wire: Wire | None
    why: ChosenBy
    notices: tuple[Notice, ...] = ()
    runtime: Runtime | None = None
    bridge: Bridge | None = None


class Models(Protocol):
    """Which models there are, and how one is reached."""

    async def choices(self) -> Sequence[ModelChoice]:
        """All models of all endpoints. Raises `ModelFailed` when no server says."""
        ...

    async def problems(self) -> Sequence[Notice]:
        """What cannot be used of what is configured, told once before a model is chosen. Raises nothing."""
        ...

    async def start(self, resumed: str) -> Bound | None:
        """The model to begin with (T1.06), None when a person must choose. Raises `MaiaError`.

        `resumed` is the model of a session that goes on, as `provider/id`, empty for a new one; an option of the
        command line wins.
        """
        ...

    async def bind(self, name: str, why: ChosenBy) -> Bound:
        """The model of that name. Raises `MaiaError` when there is none, with the nearest ones."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...

    def effort(self, bound: Bound, asked: Effort | None) -> Effort | None:
        """The effort that this model understands for the asked one."""
        ...

    async def window(self, bound: Bound) -> tuple[Window, Notice]:
        """The maximum context of that model (T3.01) with the notice that says who spoke. Raises nothing."""
        ...


class Undo(Protocol):
    """What file tools changed in one session, and its way back."""

    def undo(self) -> Sequence[Change]: ...
    def redo(self) -> Sequence[Change]: ...
    def diff(self) -> Sequence[DiffBlock]: ...


class AgentDesk(Protocol):
    """The agents of this folder and of home, as a person sees and makes them."""

    def listed(self) -> AgentList:
        """All agents. Reads files; raises nothing."""
        ...

    def create(self, name: str, level: AgentLevel) -> str:
        """Make one from the template; the file's shown name. Never overwrites. Raises `MaiaError`."""
        ...


@dataclass(frozen=True, slots=True)
class BangOutcome:
    """How a `!` command ended (T4.01): what goes to the model, and how its row looks."""

    attachment: Attachment
    succeeded: bool
    text: str
    summary: str


@dataclass(frozen=True, slots=True)
class CallContext:
    """What the session tells about the call that gets hands."""

    call_id: str
    turn: int
    session: str
    model: Callable[[], str]
    emit: Callable[[str], None]
    notify: Callable[[Notice], None]


@dataclass(frozen=True, slots=True)
class Setup:
    """The ports and values of one session. `tally` is None where nobody counts.

    `hands` gives one call its hands. `undo` is of the session of that name, `renamed` hears the old and the new one.
    `seen` hears (session, path, digest) of each file that the model knows without a Read in this run: it was joined
    whole to a request, or read or written before the session was resumed.
    `screen` looks at (model, text) of a request before anything is kept of it; a `MaiaError` refuses it.
    `release` lets go of what tools hold open, when the session is over. `agents` is None where nobody looks at them.
    `bang` runs a `!` command with a place for its live output, and ends it, keeping what it printed, when the event is
    set. `resume` names a session to go on with; with `replay` its events are shown again.
    """

    launch: Path
    say: Say
    version: str
    models: Models
    sessions: Sessions
    configure: Callable[[], Config]
    hands: Callable[[Config, CallContext], Hands]
    undo: Callable[[str], Undo]
    renamed: Callable[[str, str], None]
    seen: Callable[[str, str, str], None]
    bang: Callable[[str, Callable[[str], None], asyncio.Event], Awaitable[BangOutcome]]
    price: Price
    tally: Tally | None
    trust_needed: Callable[[], Trust | None]
    trust: Callable[[bool], None]
    release: Callable[[], Awaitable[None]] | None = None
    screen: Callable[[Bound, str], None] | None = None
    agents: Callable[[], AgentDesk] | None = None
    resume: str | None = None
    save: bool = True
    replay: bool = True
