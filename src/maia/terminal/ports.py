"""What the interactive terminal needs from the engine: one open session behind the `Conversation` protocol.

`terminal/app.py` calls nothing else of the engine. Every method that takes time is async; every method that makes
things happen answers with events, drawn by the same renderer as a turn. Errors for a person are `MaiaError`s.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from maia.core.agent import AgentLevel
from maia.core.events import ContextMeasured, Event, Notice
from maia.core.permission import Answer
from maia.core.ports import ContextView
from maia.core.results import DiffBlock
from maia.core.secret import Secret
from maia.core.submission import Submission
from maia.engine.views import (
    AgentList,
    AgentRow,
    Change,
    ModelChoice,
    ModelCost,
    RuleFile,
    SessionChoice,
    ToolRow,
    Trust,
)

__all__ = [
    "AgentLevel",
    "AgentList",
    "AgentRow",
    "Change",
    "Conversation",
    "KeyDesk",
    "Load",
    "ModelChoice",
    "ModelCost",
    "PastedKey",
    "RuleFile",
    "ScreenOptions",
    "SessionChoice",
    "ToolRow",
    "Trust",
]


class Conversation(Protocol):
    """One session that is open for a person.

    At most one of `turn`, `shell`, `set_model`, `clear`, `new` and `load` is being read at a time; all others may be
    called meanwhile. Closing one of these iterators early (`aclose`) is the same as `stop` and then reading to the end.
    """

    @property
    def name(self) -> str:
        """The session's name."""
        ...

    @property
    def is_kept(self) -> bool:
        """Whether the session has a file: one in which nothing was asked leaves none."""
        ...

    @property
    def model(self) -> str:
        """The model that answers next; empty when none is chosen yet, and the door then opens the list (T1.06)."""
        ...

    @property
    def launch(self) -> Path:
        """The launch folder (T1.01), resolved."""
        ...

    # Around the session

    def trust_needed(self) -> Trust | None:
        """What to ask before `open`, None when there is nothing to trust or it was trusted as it is."""
        ...

    def trust(self, yes: bool) -> None:
        """The person's answer to `trust_needed`, remembered. Called before `open`."""
        ...

    def open(self) -> AsyncIterator[Event]:
        """Start: `SessionStarted`, the start log as notices (T1.01, T1.07, T1.09, T1.10, T3.01), `ModelChanged`.

        With `--continue` or `--resume` the events of that session come first and are drawn as a loaded session.
        """
        ...

    def news(self) -> AsyncIterator[Event]:
        """Events that come by themselves, outside any turn, until `close` (a window that was found later, …)."""
        ...

    async def close(self) -> None:
        """Stop what runs, close the journal, the connections and the processes. May be called twice."""
        ...

    # A turn

    def turn(self, submission: Submission) -> AsyncIterator[Event]:
        """Run one request. Ends with `TurnEnded`, whatever happens; `stop` makes that come soon."""
        ...

    def shell(self, command: str) -> AsyncIterator[Event]:
        """Run a `!` command (T4.01): `ToolCallStarted` (`!`), `ToolOutput`*, `ToolCallFinished`, `PendingAdded`."""
        ...

    def stop(self) -> None:
        """Ctrl+C: stop the running turn, command or model change. Returns at once; the iterator then ends properly."""
        ...

    def answer(self, approval_id: str, answer: Answer) -> None:
        """Answer an `ApprovalRequested` or a `LimitReached` that came out of `turn`.

        An unknown or answered id is ignored.
        """
        ...

    # Commands

    async def measure(self, draft: Submission | None = None) -> ContextMeasured:
        """What the next request would hold, counted (T2.08, T3.02), with `draft` joined to it when given."""
        ...

    async def models(self) -> Sequence[ModelChoice]:
        """The models that can be chosen. Raises `ModelFailed` when the server does not say."""
        ...

    def set_model(self, name: str) -> AsyncIterator[Event]:
        """`/model NAME`: `ModelChanged` and the notices about its window. Raises `MaiaError` for an unknown name."""
        ...

    def clear(self) -> AsyncIterator[Event]:
        """`/clear`: `ContextCleared`, then the notices of the configuration read again."""
        ...

    def new(self) -> AsyncIterator[Event]:
        """`/new`: a notice that the session left is saved, then as `open`."""
        ...

    async def sessions(self) -> Sequence[SessionChoice]:
        """Saved sessions of this launch folder, newest first."""
        ...

    def load(self, name: str) -> AsyncIterator[Event]:
        """`/load NAME`: the stored events of that session in order, then notices. Raises `SessionProblem`."""
        ...

    def rename(self, name: str) -> Event:
        """`/rename NAME`: the `SessionRenamed` that was written. Raises `SessionProblem`."""
        ...

    async def context(self) -> ContextView:
        """`/context`: everything the next request would hold."""
        ...

    def cost(self) -> Sequence[ModelCost]:
        """`/cost`: one row a model, in the order of first use."""
        ...

    def rules(self) -> Sequence[RuleFile]:
        """`/permissions`: the active rules, file by file (T6.07)."""
        ...

    def tools(self) -> Sequence[ToolRow]:
        """`/tools`: what the model may call."""
        ...

    def agents(self) -> AgentList:
        """`/agents`: the agents that can be called, and what was left out. Reads files."""
        ...

    def create_agent(self, name: str, level: AgentLevel) -> str:
        """`/createAgent`: one more from the template; the file's shown name. Never overwrites. Raises `MaiaError`."""
        ...

    def undo(self) -> Sequence[Change]:
        """`/undo`: take back what the last turn with changes wrote. Empty when there is nothing."""
        ...

    def redo(self) -> Sequence[Change]:
        """`/redo`: do again what `undo` took back. Empty when there is nothing."""
        ...

    def diff(self) -> Sequence[DiffBlock]:
        """`/diff`: what this session changed in files, whole, in the order of paths."""
        ...

    def export(self, path: str) -> Path:
        """`/export [FILE]`: the conversation as Markdown; an empty `path` chooses a free name. Returns where it is."""
        ...


