"""The one table of slash commands: completion, `/help` and the dispatch of the terminal read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from maia.core.errors import UsageProblem

Handler: TypeAlias = Literal[
    "help",
    "model",
    "key",
    "clear",
    "new",
    "load",
    "rename",
    "permissions",
    "context",
    "cost",
    "undo",
    "redo",
    "diff",
    "export",
    "tools",
    "agents",
    "create_agent",
    "exit",
]


@dataclass(frozen=True, slots=True)
class CommandRow:
    """One command. `description` and `argument` (empty where it takes none) name sentences of the catalogue.

    `while_working` says that it may run while the agent works; the others wait for the end of the turn. `completes` is
    the list that its argument comes from.
    """

    name: str
    handler: Handler
    aliases: tuple[str, ...] = ()
    takes_argument: bool = False
    while_working: bool = False
    completes: Literal["", "models", "sessions"] = ""

    @property
    def description(self) -> str:
        return f"term.command.{self.name}"

    @property
    def argument(self) -> str:
        return f"term.command.{self.name}.argument" if self.takes_argument else ""


COMMANDS: tuple[CommandRow, ...] = (
    CommandRow("help", "help", ("?",), while_working=True),
    CommandRow("model", "model", takes_argument=True, completes="models"),
    CommandRow("key", "key"),
    CommandRow("clear", "clear"),
    CommandRow("new", "new"),
    CommandRow("load", "load", ("resume",), takes_argument=True, completes="sessions"),
    CommandRow("rename", "rename", takes_argument=True),
    CommandRow("permissions", "permissions", while_working=True),
    CommandRow("context", "context", while_working=True),
    CommandRow("cost", "cost", while_working=True),
    CommandRow("tools", "tools", while_working=True),
    CommandRow("agents", "agents", while_working=True),
    CommandRow("createAgent", "create_agent", takes_argument=True),
    CommandRow("undo", "undo"),
    CommandRow("redo", "redo"),
    CommandRow("diff", "diff", while_working=True),
    CommandRow("export", "export", takes_argument=True),
    CommandRow("exit", "exit", ("quit",), while_working=True),
)


def find_command(name: str) -> CommandRow:
    """The command of that name or alias, without regard to case.

    Raises `UsageProblem` with the nearest names when there is none.
    """
    wanted = name.lower()
    for row in COMMANDS:
        if wanted == row.name.lower() or wanted in row.aliases:
            return row
    near = nearest(wanted)
    if near:
        raise UsageProblem("term.command.unknown_near", name=name, near=", ".join(f"/{other}" for other in near))
    raise UsageProblem("term.command.unknown", name=name)


def nearest(name: str) -> tuple[str, ...]:
    """Names that were perhaps meant: those that begin so, else those that look alike."""
    names = [row.name for row in COMMANDS]
    begun = tuple(other for other in names if name and other.startswith(name))
    if begun:
        return begun
    from difflib import get_close_matches

    return tuple(get_close_matches(name, names, n=2, cutoff=0.6))
