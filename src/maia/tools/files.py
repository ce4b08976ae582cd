"""What Write and Edit share: the file as it is now, whether the session may change it, and the change itself."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from maia.core.errors import ToolProblem, UnsafeText
from maia.core.fileread import read_regular
from maia.core.filetext import FileText, decode, is_binary, shared_start, split_lines
from maia.core.filewrite import replace_file
from maia.core.ports import Hands
from maia.core.results import DiffBlock
from maia.tools import paths
from maia.tools.readlog import is_unchanged, state_of

WHOLE_DIFF_CHARS: Final = 64_000
"""Above this a `DiffBlock` holds only the changed lines and their surroundings: every one of them is journalled."""
_AROUND: Final = 3
_MAX_MATCHED_LINES: Final = 4000
"""Beyond this, lines that only moved are not told apart: matching takes time that grows with the square."""


@dataclass(frozen=True, slots=True)
class Existing:
    """A regular file as it was a moment ago. `given` is its path as the model wrote it."""

    path: Path
    given: str
    data: bytes
    stat: os.stat_result


def load(path: Path, given: str) -> Existing | None:
    """The file at the real path `path`, None when there is none. Raises `ToolProblem` for what cannot be changed."""
    try:
        data, stat = read_regular(path)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise paths.as_problem(problem, given) from None
    return Existing(path, given, data, stat)


def check_known(file: Existing, hands: Hands) -> None:
    """Raises `ToolProblem` unless the session has read the file and it is still what it was then (decisions §12)."""
    noted = hands.reads.seen(file.path)
    if noted is None:
        raise ToolProblem("tool.not_read", path=file.given)
    if not is_unchanged(noted, file.stat, file.data):
        raise ToolProblem("tool.changed_since_read", path=file.given)


def text_of(file: Existing) -> FileText:
    """The file's text. Raises `ToolProblem` for a binary file."""
    if is_binary(file.data):
        raise ToolProblem("tool.edit.binary", path=file.given)
    return decode(file.data)


def encoded(text: FileText, given: str) -> bytes:
    """The bytes to write, or a `ToolProblem` that names the character which the file's encoding does not have."""
    try:
        return text.encode()
    except UnsafeText as problem:
        raise ToolProblem(problem.key, path=given, **problem.values) from None


def save(path: Path, given: str, before: Existing | None, data: bytes, hands: Hands) -> None:
    """Write, remember for undo, and note that the session knows the new content."""
    try:
        stat = replace_file(path, data, before.stat if before else None)
    except OSError as problem:
        raise paths.as_problem(problem, given) from None
    hands.changes.record(hands.call_id, path, before.data if before else None, data, stat.st_mode & 0o7777)
    hands.reads.note(path, state_of(stat, data))


def diff_block(path: str, before: str, after: str) -> DiffBlock:
    """The change of a file, whole texts when they are short, else the changed part with some lines around it."""
    if len(before) + len(after) <= WHOLE_DIFF_CHARS:
        return DiffBlock(path, before, after)
    old, new = split_lines(before), split_lines(after)
    head = shared_start(old, new)
    tail = shared_start(old[head:][::-1], new[head:][::-1])
    first, kept = max(0, head - _AROUND), max(0, tail - _AROUND)
    return DiffBlock(
        path,
        "".join(old[first : len(old) - kept]),
        "".join(new[first : len(new) - kept]),
        first_line=first + 1,
    )


def changed_lines(before: str, after: str) -> tuple[int, int]:
    """How many lines came and went, for the row: `+2 −1`."""
    from collections import Counter
    from difflib import SequenceMatcher

    old, new = split_lines(before), split_lines(after)
    head = shared_start(old, new)
    tail = shared_start(old[head:][::-1], new[head:][::-1])
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(old) + len(new) > _MAX_MATCHED_LINES:
        return (Counter(new) - Counter(old)).total(), (Counter(old) - Counter(new)).total()
    kept = sum(block.size for block in SequenceMatcher(None, old, new).get_matching_blocks())
    return len(new) - kept, len(old) - kept
