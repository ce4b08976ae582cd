"""What a shell script would do, as data: commands, redirections, and what stands in the way of judging them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from maia.permissions.wildcard import SEP

Folders: TypeAlias = "frozenset[str] | None"
"""Where a command may run: folders relative to the script's start ("" is the start itself), or None when unknown.

None at all means that it runs on another machine.
"""

BarrierKind: TypeAlias = Literal[
    "firm",  # no allow covers it, not even a bare one (T6.05, a script that cannot be read)
    "blind",  # only a bare allow, and only where no deny or ask rule is in force (decisions §9)
    "inline",  # code in an argument: like blind, but a rule that spells the very command out covers it
    "flag",  # an option with side effects that a rule for the plain program did not mean: spell it, or allow all
]


@dataclass(frozen=True, slots=True)
class Barrier:
    """Why an allow may not cover a command. `key` is the reason's key; `token` is the word that causes it."""

    kind: BarrierKind
    key: str
    token: str = ""


@dataclass(frozen=True, slots=True)
class Word:
    """One word after the shell's own unquoting.

    `text` holds `ANY`/`ONE` for pieces that only exist at run time. `pattern` is the same text with unquoted globs
    turned into `ONE`. `choices` are further texts that brace expansion makes of it, the first one excluded.
    `torn` means that the grammar put more than one word of the shell into it, `made` that it holds a value which the
    script itself makes while it runs (`read x`, `set -- …`), so that it may be written to become an option.
    """

    text: str
    source: str
    literal: bool = True
    pattern: str = ""
    braces: bool = False
    glob: bool = False
    quoted: bool = False
    choices: tuple[str, ...] = ()
    torn: bool = False
    made: bool = False

    @property
    def fixed(self) -> bool:
        """Whether the word is one word, known exactly."""
        return self.literal and not self.glob and not self.braces


@dataclass(frozen=True, slots=True)
class Assignment:
    """`NAME=value` before a command, alone, or as an argument of `env` and `export`."""

    name: str
    source: str
    exported: bool


WrapKind: TypeAlias = Literal[
    "clear",  # changes nothing about what the inner command is: the inner one alone needs a rule (`timeout`)
    "strong",  # changes who or how: both need rules, or one that spells both out (`sudo`)
    "runner",  # starts programs of a project: a rule for it covers what it runs (`uv run`)
    "remote",  # runs it elsewhere: as a runner, and neither files nor riddles over there concern this machine (`ssh`)
]


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command. `wrap` is set when it runs others, its `children`."""

    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    folders: Folders = frozenset({""})
    barriers: tuple[Barrier, ...] = ()
    wrap: WrapKind | None = None
    children: tuple[Command, ...] = ()

    @property
    def program(self) -> str:
        return self.words[0].text if self.words else ""

    @property
    def text(self) -> str:
        """The unquoted words joined by `SEP`."""
        return SEP.join(word.text for word in self.words)

    @property
    def source(self) -> str:
        """As written, blanks between words made one."""
        return " ".join(word.source for word in self.words if word.source)

    @property
    def pattern(self) -> str:
        """As `text`, with globs open: what an allow rule is held against."""
        return SEP.join(word.pattern for word in self.words)

    @property
    def shown(self) -> str:
        """As written, with the assignments before it (those of `export` stand among its words already)."""
        words = [word.source for word in self.words if word.source]
        return " ".join([*(a.source for a in self.assignments if a.source not in words), *words])


RedirectKind: TypeAlias = Literal["read", "write", "both"]


@dataclass(frozen=True, slots=True)
class Redirect:
    """A file opened by the shell itself. `target` is None when it cannot be known before the command runs."""

    kind: RedirectKind
    target: str | None
    source: str
    folders: Folders = frozenset({""})


@dataclass(frozen=True, slots=True)
class Script:
    """A whole command line: what runs, what is opened, and what is wrong with it as a whole."""

    commands: tuple[Command, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    barriers: tuple[Barrier, ...] = ()
    functions: frozenset[str] = field(default=frozenset())
