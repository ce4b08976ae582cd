import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.terminal.fileindex import FileIndex, Found, PathTable, list_paths


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("src/app.py", "src/deep/er/main.py", "docs/main.md", "README.md", "build/out.o", ".env.example"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    return tmp_path


def git(tree: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=tree, check=True, capture_output=True)


@pytest.fixture
def repository(tree: Path) -> Path:
    git(tree, "init", "-q")
    (tree / ".gitignore").write_text("build/\n")
    git(tree, "add", "README.md", "src")
    git(tree, "commit", "-qm", "x")
    return tree


def test_git_gives_tracked_and_new_files_without_ignored_and_deleted_ones(repository: Path) -> None:
    (repository / "src/app.py").unlink()
    paths, cut = list_paths(repository)
    assert (sorted(paths), cut) == (
        [".env.example", ".gitignore", "README.md", "docs/main.md", "src/deep/er/main.py"],
        False,
    )


def test_paths_are_relative_to_the_launch_folder(repository: Path) -> None:
    assert list_paths(repository / "src") == (["app.py", "deep/er/main.py"], False)


def test_a_repository_cannot_start_a_program(repository: Path) -> None:
    hook = repository / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch {repository}/started\n")
    hook.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(hook))
    list_paths(repository)
    assert not (repository / "started").exists()


def test_without_git_the_folder_is_walked(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "node_modules").mkdir()
    (tree / "node_modules/x.js").touch()
    os.symlink(tree, tree / "src/loop")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tree.parent))
    paths, cut = list_paths(tree)
    assert not cut
    assert sorted(paths) == [
        ".env.example",
        "README.md",
        "build/out.o",
        "docs/main.md",
        "src/app.py",
        "src/deep/er/main.py",
        "src/loop",
    ]
    monkeypatch.setenv("PATH", "")
    assert list_paths(tree) == (paths, cut)


def test_a_walk_that_is_cut_keeps_the_nearest_files(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    paths, cut = list_paths(tree, limit=3)
    assert cut
    assert len(paths) == 3
    assert {"README.md", ".env.example"} <= set(paths)


def test_a_folder_that_is_not_there_gives_nothing(tmp_path: Path) -> None:
    assert list_paths(tmp_path / "no") == ([], False)


def test_names_that_cannot_be_typed_are_left_out(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    (tree / "a\nb").touch()
    Path(os.fsdecode(os.fsencode(tree) + b"/\xff\xfe")).touch()
    (tree / "Capture\u202fAM.png").touch()
    paths, _ = list_paths(tree)
    assert not any("\n" in path or not path.replace("\u202f", " ").isprintable() for path in paths)
    assert "Capture\u202fAM.png" in paths


RANKED = [
    ("names that begin with it, the nearest first", "main", ["main.md", "docs/main.py", "a/b/main.c", "xmain.py"]),
    ("a part of the path", "docs/", ["docs/", "docs/main.py"]),
    ("an end", ".c", ["a/b/main.c"]),
    ("letters in order", "dmp", ["docs/main.py"]),
    ("capitals do not matter", "DOCS", ["docs/", "docs/main.py"]),
    ("nothing", "zzz", []),
    ("a regular expression is only text", ".*", []),
]


@pytest.mark.parametrize(("query", "expected"), [row[1:] for row in RANKED], ids=[row[0] for row in RANKED])
def test_paths_are_ranked(query: str, expected: list[str]) -> None:
    table = PathTable(["a/b/main.c", "docs/", "docs/main.py", "main.md", "xmain.py"])
    assert table.search(query) == (expected, False)


def test_accents_match_in_either_normal_form() -> None:
    assert PathTable(["e\u0301te\u0301.txt"]).search("été")[0] == ["e\u0301te\u0301.txt"]


PATHS = st.lists(st.text(st.sampled_from("abAB/._é"), min_size=1, max_size=8), unique=True, max_size=20)


@given(PATHS, st.text(st.sampled_from("abAB/._é"), max_size=4))
def test_the_fast_search_finds_what_a_plain_one_finds(paths: list[str], query: str) -> None:
    found, more = PathTable(paths).search(query, limit=100)
    assert not more
    assert set(found) == {path for path in paths if _holds(path.lower(), query.lower())}
    assert len(found) == len(set(found))


def _holds(path: str, query: str) -> bool:
    rest = iter(path)
    return query in path or all(char in rest for char in query)


def test_a_search_stops_at_its_limit_and_says_so() -> None:
    table = PathTable([f"a{n}" for n in range(100)])
    found, more = table.search("a", limit=10)
    assert (len(found), more) == (10, True)


def test_the_index_is_made_in_the_background_and_tells_when_it_is_ready(tree: Path) -> None:
    ready: list[bool] = []
    index = FileIndex(tree, tree / "home", on_ready=lambda: ready.append(True))
    assert index.search("main").note in ("indexing", "")
    assert index.wait(20)
    assert ready == [True]
    assert index.search("main").paths == ("docs/main.md", "src/deep/er/main.py")
    assert index.search("src").paths == ("src/", "src/deep/", "src/app.py", "src/deep/er/", "src/deep/er/main.py")


def test_a_stale_index_is_made_again(tree: Path) -> None:
    now = [0.0]
    index = FileIndex(tree, tree / "home", clock=lambda: now[0])
    index.refresh()
    assert index.wait(20)
    (tree / "newcomer.txt").touch()
    index.search("newcomer")
    index.wait(20)
    assert index.search("newcomer").paths == ()
    now[0] = 60.0
    index.search("newcomer")
    assert index.wait(20)
    assert index.search("newcomer").paths == ("newcomer.txt",)


def test_paths_outside_are_read_from_their_folder(tree: Path) -> None:
    home = tree / "home"
    home.mkdir()
    (home / "notes.md").touch()
    (home / ".hidden").touch()
    index = FileIndex(tree / "src", home)
    assert index.search("~/") == Found(("~/notes.md", "~/.hidden"), 2)
    assert index.search("../do") == Found(("../docs/",), 1)
    assert index.search(f"{tree}/REA") == Found((f"{tree}/README.md",), 1)
    assert index.search("./app") == Found(("./app.py",), 1)
    assert index.search("/no/such/") == Found((), 0)
