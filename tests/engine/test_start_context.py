"""The start context of a folder (T1.07): which file is read, and what is said of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from maia.core.events import Notice
from maia.core.requests import Section
from maia.engine.context import StartContext, read_start_context

FOUND = {
    "MAIA.md before the others": (("MAIA.md", "CLAUDE.md", "AGENTS.md"), "MAIA.md"),
    "else CLAUDE.md": (("CLAUDE.md", "AGENTS.md"), "CLAUDE.md"),
    "else the standard that other agents read": (("AGENTS.md", "README.md"), "AGENTS.md"),
}


@pytest.mark.parametrize(("names", "read"), FOUND.values(), ids=FOUND)
def test_the_first_of_the_known_names_is_read_and_named(tmp_path: Path, names: tuple[str, ...], read: str) -> None:
    for name in names:
        (tmp_path / name).write_text(f"I am {name}.\n", "utf-8")
    section = Section("project", f"I am {read}.\n", read)
    assert read_start_context(tmp_path) == StartContext(section, (Notice("info", "start.context", {"file": read}),))


def test_without_any_a_warning_says_so_and_the_parent_is_not_searched(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "launch" / ".claude"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "CLAUDE.md").write_text("not mine\n", "utf-8")
    assert read_start_context(tmp_path / "launch") == StartContext(None, (Notice("warn", "start.no_context"),))


def test_a_very_long_one_loses_its_middle_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "MAIA.md").write_text("x" * 100_000, "utf-8")
    found = read_start_context(tmp_path)
    assert found.section is not None
    assert found.section.cut_chars >= 40_000
    assert [notice.key for notice in found.notices] == ["start.context", "start.context_cut"]


def test_a_pipe_or_a_folder_of_that_name_is_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "MAIA.md")
    (tmp_path / "CLAUDE.md").mkdir()
    assert read_start_context(tmp_path) == StartContext(None, (Notice("warn", "start.no_context"),))
