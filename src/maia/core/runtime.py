"""The port of an agent program that answers a whole turn by itself, and of the process in which it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

from maia.core.costs import Usage
from maia.core.endings import Failure, Outcome, StopReason
from maia.core.errors import MaiaError
from maia.core.events import ContextMeasured, Notice, ReasoningDelta, RetryScheduled, TextDelta, ToolOutput
from maia.core.jsonvalue import JsonObject
from maia.core.messages import Message, ToolCallPart
from maia.core.permission import Need
from maia.core.requests import Section, ToolSpec
from maia.core.results import Block, ToolResult
from maia.core.secret import Secret

OWN_MODEL: Final = "default"
"""The name shown where a program answers with the model that it chooses by itself."""


@dataclass(frozen=True, slots=True)
class ProgramCall:
    """A tool call of the program, under our tool's name and with its arguments where one of ours does the same.

    `needs` are judged by the same rules as our own calls. `is_whole` is False where the program shows only a part of
    what it will do: no rule can allow such a call, a person must. `blocks` is what would change. `lent` is the name of
    the tool of ours that the program means to call by its `ToolServer`, empty for a tool of its own. `own`
    is the name of the tool at the program, empty where it is no other one.
    """

    call: ToolCallPart
    needs: tuple[Need, ...]
    preview: str = ""
    blocks: tuple[Block, ...] = ()
    is_whole: bool = True
    lent: str = ""
    own: str = ""


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """How a call ended, in the program's own words."""

    call_id: str
    succeeded: bool
    text: str
    blocks: tuple[Block, ...] = ()


ProgramEvent: TypeAlias = (
    TextDelta | ReasoningDelta | ProgramCall | ToolOutput | ProgramResult | ContextMeasured | RetryScheduled | Notice
)
"""What a program tells. A `ProgramCall` that is told, not asked about by `permit`, already runs."""


@dataclass(frozen=True, slots=True)
class Permit:
    """Whether a call may run; `reason` is for the program's model when it may not."""

    allowed: bool
    reason: str = ""


class Desk(Protocol):
    """The engine's side of a turn."""

    def tell(self, event: ProgramEvent) -> None: ...

    async def permit(self, call: ProgramCall) -> Permit:
        """Ask the rules, and where they say so the person. May wait for days; several may wait at once."""
        ...

    async def use(self, name: str, arguments: JsonObject, own: str = "") -> ToolResult:
        """Call a tool that was lent to the program: judged, asked about, counted and shown like every other call.

        `own` is the name that the program has for it, empty where nobody knows.
        Raises nothing: what went wrong is the result. Cancelling ends the call. Several may run at once.
        """
        ...


@dataclass(frozen=True, slots=True)
class ToolServer:
    """Where a program finds the tools that are lent to it: a server of the Model Context Protocol on standard input
    and output, started by `argv` with the `env`, whose values are secret and hold as long as the turn.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, Secret]


@dataclass(frozen=True, slots=True)
class ProgramTask:
    """One request. `thread` changes whenever the conversation is another one than in the turn before (`/clear`).

    `history` is what was said before in this conversation; a program that still has it in its own session needs it
    not. `model` is empty for the program's own choice. `may_write` says that the rules trust this program as a whole
    (`Agent(name)`), which matters only to one that cannot ask. `preface` rides on this request and is not part of it.
    `max_steps` is there where nobody will grant more: a program that can keep such a limit itself is given it.
    `tools` are those of ours that are lent to the program for this turn, `server` is where it finds them.
    """

    text: str
    folder: Path
    thread: int
    history: tuple[Message, ...] = ()
    instructions: str = ""
    model: str = ""
    may_write: bool = False
    preface: tuple[Section, ...] = ()
    max_steps: int | None = None
    tools: tuple[ToolSpec, ...] = ()
    server: ToolServer | None = None

    @property
    def request(self) -> str:
        """What the program is asked, with what rides on it in front."""
        return "\n\n".join((*(section.text for section in self.preface), self.text))


PromptWay: TypeAlias = Literal["verified", "unverified", "message"]
"""How a program's instructions went: as its system prompt, which it confirmed or not, or in the message (R-2.124)."""


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How the turn ended. `usage` and `cost_usd` are what the program reported for the whole turn, if it did.

    `prompt` is as the driver saw it, None where the turn did not come so far. `came` is False where the program was
    lent tools and never asked for them.
    """

    outcome: Outcome
    stop: StopReason = "unknown"
    raw_stop: str = ""
    usage: Usage | None = None
    cost_usd: float | None = None
    failure: Failure | None = None
    model: str = ""
    prompt: PromptWay | None = None
    came: bool = True


CheckId: TypeAlias = Literal["home", "data", "keys", "writes", "network"]
"""What is tried of a program's isolation: the private things of the home folder and of maia are out of its reach, no
key but its own is given to it, it writes nowhere else, and its network is the one of the settings."""


@dataclass(frozen=True, slots=True)
class IsolationCheck:
    """One trial from inside a program's wall; `found` names what it could reach."""

    id: CheckId
    passed: bool
    found: tuple[str, ...] = ()


class Runtime(Protocol):
    """An agent program. One turn at a time; between turns it may keep its process and its session."""

    @property
    def name(self) -> str:
        """As in the table of programs, shown everywhere as the provider."""
        ...

    async def turn(self, task: ProgramTask, desk: Desk) -> ProgramEnd:
        """Run one turn. Raises nothing but `asyncio.CancelledError`, and then the program has stopped working."""
        ...

    async def aclose(self) -> None:
        """End the program with its whole tree."""
        ...


class Bridge(Protocol):
    """The way over which tools of ours reach one program."""

    async def open(self, tools: Sequence[ToolSpec]) -> bool:
        """Make it ready for these tools, and try it as the program would; whether they reach it (R-2.123).

        Raises nothing. What is open for the same tools already stays so; without tools there is nothing to open.
        """
        ...


# The process --------------------------------------------------------------------------------------------------------


class ProgramGone(MaiaError):
    """The program cannot be started, or ended while something was wanted of it."""


@dataclass(frozen=True, slots=True)
class ProgramStart:
    """How to start a program: in the wall, with exactly this environment. `home` is its own and may be written.

    The `secrets` are in `env`, too, under their names; wherever their values come back, the name stands instead.
    """

    argv: tuple[str, ...]
    folder: Path
    home: Path
    env: Mapping[str, str] = field(repr=False)
    secrets: Mapping[str, Secret] = field(default_factory=dict[str, Secret])


class ProgramProcess(Protocol):
    """A running program that is talked to by lines."""

    async def write(self, line: str) -> None:
        """Write one line. Raises `ProgramGone` when nobody reads any more."""
        ...

    def end_input(self) -> None:
        """Nothing more will be written."""
        ...

    async def read_line(self) -> str | None:
        """The next line of standard output without its end, None when there will be none. Lines may be megabytes."""
        ...

    @property
    def said(self) -> str:
        """The end of what it wrote to standard error."""
        ...

    async def stop(self, how: Literal["gently", "now"] = "gently") -> int | None:
        """End the whole tree; the exit code, None where it did not end by itself."""
        ...


StartProgram = Callable[[ProgramStart], Awaitable[ProgramProcess]]
"""Starts a program in the wall. Raises `MaiaError` where there is no wall or no program."""
