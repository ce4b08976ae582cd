"""A shell script -> what it would do (`Script`), read from its syntax tree; what is not understood is a barrier."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from maia.permissions import shell_words
from maia.permissions.script import (
    Assignment,
    Barrier,
    Command,
    Folders,
    Script,
    Word,
)
from maia.permissions.shell_commands import command_of, fed_with_names, names_files
from maia.permissions.shell_findings import CD, Findings
from maia.permissions.shell_folders import START, After, union
from maia.permissions.shell_names import PATH_SET
from maia.permissions.shell_syntax import (
    ARITHMETIC,
    BACKTICKS,
    BLANK,
    SUBSCRIPT_CODE,
    apart,
    heredoc_closed,
    heredoc_quoted,
    joined_lines,
    parser,
    unreadable,
)
from maia.permissions.shell_values import known_values

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH: Final = 150
"""Nesting of the syntax tree beyond this is not followed: it asks."""
MAX_LEVEL: Final = 6
"""Scripts within scripts (`bash -c "bash -c …"`)."""
MAX_COMMANDS: Final = 1_000
"""Commands beyond this are not read: it asks."""


@lru_cache(maxsize=64)
def analyse(script: str) -> Script:
    """What a bash command line does. Never raises; a script that cannot be read has a `firm` barrier."""
    return _analyse_from(script, START, 0)


def _analyse_from(script: str, folders: Folders, level: int) -> Script:
    """The same for a script inside a command (`bash -c`) that starts in `folders`, `level` scripts deep."""
    problem = "perm.why.too_deep" if level > MAX_LEVEL else unreadable(script)
    if problem:
        return Script(barriers=(Barrier("firm", problem),))
    data = joined_lines(script.encode("utf-8", "surrogatepass"))
    root = parser().parse(data).root_node
    walker = _Walker(data, level, known_values(root, data, inside=level > 0))
    if root.has_error:
        walker.bar("firm", "perm.why.syntax")
    if not (BLANK.fullmatch(data, 0, root.start_byte) and BLANK.fullmatch(data, root.end_byte)):
        walker.bar("firm", "perm.why.characters")
    if SUBSCRIPT_CODE.search(script):
        walker.bar("blind", "perm.why.dynamic", "$((…))")
    if ARITHMETIC.search(script) and (found := PATH_SET.search(script)):
        walker.bar("blind", "perm.why.assignment", found.group())
    walker.walk(root, folders, 0)
    return Script(tuple(walker.commands), tuple(walker.redirects), tuple(walker.barriers), frozenset(walker.functions))


_HEREDOC_PARTS = frozenset({"comment", "heredoc_start", "heredoc_end", "heredoc_content"})
_REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_LOOPS = frozenset({"for_statement", "while_statement", "c_style_for_statement"})
_SEQUENCES = frozenset(
    {"program", "compound_statement", "ERROR", "if_statement", "case_statement", "case_item", "elif_clause"}
    | {"else_clause", "do_group", "for_statement", "while_statement", "c_style_for_statement", "function_definition"}
)


class _Walker(Findings):
    """One pass over a syntax tree; fills `commands`, `redirects` and `barriers` in the script's order."""

    def __init__(self, data: bytes, level: int, values: dict[str, str]) -> None:
        super().__init__(data, level, values, _analyse_from)
        self.trailing: dict[int, list[Node]] = {}

    def walk(self, node: Node, folders: Folders, depth: int) -> After:
        """Read one statement that starts in `folders`, with the redirections behind it."""
        redirects = self.trailing.pop(node.id, None)
        if len(self.commands) > MAX_COMMANDS:
            self.bar("firm", "perm.why.too_long")
            return After(folders, folders)
        if redirects is None:
            return self._statement(node, folders, depth)
        if node.type == "command":
            further = [word for child in redirects for word in self.further(child)]
            after = self._command(node, folders, depth, further)
        else:
            after = self._statement(node, folders, depth)
        return self._behind(redirects, after, folders, depth, further_used=node.type == "command")

    def _statement(self, node: Node, folders: Folders, depth: int) -> After:
        same = After(folders, folders)
        if depth > MAX_DEPTH:
            self.bar("firm", "perm.why.too_deep")
            return same
        kind = node.type
        match kind:
            case "command":
                return self._command(node, folders, depth)
            case "list":
                return self._list(node, folders, depth)
            case "pipeline" | "subshell":
                self._each(node, folders, depth)
                return same
            case "negated_command":
                after = self._sequence(node, folders, depth)
                return After(after.failed, after.ok)
            case "redirected_statement":
                return self._redirected(node, folders, depth)
            case "variable_assignment" | "variable_assignments":
                self._assign_only(node, folders, depth)
                return same
            case "declaration_command" | "unset_command":
                self._declare(node, folders, depth)
                return same
            case _ if kind in _REDIRECTS:
                return self._redirect(node, folders, depth)
            case _ if kind in _LOOPS or kind == "function_definition":
                return self._loop(node, folders, depth)
            case _ if kind in _SEQUENCES:
                return (
                    self._branches(node, folders, depth) if kind != "program" else self._sequence(node, folders, depth)
                )
            case _:
                self.scan(node, folders, depth)
                return same

    # Statements

    def _sequence(self, node: Node, folders: Folders, depth: int) -> After:
        self.bar_gaps(node)
        after = After(folders, folders)
        for child in node.children:
            if child.is_named:
                after = self.walk(child, after.either, depth + 1)
        return after

    def _each(self, node: Node, folders: Folders, depth: int) -> None:
        """Commands that run in shells of their own: none moves another."""
        self.bar_gaps(node)
        if node.type == "subshell":
            self._sequence(node, folders, depth)
            return
        feeding: Command | None = None
        for child in node.children:
            if not child.is_named:
                continue
            start = len(self.commands)
            self.walk(child, folders, depth + 1)
            if feeding is not None and len(self.commands) > start and names_files(feeding):
                self.commands[start] = fed_with_names(self.commands[start])
            feeding = self.commands[-1] if len(self.commands) == start + 1 else None

    def _list(self, node: Node, folders: Folders, depth: int) -> After:
        """`a && b`, `a || b`: nested to the left, so they are walked from the innermost on."""
        parts: list[tuple[str, Node]] = []
        while node.type == "list" and node.child_count == 3:
            self.bar_gaps(node)
            parts.append((node.children[1].type, node.children[2]))
            node = node.children[0]
        if node.type == "list":
            self._sequence(node, folders, depth)
            after = After(None, None)
        else:
            after = self.walk(node, folders, depth + 1)
        for operator, right in reversed(parts):
            after = self._joined(after, operator, right, depth)
        return after

    def _joined(self, left: After, operator: str, right: Node, depth: int) -> After:
        start = {"&&": left.ok, "||": left.failed}.get(operator, left.either)
        after = self.walk(right, start, depth + 1)
        if operator == "&&":
            return After(after.ok, union(left.failed, after.failed))
        if operator == "||":
            return After(union(left.ok, after.ok), after.failed)
        return after

    def _branches(self, node: Node, folders: Folders, depth: int) -> After:
        """Any of the parts may run, after any of those before it."""
        if node.type == "compound_statement" and node.children[0].type != "((":
            return self._sequence(node, folders, depth)
        self.bar_gaps(node)
        for child in node.children:
            if child.is_named:
                folders = union(folders, self.walk(child, folders, depth + 1).either)
        return After(folders, folders)

    def _loop(self, node: Node, folders: Folders, depth: int) -> After:
        """A body that changes the folder may run from anywhere; a function's body runs where it is called."""
        if node.type == "function_definition":
            self.function(node)
        elif node.type == "for_statement":
            self.name_assigned(node.child_by_field_name("variable"))
        if CD.search(self.data, node.start_byte, node.end_byte):
            folders = None
        elif node.type == "function_definition" and CD.search(self.data):
            self._branches(node, None, depth)
            return After(folders, folders)
        return self._branches(node, folders, depth)

    # Commands

    def _command(self, node: Node, folders: Folders, depth: int, further: Sequence[Word] = ()) -> After:
        assignments: list[Assignment] = []
        groups: list[list[Node]] = []
        end = -1
        self.bar_gaps(node)
        for child in node.children:
            kind = child.type
            if kind == "variable_assignment" and not groups:
                assignments.append(self.assignment(child, exported=True))
                self.scan(child, folders, depth)
            elif kind in _REDIRECTS:
                self.walk(child, folders, depth + 1)
            elif groups and end == child.start_byte:
                groups[-1].append(child)
            else:
                groups.append([child])
            end = child.end_byte
            if child.child_count and kind not in _REDIRECTS and kind != "variable_assignment":
                self.scan(child, folders, depth)
        words = self.split([*map(self.word, groups), *further])
        return self.run(words, tuple(assignments), folders)

    def _assign_only(self, node: Node, folders: Folders, depth: int) -> None:
        nodes = [node] if node.type == "variable_assignment" else [c for c in node.children if c.is_named]
        made = tuple(self.assignment(child, exported=False) for child in nodes)
        self.scan(node, folders, depth)
        found = command_of((), made, folders, self.level, _analyse_from)
        self.commands.append(found.command)

    def _declare(self, node: Node, folders: Folders, depth: int) -> None:
        """`export A=b`, `declare`, `local`, `readonly`, `typeset`, `unset`."""
        words: list[Word] = []
        made: list[Assignment] = []
        flags = shell_words.decode(node.text or b"").split("=")[0]
        exported = node.children[0].type == "export" or re.search(r"\s-\w*x", flags) is not None
        for child in node.children:
            words.append(self.word([child]))
            if child.type == "variable_assignment":
                made.append(self.assignment(child, exported=exported))
            elif child.type in ("string", "concatenation", "simple_expansion", "expansion"):
                self.bar("blind", "perm.why.assignment", words[-1].source)
        self.scan(node, folders, depth)
        self.run(tuple(words), tuple(made), folders)

    # Redirections

    def _redirected(self, node: Node, folders: Folders, depth: int) -> After:
        """Redirections behind a list or a pipeline belong to its last command, and so do the words behind them.

        The grammar puts the whole list inside (`cd a && git 2>&1 push`), bash only its last command.
        """
        self.bar_gaps(node)
        redirects = [child for child in node.children if child.type in _REDIRECTS]
        bodies = [child for child in node.children if child.is_named and child.type not in _REDIRECTS]
        if len(bodies) != 1:
            after = self._sequence_of(bodies, folders, depth)
            return self._behind(redirects, after, folders, depth, further_used=False)
        last = bodies[0]
        while last.type in ("list", "pipeline", "negated_command") and last.child_count:
            last = last.children[-1]
        self.trailing[last.id] = redirects
        return self.walk(bodies[0], folders, depth + 1)

    def _sequence_of(self, nodes: list[Node], folders: Folders, depth: int) -> After:
        after = After(folders, folders)
        for node in nodes:
            after = self.walk(node, after.either, depth + 1)
        return after

    def _behind(
        self, redirects: list[Node], after: After, folders: Folders, depth: int, *, further_used: bool
    ) -> After:
        """Open what stands behind a statement that starts in `folders`; a here-document may bring more of a list."""
        if not further_used and any(self.further(child) for child in redirects):
            self.bar("firm", "perm.why.syntax")
        for child in redirects:
            moved = self.walk(child, folders, depth + 1)
            if child.type == "heredoc_redirect":
                after = After(union(after.ok, moved.ok), union(after.failed, moved.failed))
        return after

    def _redirect(self, node: Node, folders: Folders, depth: int) -> After:
        after = After(folders, folders)
        self.bar_gaps(node)
        if node.type == "file_redirect":
            self.file_redirect(node, folders)
            self.scan(node, folders, depth)
        elif node.type == "herestring_redirect":
            self.scan(node, folders, depth)
        else:
            for child in node.children:
                if child.type == "heredoc_body":
                    self._heredoc_body(node, child, folders, depth)
                elif child.is_named and child.type not in _HEREDOC_PARTS:
                    after = self.walk(child, after.either, depth + 1)
        return after

    def _heredoc_body(self, node: Node, body: Node, folders: Folders, depth: int) -> None:
        """Without quotes around its end word a here-document is expanded; the grammar does not see backticks in it."""
        if not heredoc_closed(node, self.data):
            self.bar("firm", "perm.why.syntax", "<<")
        elif heredoc_quoted(node):
            return
        self.scan(body, folders, depth)
        text = shell_words.decode(self.data[node.start_byte : node.end_byte]).partition("\n")[2]
        for found in BACKTICKS.finditer(text):
            self.bar("firm", "perm.why.substitution", found.group()[:40])
            script = _analyse_from(re.sub(r"\\([`$\\])", r"\1", found.group(1)), folders, self.level + 1)
            self.commands += script.commands
            self.redirects += script.redirects
        told = any(barrier.key == "perm.why.substitution" for barrier in self.barriers)
        if not told and re.search(r"(?<!\\)(?:\\\\)*\$\(", text):
            self.bar("firm", "perm.why.substitution", "<<")

    # What hides inside

    def scan(self, node: Node, folders: Folders, depth: int) -> None:
        """Find substitutions anywhere below a node: each is a barrier (T6.05), and what it runs is read (T6.04)."""
        todo = [(node, depth)]
        while todo:
            current, deep = todo.pop()
            if deep > MAX_DEPTH:
                self.bar("firm", "perm.why.too_deep")
                return
            kind = current.type
            if kind in ("command_substitution", "process_substitution"):
                self.bar("firm", "perm.why.substitution", shell_words.decode((current.text or b"")[:40]).strip())
                for child in current.children:
                    if child.is_named:
                        self.walk(child, folders, deep + 1)
                continue
            if kind == "expansion":
                self.expansion(current)
            elif kind == "simple_expansion" and current.child_count == 2 and apart(current):
                self.bar("firm", "perm.why.characters")
            elif kind == "ERROR":
                self.walk(current, folders, deep + 1)
                continue
            todo += [(child, deep + 1) for child in reversed(current.children) if child.child_count]
