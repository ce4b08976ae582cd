"""The protocols at which the rooms meet. A room implements one, another uses it, `app.py` joins them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from maia.core.events import Event, WireEvent
from maia.core.messages import Message
from maia.core.permission import Answer, Decision, Need, Rule, Sweep
from maia.core.reason import Reason
from maia.core.requests import ModelRequest, Section, ToolSpec
from maia.core.results import TodoItem


class Say(Protocol):
    """Words in the user's language: the sentence of a catalogue key with its values.

    `n` chooses the plural form. An unknown key is a defect and raises `KeyError` under test; in use it is shown as is.
    """

    def __call__(self, key: str, /, n: int | None = None, **values: object) -> str: ...

    def has(self, key: str) -> bool:
        """Whether there is a sentence for this key: a remedy under `key + ".fix"` is there for some only."""
        ...


class Clock(Protocol):
    """Seconds since an arbitrary start, never going back."""

    def __call__(self) -> float: ...


# Models -------------------------------------------------------------------------------------------------------------


class Wire(Protocol):
    """One endpoint that speaks one format.

    `stream` yields deltas in order and then exactly one `WireAnswer` or `WireFailed`; it raises nothing but
    `asyncio.CancelledError`. Closing the iterator closes the connection. It retries by itself only before the first
    delta, and says so by `RetryScheduled`.
    """

    @property
    def provider(self) -> str:
        """The provider's name as shown everywhere."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]: ...


class Counter(Protocol):
    """Counts tokens of text with the `o200k_base` vocabulary, exactly (T3.02)."""

    def count(self, texts: Sequence[str]) -> list[int]: ...


# The hands of a tool ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file was when it was last read or written in this session."""

    size: int
    mtime_ns: int
    digest: str


class ReadLog(Protocol):
    """Which files this session has read, so that an edit of an unseen or changed file is refused (decisions §12)."""

    def note(self, path: Path, state: FileState) -> None: ...
    def seen(self, path: Path) -> FileState | None: ...


class ChangeLog(Protocol):
    """What file tools replaced, so that undo and redo restore it."""

    def record(self, call_id: str, path: Path, before: bytes | None, after: bytes | None, mode: int | None) -> None:
        """`None` stands for a file that did not exist. Called after the write succeeded."""
        ...


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """How a command ended. `output` is stdout and stderr in the order of arrival, middle cut to the asked limit.

    `exit_code` is None when it did not end by itself, or when something else in this process took it first;
    `total_chars` is what it printed in all; `saved` is a file with the whole output when it was cut. `leftovers` counts
    processes that the command left behind (stopped with it unless the runner keeps them); `hint` says what the sandbox
    may have had to do with a failure.
    """

    state: Literal["exited", "timed_out", "interrupted", "not_started"]
    exit_code: int | None
    output: str
    total_chars: int
    saved: Path | None
    duration: float
    problem: str = ""
    leftovers: int = 0
    hint: Reason | None = None


