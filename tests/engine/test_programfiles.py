from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from maia.core.messages import ToolCallPart
from maia.core.permission import Need
from maia.core.runtime import ProgramCall
from maia.engine.programfiles import before, changes_files, record


class Log:
    def __init__(self) -> None:
        self.kept: list[tuple[Any, ...]] = []

    def record(self, call_id: str, path: Path, before: bytes | None, after: bytes | None, mode: int | None) -> None:
        self.kept.append((call_id, path, before, after, mode))


def edit(*paths: str, tool: str = "Edit") -> ProgramCall:
    return ProgramCall(ToolCallPart("c1", tool, {}), tuple(Need(tool, "path", path) for path in paths))


def test_a_file_is_kept_as_it_was_and_as_it_became(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    seen = before(edit("a", "new", "same"), tmp_path)
    (tmp_path / "a").write_text("two")
    (tmp_path / "new").write_text("made")
    log = Log()
    record(log, "c1", seen)
    assert log.kept == [
        ("c1", tmp_path / "a", b"one", b"two", 0o644),
        ("c1", tmp_path / "new", None, b"made", 0o644),
    ]


def test_a_file_that_is_gone_can_come_back(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    seen = before(edit(str(tmp_path / "a")), tmp_path)
    (tmp_path / "a").unlink()
    log = Log()
    record(log, "c1", seen)
    assert log.kept == [("c1", tmp_path / "a", b"one", None, None)]


@pytest.mark.parametrize("path", ["a\x00b", ".", "circle", "x" * 5000])
def test_what_cannot_be_looked_at_is_left_out(tmp_path: Path, path: str) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    assert before(edit(path), tmp_path) == ()


def test_only_changes_of_files_count() -> None:
    assert changes_files(edit("a", tool="Write"))
    assert not changes_files(edit("a", tool="Read"))
    assert not changes_files(ProgramCall(ToolCallPart("c1", "Edit", {}), (Need("Edit", "name", "x"),)))
