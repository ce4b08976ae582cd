"""Undo, redo and the whole difference of one session, over what its file tools recorded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from maia.core.errors import ToolProblem
from maia.core.filetext import decode
from maia.core.results import DiffBlock
from maia.engine.views import Change
from maia.launch import Folders
from maia.store.changes import Changes, UndoReport


class SessionUndo:
    """The engine's `Undo` port. A turn's changes go back together, or none of them with the reason."""

    def __init__(self, changes: Changes, folders: Folders) -> None:
        self._changes = changes
        self._folders = folders

    def undo(self) -> Sequence[Change]:
        """Take back the last turn that changed files. Raises `ToolProblem` where the person edited one since."""
        return self._shown(self._changes.undo("turn"))

    def redo(self) -> Sequence[Change]:
        """Make again what the last undo took back. Raises `ToolProblem` likewise."""
        return self._shown(self._changes.redo("turn"))

    def diff(self) -> Sequence[DiffBlock]:
        """Every file that differs from what this session found, in the order of paths."""
        first: dict[Path, bytes | None] = {}
        for change in self._changes.history():
            if change.path not in first and not change.undone:
                first[change.path] = self._changes.content(change.before)
        blocks = [self._block(path, before) for path, before in sorted(first.items())]
        return [block for block in blocks if block.before != block.after]

    def _block(self, path: Path, before: bytes | None) -> DiffBlock:
        try:
            after = path.read_bytes()
        except OSError:
            after = b""
        return DiffBlock(self._folders.shown(path), _text(before or b""), _text(after))

    def _shown(self, report: UndoReport) -> Sequence[Change]:
        if report.outcome == "refused" and report.reason is not None:
            raise ToolProblem(report.reason.key, **report.reason.values)
        return [
            Change(self._folders.shown(file.path), "removed" if file.action == "removed" else "restored")
            for file in report.files
        ]


def _text(data: bytes) -> str:
    return decode(data).text