class Processes(Protocol):
    """Runs commands in their own process group, and ends the whole tree (T5.03)."""

    async def shell(
        self,
        command: str,
        *,
        cwd: Path,
        timeout: float,
        max_chars: int,
        on_output: Callable[[str], None] | None = None,
        env: Mapping[str, str] | None = None,
        sandboxed: bool = True,
    ) -> ProcessEnd:
        """Run a shell command line. Cancelling stops the tree first, then raises `asyncio.CancelledError`."""
        ...

    async def program(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        timeout: float,
        max_chars: int,
        on_output: Callable[[str], None] | None = None,
        env: Mapping[str, str] | None = None,
        sandboxed: bool = True,
    ) -> ProcessEnd:
        """Run a program without a shell."""
        ...


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a URL gave. `redirect_to` is set instead of a body when it leads to another host."""

    url: str
    status: int
    media_type: str
    body: bytes
    encoding: str | None
    redirect_to: str | None = None


class Fetcher(Protocol):
    """Gets one URL, safely: http(s) only, private addresses refused unless a rule allows them, bounded.

    Raises `ToolProblem` with the reason.
    """

    async def get(self, url: str, *, max_bytes: int, timeout: float) -> Fetched: ...


@dataclass(slots=True)
class ToolMemory:
    """What tools remember within one session: the task list. Owned by the session, changed only by TodoWrite."""

    todos: tuple[TodoItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Hands:
    """What one call may touch. Fakes, sandboxes and remote machines are other values of this one type.

    `launch` is the launch folder (T1.01), resolved; `folders` are further folders given by `--add-dir`; `allowed`
    says whether a path may be read by a tool that lists many (Grep and Glob leave out what a rule denies); `emit`
    shows output of the running call; `saved_outputs` is the folder for outputs too long for the model;
    `session` is the name of the session.
    """

    launch: Path
    call_id: str
    say: Say
    processes: Processes
    fetcher: Fetcher
    reads: ReadLog
    changes: ChangeLog
    memory: ToolMemory
    current_model: Callable[[], str]
    emit: Callable[[str], None]
    allowed: Callable[[Need], Decision]
    saved_outputs: Path
    folders: tuple[Path, ...] = ()
    session: str = ""


# Permissions --------------------------------------------------------------------------------------------------------


class Fence(Protocol):
    """Closes places to every call, whatever the rules say and whoever would allow it."""

    def closed(self, tool: str, given: str, resolved: str) -> tuple[Rule, Reason] | None:
        """The deny rule that a path meets, with its reason; None for a path that the rules may decide.

        `given` is the absolute path as written, `resolved` where it leads. `tool` is the tool of rules; `Redirect` and
        `Bash` are what a command writes and names.
        """
        ...

    def searched(self, tool: str, given: str, resolved: str, sweep: Sweep) -> tuple[Rule, Reason] | None:
        """The same for a search that starts in a folder: one that would come to a closed place is too broad."""
        ...


class Judge(Protocol):
    """Decides needs against all rules in force (settings files, options, session)."""

    def decide(self, needs: Sequence[Need]) -> Decision: ...

    def propose(self, need: Need) -> str | None:
        """The text of a rule that would allow this need, or None where no allow could win."""
        ...

    def allow_for_session(self, needs: Sequence[Need]) -> None: ...

    def allow_always(self, needs: Sequence[Need]) -> str:
        """Save allow rules in the launch folder's settings file; returns the file's shown path."""
        ...


# Sessions -----------------------------------------------------------------------------------------------------------


class Journal(Protocol):
    """An append-only file of events, one writer."""

    @property
    def name(self) -> str: ...

    @property
    def problem(self) -> str:
        """Why the last events are only in memory (a full disk), empty when all is written."""
        ...

    def append(self, event: Event) -> None:
        """Write one event. It is in the hands of the operating system when this returns (deltas: within 200 ms)."""
        ...

    def close(self) -> None: ...


# Doors --------------------------------------------------------------------------------------------------------------

Ask = Callable[[Event], Awaitable[Answer]]
"""How a door answers an `ApprovalRequested` (or a `LimitReached`: once = go on, no = stop)."""


WindowSource: TypeAlias = Literal["setting", "server", "catalogue", "model", "unknown"]
"""Who said how large the window is (T3.01)."""


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One line of `/context`: what fills the window, in tokens."""

    key: Literal["system", "tools", "messages", "pending"]
    tokens: int
    count: int = 0


@dataclass(frozen=True, slots=True)
class ContextView:
    """Everything the next request would hold, as counted (T3.02)."""

    parts: tuple[ContextPart, ...]
    window: int | None
    window_source: WindowSource
    system: tuple[Section, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    messages: tuple[Message, ...] = field(default=())

    @property
    def tokens(self) -> int:
        return sum(part.tokens for part in self.parts)
