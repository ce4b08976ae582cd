"""What a wrapper runs: the value that every reader of wrappers gives, and the pieces they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from maia.permissions.script import Assignment, Barrier, Word, WrapKind
from maia.permissions.shell_options import Options
from maia.permissions.wildcard import ANY

Words: TypeAlias = tuple[Word, ...]

UNKNOWN = Word(ANY, "…", literal=False, pattern=ANY)


@dataclass(frozen=True, slots=True)
class Inner:
    """What a wrapper runs: commands as words, scripts as text. `elsewhere` means in a folder that is not known.

    `fills` means that the wrapper adds words to the command that it reads while it runs (`xargs`).
    """

    kind: WrapKind
    commands: tuple[Words, ...] = ()
    scripts: tuple[str, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    barriers: tuple[Barrier, ...] = ()
    elsewhere: bool = False
    fills: bool = False


def blind(key: str, word: Word | str = "") -> Barrier:
    """A barrier of kind `blind` that names a word."""
    return Barrier("blind", key, word if isinstance(word, str) else word.source)


def program_name(text: str) -> str:
    """The name of a program without its folder, and without `.exe`."""
    name = text.rpartition("/")[2]
    return name.removesuffix(".exe") if name.endswith(".exe") else name


def option_barriers(parsed: Options) -> tuple[Barrier, ...]:
    """A barrier where an option was a riddle: nobody knows where the inner command starts."""
    return (blind("perm.why.option", parsed.unknown),) if parsed.unknown else ()


def leading_assignments(words: Words) -> tuple[tuple[Assignment, ...], Words]:
    """`NAME=value` words, as `env` and `sudo` take them, and what follows."""
    made: list[Assignment] = []
    at = 0
    while at < len(words) and "=" in words[at].text[1:]:
        made.append(Assignment(words[at].text.partition("=")[0], words[at].source, exported=True))
        at += 1
    return tuple(made), words[at:]


Reader: TypeAlias = Callable[[Words], "list[Barrier]"]
"""Reads one program's arguments: the barriers that they raise."""


def always_runs(words: Words) -> list[Barrier]:
    """For programs that run what they are given, whatever their options."""
    return [blind("perm.why.runs", words[0])]
