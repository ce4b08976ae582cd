"""What a walk through a script finds, and how one word, command or redirection of it becomes a finding."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from maia.permissions import shell_words
from maia.permissions.script import (
    Assignment,
    Barrier,
    BarrierKind,
    Command,
    Folders,
    Redirect,
    RedirectKind,
    Word,
)
from maia.permissions.shell_commands import ReadScript, command_of
from maia.permissions.shell_folders import After, cd_goal, entered, path_of
from maia.permissions.shell_names import DANGEROUS_NAME
from maia.permissions.shell_syntax import gap_problem, redirect_words
from maia.permissions.wildcard import SEP

if TYPE_CHECKING:
    from tree_sitter import Node

_ARGUMENTS = frozenset(
    {
        "word",
        "string",
        "raw_string",
        "ansi_c_string",
        "translated_string",
        "concatenation",
        "number",
        "simple_expansion",
    }
    | {"expansion", "command_substitution", "process_substitution", "arithmetic_expansion", "brace_expression"}
)
CD = re.compile(rb"\b(?:cd|pushd|popd|eval|source|\.)[ \t\n]")
"""A script in which the folder may change."""
_KINDS: dict[str, RedirectKind] = {
    "<": "read", ">": "write", ">>": "write", ">|": "write", "&>": "write", "&>>": "write", ">&": "write", "<>": "both",
    "<&": "read", ">!": "write",
}  # fmt: skip


class Findings:
    """Commands, redirections, barriers and functions in the script's order. `read` analyses a script within it."""

    def __init__(self, data: bytes, level: int, values: dict[str, str], read: ReadScript) -> None:
        self.data = data
        self.level = level
        self.values = values
        self.read = read
        self.commands: list[Command] = []
        self.redirects: list[Redirect] = []
        self.barriers: list[Barrier] = []
        self.functions: set[str] = set()

    def bar(self, kind: BarrierKind, key: str, token: str = "") -> None:
        barrier = Barrier(kind, key, token)
        if barrier not in self.barriers:
            self.barriers.append(barrier)

    def bar_gaps(self, node: Node) -> None:
        problem = gap_problem(node, self.data)
        if problem:
            self.bar("firm", problem, node.type)

    def word(self, nodes: list[Node]) -> Word:
        word = shell_words.build(nodes, self.data, self.values.get)
        if word.torn:
            self.bar("firm", "perm.why.syntax", word.source)
        return word

    def split(self, words: Iterable[Word]) -> tuple[Word, ...]:
        """Words, with those apart that a known variable's blanks separate and braces multiplied."""
        out: list[Word] = []
        for word in words:
            if SEP in word.text:
                out += [Word(part, part, literal=False, pattern=part) for part in word.text.split(SEP)]
                continue
            out.append(word)
            out += [Word(choice, "", pattern=choice, braces=True) for choice in word.choices]
        return tuple(out)

    def assignment(self, node: Node, *, exported: bool) -> Assignment:
        name = node.children[0] if node.children else node
        text = shell_words.decode(name.text or b"").partition("[")[0]
        source = " ".join(shell_words.decode(node.text or b"").split())
        return Assignment(text, source, exported)

    def name_assigned(self, node: Node | None) -> None:
        name = shell_words.decode(node.text or b"") if node is not None else ""
        if DANGEROUS_NAME.match(name):
            self.bar("blind", "perm.why.assignment", name)

    def function(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self.functions.add(self.word([name]).text)

    def run(self, words: tuple[Word, ...], assignments: tuple[Assignment, ...], folders: Folders) -> After:
        found = command_of(words, assignments, folders, self.level, self.read)
        command = found.command
        self.commands.append(command)
        self.redirects += found.redirects
        for barrier in found.barriers:
            self.bar(barrier.kind, barrier.key, barrier.token)
        self.functions |= found.functions
        return self.moved(command, folders)

    def moved(self, command: Command, folders: Folders) -> After:
        while command.program in ("command", "builtin") and len(command.children) == 1:
            command = command.children[0]
        program = command.program
        if program in ("popd", "eval", "source", ".") or program in self.functions:
            moves = program not in self.functions or CD.search(self.data) is not None
            return After(None, None) if moves else After(folders, folders)
        if program not in ("cd", "pushd"):
            return After(folders, folders)
        goal = cd_goal(command)
        return After(None if goal is None else entered(folders, goal), folders)

    def further(self, node: Node) -> list[Word]:
        if node.type == "file_redirect":
            return [self.word(group) for group in redirect_words(node)[1][1:]]
        if node.type != "heredoc_redirect":
            return []
        words = [self.word([child]) for child in node.children if child.type in _ARGUMENTS]
        dashed = self.data[: node.start_byte].rstrip(b" \t").endswith((b" -", b"\t-"))
        return [Word("-", "-", pattern="-"), *words] if dashed else words

    def file_redirect(self, node: Node, folders: Folders) -> None:
        operator, groups = redirect_words(node)
        if operator in ("<&-", ">&-"):
            return
        if operator not in _KINDS or not groups:
            self.bar("firm", "perm.why.syntax")
            return
        word = self.word(groups[0])
        if operator in (">&", "<&") and re.search(r"[$`]", word.text):
            # bash expands the word of `>&` once more after removing its quotes: `>& '$(cmd)'` runs cmd (5.2, measured)
            self.bar("firm", "perm.why.substitution", word.source)
        if operator in (">&", "<&") and re.fullmatch(r"\d+-?|-", word.text):
            return
        target = path_of(word) if word.fixed else None
        fd = node.children[0].type == "file_descriptor" and shell_words.decode(node.children[0].text or b"")
        source = f"{fd or ''}{operator} {word.source}"
        self.redirects.append(Redirect(_KINDS[operator], target, source, folders))

    def expansion(self, node: Node) -> None:
        """`${x@P}` runs substitutions in a value, `${!x}` follows a name that is data."""
        text = shell_words.decode(node.text or b"")
        if re.match(r"\$\{!\w+[^\w*@\[]|\$\{!\w+\}", text) or re.search(r"@[PEAa]\}\Z", text):
            self.bar("blind", "perm.why.dynamic", text)
        assigned = re.match(r"\$\{(\w+):?=", text)
        if assigned and DANGEROUS_NAME.match(assigned.group(1)):
            self.bar("blind", "perm.why.assignment", assigned.group(1))
