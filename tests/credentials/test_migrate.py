from __future__ import annotations

import os
import socket
import stat
from pathlib import Path
from typing import IO

import pytest

from maia.credentials import migrate as migrating
from maia.credentials.migrate import migrate, preview


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    """A workspace with two agents of the old layout."""
    for name in ("a", "b"):
        home = tmp_path / "ws" / ".overmind" / "hermes" / f"agent_{name}" / ".hermes"
        (home / "sessions").mkdir(parents=True)
        (home / ".env").write_text(f"NAME={name}\n")
        (home / "sessions" / "s.db").write_bytes(b"\x00\x01" * 5000)
        (home / "run.sh").write_text("x")
        (home / "run.sh").chmod(0o755)
    return tmp_path / "ws"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "user" / "hermes"


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".maia.lock"
    }


def test_a_preview_lists_everything_and_touches_nothing(ws: Path, root: Path) -> None:
    before = tree(ws)
    seen = preview(ws, root)
    move = seen.moves[0]
    assert (seen.code, [m.agent for m in seen.moves]) == (0, ["a", "b"])
    assert (move.files, move.size, move.conflicts) == ((".env", "run.sh", "sessions/s.db"), 7 + 1 + 10_000, ())
    assert (move.source, move.target) == (
        ws / ".overmind/hermes/agent_a/.hermes",
        root / "agent_a/.hermes",
    )
    assert tree(ws) == before
    assert not root.exists()


def test_homes_are_copied_verified_and_the_old_one_set_aside(ws: Path, root: Path) -> None:
    before = tree(ws / ".overmind/hermes/agent_a/.hermes")
    assert migrate(ws, root).code == 0
    assert tree(root / "agent_a/.hermes") == before
    assert tree(ws / ".overmind/hermes/agent_a/.hermes.migrated") == before
    assert not (ws / ".overmind/hermes/agent_a/.hermes").exists()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (root / "agent_a/.hermes").rglob("*")}
    assert (modes[".env"], modes["run.sh"], modes["sessions"]) == (0o600, 0o700, 0o700)


def test_a_second_run_has_nothing_to_do(ws: Path, root: Path) -> None:
    migrate(ws, root)
    after = tree(root)
    assert (migrate(ws, root).moves, migrate(ws, root).code, tree(root)) == ((), 0, after)


def test_nothing_is_ever_overwritten(ws: Path, root: Path) -> None:
    target = root / "agent_a" / ".hermes"
    target.mkdir(parents=True)
    (target / ".env").write_text("NEWER=1\n")
    (target / "run.sh").write_text("x")
    for act in (preview, migrate):
        seen = act(ws, root)
        assert (seen.code, seen.moves[0].conflicts) == (1, (".env",))
    assert (target / ".env").read_text() == "NEWER=1\n"
    assert (ws / ".overmind/hermes/agent_a/.hermes/.env").exists()
    assert not (target / "sessions").exists(), "all of a home or nothing of it"
    assert (root / "agent_b/.hermes/.env").exists(), "another agent is not held up"


def test_an_interrupted_copy_is_finished(ws: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(migrating.shutil, "copyfileobj", _failing_at(1))
        seen = migrate(ws, root)
    assert (seen.code, seen.moves[0].problems[0].code) == (1, "WRITE_FAILED")
    assert (ws / ".overmind/hermes/agent_a/.hermes/.env").exists()
    assert migrate(ws, root).code == 0
    assert tree(root / "agent_a/.hermes") == tree(ws / ".overmind/hermes/agent_a/.hermes.migrated")


def _failing_at(n: int):
    import shutil

    calls = iter(range(100))
    original = shutil.copyfileobj

    def copy(old, new) -> None:
        if next(calls) == n:
            raise OSError(28, "No space left on device")
        original(old, new)

    return copy


def test_a_copy_that_is_not_the_same_leaves_the_old_home_where_it_was(
    ws: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def torn(source: IO[bytes], target: IO[bytes]) -> None:
        target.write(source.read()[:-1])

    before = tree(ws)
    monkeypatch.setattr(migrating.shutil, "copyfileobj", torn)
    done = migrate(ws, root)
    assert (done.code, done.moves[0].conflicts) == (1, (".env", "run.sh", "sessions/s.db"))
    assert tree(ws) == before


def test_links_are_copied_as_links_and_sockets_left_out(ws: Path, root: Path) -> None:
    home = ws / ".overmind/hermes/agent_a/.hermes"
    (home / "link").symlink_to(".env")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(home)  # a socket's path has 107 bytes at most
        try:
            server.bind("s")
        finally:
            os.chdir(here)
        seen = migrate(ws, root)
    assert [problem.code for problem in seen.moves[0].problems] == ["SKIPPED_FILE"]
    assert os.readlink(root / "agent_a/.hermes/link") == ".env"


def test_a_home_that_is_a_link_is_left_alone(ws: Path, root: Path, tmp_path: Path) -> None:
    (ws / ".overmind/hermes/agent_c").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (ws / ".overmind/hermes/agent_c/.hermes").symlink_to(tmp_path / "elsewhere")
    seen = migrate(ws, root)
    assert (seen.code, [p.code for p in seen.moves[2].problems]) == (1, ["UNSAFE_LINK"])


def test_a_root_inside_the_workspace_is_nothing_to_move(ws: Path) -> None:
    assert migrate(ws, ws / ".overmind" / "hermes").moves == ()


def test_a_workspace_without_agents_is_nothing_to_move(tmp_path: Path) -> None:
    assert (preview(tmp_path, tmp_path / "r").moves, preview(tmp_path, tmp_path / "r").code) == ((), 0)
