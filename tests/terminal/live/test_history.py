from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maia.terminal import history
from maia.terminal.history import History


def test_entries_outlive_the_session_whatever_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "home" / "history"
    first = History(path)
    for line in ("one", "two\nlines", "é « » 😀", 'quotes " and \\'):
        first.add(line)
    assert History(path).entries() == ["one", "two\nlines", "é « » 😀", 'quotes " and \\']
    assert path.stat().st_mode & 0o777 == 0o600


def test_repeats_blanks_and_lines_that_begin_with_a_space_are_not_kept(tmp_path: Path) -> None:
    kept = History(tmp_path / "history")
    for line in ("a", "a", "  ", " secret", "", "b"):
        kept.add(line)
    assert History(tmp_path / "history").entries() == ["a", "b"]


def test_a_torn_or_foreign_line_is_skipped_and_the_next_one_stands_on_its_own(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(b'"one"\nnot json\n{"a": 1}\n"torn')
    kept = History(path)
    assert kept.entries() == ["one"]
    kept.add("two")
    assert History(path).entries() == ["one", "two"]


def test_search_finds_the_newest_and_then_older_ones() -> None:
    kept = History(None)
    for line in ("git push", "ls", "GIT status"):
        kept.add(line)
    assert kept.search("git") == 2
    assert kept.search("git", 2) == 0
    assert kept.search("git", 0) is None
    assert kept.search("nothing") is None


@pytest.mark.parametrize("kind", ["folder", "fifo", "no right"])
def test_a_file_that_cannot_be_used_makes_no_noise(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "history"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        (tmp_path / "file").write_text("")
        path = tmp_path / "file" / "history"
    kept = History(path)
    kept.add("line")
    assert kept.entries() == ["line"]


def write_many(path: Path, name: str) -> None:
    kept = History(path)
    for place in range(200):
        kept.add(f"{name} {place}")


def test_two_terminals_never_mix_or_lose_lines(tmp_path: Path) -> None:
    path = tmp_path / "history"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_many, args=(path, name)) for name in ("a", "b")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert sorted(History(path).entries()) == sorted(f"{name} {place}" for name in ("a", "b") for place in range(200))


def test_a_file_that_has_grown_too_long_keeps_its_newest_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "_FULL", 2_000)
    path = tmp_path / "history"
    kept = History(path)
    for place in range(400):
        kept.add(f"entry {place}")
    assert path.stat().st_size < 30_000
    assert History(path).entries()[-1] == "entry 399"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), max_size=6))
def test_what_is_added_is_read_again(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "history"
    path.unlink(missing_ok=True)
    kept = History(path)
    for line in lines:
        kept.add(line)
    assert History(path).entries() == kept.entries()