@dataclass(frozen=True, slots=True)
class PastedKey:
    """What is known of a key that somebody pasted, without the key.

    `shown` is its prefix and length, `variable` the name under which it would be kept. `owners` are whose it may be
    where only the person can say, the likeliest first. `elsewhere` is the provider of the same family in another
    region.
    """

    provider: str
    confidence: str
    region: str
    host: str
    shown: str
    variable: str
    owners: tuple[str, ...] = ()
    elsewhere: str = ""
    notices: tuple[Notice, ...] = ()

    @property
    def is_refused(self) -> bool:
        """Whether it may go nowhere; the notices say why."""
        return any(notice.level == "fail" for notice in self.notices)


class KeyDesk(Protocol):
    """Looks at keys, tries them, keeps them, by the same functions as `maia keys`."""

    @property
    def is_needed(self) -> bool:
        """Whether nothing is configured and nobody asked for the built-in assistant; known once a session is open."""
        ...

    def look(self, token: Secret, owner: str = "") -> PastedKey:
        """Whose key it is. `owner` is the provider that the person named. Nothing is sent or written."""
        ...

    async def attempt(self, token: Secret, found: PastedKey) -> int:
        """Ask its provider for the models; how many there are. Raises `ModelFailed`, explained."""
        ...

    def keep(self, token: Secret, found: PastedKey) -> Notice:
        """Keep it for all later starts and use it from now on. Raises `MaiaError`; then nothing has changed."""
        ...


@dataclass(frozen=True, slots=True)
class ScreenOptions:
    """How the terminal behaves, from settings; colours, motion and modes come from the environment (see `Look`).

    `history` is the file of sent lines, None to keep none; `home` is what `~` means in `@~/file`. `notify` tells how a
    waiting question or the end of a long turn calls somebody who is away: not at all, by the bell, by OSC 9. `keys` is
    there where models are reached with keys, not where a program answers.
    """

    history: Path | None
    home: Path
    notify: Literal["off", "bell", "osc9"] = "bell"
    keys: KeyDesk | None = None


Load: TypeAlias = Callable[[], tuple[Conversation, ScreenOptions]]
"""Imports the engine and builds the session; runs in a thread while the first keys are already typed."""
