"""The words of one simple command -> `Command`: its barriers, and the commands that it runs in turn."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from maia.permissions.script import Assignment, Barrier, Command, Folders, Redirect, Script, Word
from maia.permissions.shell_flags import hazards, made_options
from maia.permissions.shell_inner import Inner, program_name
from maia.permissions.shell_names import DANGEROUS_NAME, HARMLESS_NAME, HARMLESS_VALUE, INPUT_NAMES, RESERVED_WORDS
from maia.permissions.shell_wrappers import unwrap
from maia.permissions.wildcard import ANY, ONE

ReadScript: TypeAlias = Callable[[str, Folders, int], Script]

MAX_LAYERS = 12
"""Wrappers around one command beyond this are not followed."""


@dataclass(frozen=True, slots=True)
class Found:
    """One command, with what the scripts inside its arguments redirect and what is wrong with them."""

    command: Command
    redirects: tuple[Redirect, ...] = ()
    barriers: tuple[Barrier, ...] = ()
    functions: frozenset[str] = frozenset()


def command_of(
    words: tuple[Word, ...],
    assignments: tuple[Assignment, ...],
    folders: Folders,
    level: int,
    read: ReadScript,
    layer: int = 0,
) -> Found:
    """Everything about one command. `read` analyses a script given as an argument (`bash -c`)."""
    barriers = [*_assignment_barriers(_for_itself(assignments, words)), *_name_barriers(words)]
    if barriers and barriers[-1].key == "perm.why.dynamic":
        return Found(Command(words, assignments, folders, tuple(barriers)))
    barriers += hazards(words)
    inner = unwrap(words)
    if inner is None or inner.kind != "clear":
        barriers += made_options(words)
    if inner is None:
        return Found(Command(words, assignments, folders, tuple(barriers)))
    if layer >= MAX_LAYERS:
        barriers.append(Barrier("firm", "perm.why.too_deep"))
        return Found(Command(words, assignments, folders, tuple(barriers)))
    barriers += [*inner.barriers, *_assignment_barriers(inner.assignments)]
    return _wrapping(Command(words, assignments, folders, tuple(barriers), inner.kind), inner, level, read, layer)


def _wrapping(outer: Command, inner: Inner, level: int, read: ReadScript, layer: int) -> Found:
    folders = frozenset[str]() if inner.kind == "remote" else None if inner.elsewhere else outer.folders
    children: list[Command] = []
    redirects: list[Redirect] = []
    barriers: list[Barrier] = []
    functions: set[str] = set()
    for argv in inner.commands:
        found = command_of(argv, (), folders, level, read, layer + 1)
        if inner.fills:
            outer, found = _filled_in(outer, found)
        children.append(found.command)
        redirects += found.redirects
        barriers += found.barriers
        functions |= found.functions
    for text in inner.scripts:
        script = read(text, folders, level + 1)
        children += script.commands
        redirects += script.redirects
        barriers += script.barriers
        functions |= script.functions
    command = Command(outer.words, outer.assignments, outer.folders, outer.barriers, outer.wrap, tuple(children))
    if inner.kind == "remote":
        return Found(command)
    return Found(command, tuple(redirects), tuple(barriers), frozenset(functions))


def _filled_in(outer: Command, found: Found) -> tuple[Command, Found]:
    """What `xargs` adds to a command is its own doing: a rule for `xargs` that names the command says that it may."""
    moved = [
        replace(b, key="perm.why.added", token=found.command.program)
        for b in found.command.barriers
        if b.key == "perm.why.made"
    ]
    kept = tuple(b for b in found.command.barriers if b.key != "perm.why.made")
    inner = replace(found.command, barriers=kept)
    return replace(outer, barriers=(*outer.barriers, *moved)), replace(found, command=inner)


_LISTS = re.compile(r"-[a-zA-Z]*[lL][a-zA-Z]*0?\Z|--files-with(?:out)?-match(?:es)?\Z")
_FIND_PRINTS = ("-printf", "-exec", "-execdir", "-ls")


def names_files(command: Command) -> bool:
    """Whether a command prints nothing but files below a folder that it names: no such name starts with a dash."""
    words = command.words[1:]
    name = program_name(command.program)
    if name == "find":
        starts = bool(words) and words[0].text[:1] not in ("-", "(", "!", ANY, ONE)
        return starts and not any(word.text in _FIND_PRINTS or word.made for word in words)
    if name not in ("grep", "rg") or not words:
        return False
    operands = [word for word in words if not word.text.startswith("-")]
    below = len(operands) > 1 and words[-1] is operands[-1] and words[-1].literal and not words[-1].glob
    return below and any(_LISTS.match(word.text) for word in words)


def fed_with_names(command: Command) -> Command:
    """`xargs` behind a list of files adds no option."""
    kept = tuple(barrier for barrier in command.barriers if barrier.key != "perm.why.added")
    return replace(command, barriers=kept) if command.wrap == "clear" else command


def _name_barriers(words: tuple[Word, ...]) -> list[Barrier]:
    """A command whose name only exists at run time cannot be judged by its name."""
    if not words:
        return []
    name = words[0]
    if not name.fixed or not name.text:
        return [Barrier("blind", "perm.why.dynamic", name.source)]
    if any(char.isspace() or char == "=" for char in name.text):
        return [Barrier("blind", "perm.why.characters", name.source)]
    if name.text in RESERVED_WORDS and name.text not in _COMMANDS and not name.quoted:
        return [Barrier("firm", "perm.why.syntax", name.source)]
    return []


_COMMANDS = ("time", "coproc")


def _for_itself(assignments: tuple[Assignment, ...], words: tuple[Word, ...]) -> tuple[Assignment, ...]:
    """Without `IFS=` before `read`, which only says how that one line is split."""
    splits = bool(words) and words[0].fixed and words[0].text in INPUT_NAMES
    return tuple(made for made in assignments if not (splits and made.name == "IFS"))


def _assignment_barriers(assignments: tuple[Assignment, ...]) -> list[Barrier]:
    barriers: list[Barrier] = []
    for assignment in assignments:
        if HARMLESS_VALUE.match(assignment.source):
            continue
        if DANGEROUS_NAME.match(assignment.name):
            barriers.append(Barrier("blind", "perm.why.assignment", assignment.name))
        elif assignment.exported and not HARMLESS_NAME.match(assignment.name):
            barriers.append(Barrier("flag", "perm.why.assignment", f"{assignment.name}="))
    return barriers
