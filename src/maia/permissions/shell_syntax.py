"""The syntax tree of a shell script, and where tree-sitter's grammar and bash read a text differently.

Each difference here was found by running bash beside the analysis. What cannot be put right is a reason to ask.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from maia.permissions.shell_names import RESERVED_WORDS
from maia.permissions.wildcard import ANY, ONE, SEP

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_CHARS: Final = 100_000
"""A longer script is not read: it asks."""
MAX_NESTING: Final = 500
"""Brackets open at once, beyond which a script is not even parsed: it asks."""
MAX_JOINS: Final = 4
"""How often continuations are taken out; joining lines may show that a quote opens elsewhere."""

SUBSCRIPT_CODE = re.compile(r"\w\[[^\]\n]*(?:\$\(|`)")
"""A substitution inside a subscript runs when bash evaluates the text as arithmetic, even where it was quoted data."""
ARITHMETIC = re.compile(r"\(\(|\[|\blet\b|\$\{|\bdeclare\b|\btypeset\b|\blocal\b")
"""Where bash may evaluate a text as arithmetic."""
BLANK = re.compile(rb"[ \t\n]*")
_DASH_OR_BLANK = re.compile(rb"[ \t]*(?:[ \t]-[ \t]*)?")
"""The grammar loses a lone dash before a here-document (`git commit -F - <<EOF`); `shell.py` finds it again."""


_ONE_LINE = re.compile(rb"[ \t]*")
_GAPS = {
    "command": _ONE_LINE,
    "redirected_statement": _DASH_OR_BLANK,
    "file_redirect": _ONE_LINE,
    "herestring_redirect": _ONE_LINE,
}


def apart(node: Node) -> bool:
    """Whether the grammar joined a `$` with a name on the next line (`<<<$⏎name`)."""
    return node.children[0].end_byte != node.children[1].start_byte


_STANDALONE = RESERVED_WORDS - {"(", ")", "((", "))", "]]", "time", "coproc"}
_ENDING_WITH_A_WORD = _STANDALONE | {"variable_assignment"}
_AFTER_WORD = re.compile(rb"[ \t\n;&|()<>]|\Z")
"""The grammar takes `{hit,x}` for a group; to bash a reserved word ends where a word ends, and so does `x=()`."""


_CONTINUATION = re.compile(rb"(?<!\\)(?:\\\\)*(\\\n)")
_KEEPS_CONTINUATIONS = frozenset({"raw_string", "ansi_c_string", "comment"})


def joined_lines(data: bytes) -> bytes:
    """Take out continuations before the script is read, as bash does: `to\\⏎uch` is one word, whatever it becomes.

    The grammar takes them for blanks. They stay in single quotes, comments and quoted here-documents.
    """
    for _ in range(MAX_JOINS):
        places = [found.start(1) for found in _CONTINUATION.finditer(data)]
        if not places:
            break
        root = parser().parse(data).root_node
        taken = [at for at in places if not _is_data(root, at)]
        if not taken:
            break
        edges = [0, *(edge for at in taken for edge in (at, at + 2)), len(data)]
        data = b"".join(data[edges[i] : edges[i + 1]] for i in range(0, len(edges), 2))
    return data


def _is_data(root: Node, at: int) -> bool:
    node = root.descendant_for_byte_range(at, at + 1)
    while node is not None:
        if node.type in _KEEPS_CONTINUATIONS:
            return True
        if node.type == "heredoc_body":
            return node.parent is not None and heredoc_quoted(node.parent)
        node = node.parent
    return False


def heredoc_quoted(node: Node) -> bool:
    """Whether a here-document's end word has quotes, so that its text is data."""
    start = next((child for child in node.children if child.type == "heredoc_start"), None)
    return start is not None and re.search(rb"['\"\\]", start.text or b"") is not None


BACKTICKS = re.compile(r"(?<!\\)(?:\\\\)*`((?:\\.|[^`\\])*)`?", re.DOTALL)


def heredoc_closed(node: Node, data: bytes) -> bool:
    """Whether a here-document ends where bash ends it: at the first line that is its end word."""
    start = next((child for child in node.children if child.type == "heredoc_start"), None)
    end = next((child for child in node.children if child.type == "heredoc_end"), None)
    if start is None or end is None:
        return False
    word = re.sub(rb"['\"\\]", b"", start.text or b"")
    lines = data[start.end_byte : end.end_byte].split(b"\n")
    strip = b"\t" if node.children[0].type == "<<-" else b""
    bodies = [line.lstrip(strip) if strip else line for line in lines[1:]]
    return bool(bodies) and bodies[-1] == word and word not in bodies[:-1] and data[end.end_byte :][:1] in (b"", b"\n")


def unreadable(script: str) -> str | None:
    """The reason why a script is not even parsed, or None."""
    if len(script) > MAX_CHARS:
        return "perm.why.too_long"
    if any(char in script for char in (SEP, ANY, ONE)):
        return "perm.why.characters"
    if len(script) > MAX_NESTING and _nesting(script) > MAX_NESTING:
        return "perm.why.too_deep"
    return None


def _nesting(script: str) -> int:
    """How many brackets stand open at once; a bound before parsing, whose time grows with it."""
    depth = deepest = 0
    for char in _BRACKETS.findall(script):
        depth = depth + 1 if char in "({[" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


_BRACKETS = re.compile(r"[(){}\[\]]")


@lru_cache(maxsize=1)
def parser() -> Parser:
    """The parser, made at the first command."""
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def redirect_words(node: Node) -> tuple[str, list[list[Node]]]:
    """The operator, and the words behind it: the file, then words of the command."""
    operator = ""
    groups: list[list[Node]] = []
    end = -1
    for child in node.children:
        if not operator and not child.is_named:
            operator = child.type
        elif groups and end == child.start_byte:
            groups[-1].append(child)
        elif operator:
            groups.append([child])
        end = child.end_byte
    return operator, groups


def gap_problem(node: Node, data: bytes) -> str | None:
    """What stands between two parts of a statement and is no blank: a reason, or None.

    The grammar takes other characters for blanks (a carriage return, for one) that bash puts into a word.
    """
    at = node.start_byte
    blank = _GAPS.get(node.type, BLANK)
    for child in node.children:
        if child.start_byte > at and not blank.fullmatch(data, at, child.start_byte):
            return "perm.why.characters"
        at = child.end_byte
        if child.type in _ENDING_WITH_A_WORD and not _AFTER_WORD.match(data, at):
            return "perm.why.syntax"
    if node.child_count and not BLANK.fullmatch(data, at, node.end_byte):
        return "perm.why.characters"
    return None
