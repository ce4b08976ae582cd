import os
import stat
import subprocess
from pathlib import Path

import pytest

from maia.core.events import Notice
from maia.folders.workspaces import Location, Workspaces, find_location


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def checkout(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


def test_by_default_workspaces_lie_in_the_data_folder_of_the_home(home: Path) -> None:
    data = home / ".maia/data"
    assert find_location({}, home) == Location(data, data / "workspaces")


@pytest.mark.parametrize("prefix", ["MAIA", "EYAS"])
def test_variables_move_data_and_workspaces(home: Path, prefix: str) -> None:
    assert find_location({f"{prefix}_DATA_DIR": "~/d"}, home) == Location(home / "d", home / "d/workspaces")
    env = {f"{prefix}_WORKSPACES_DIR": str(home / "w")}
    assert find_location(env, home) == Location(home / ".maia/data", home / "w")


def test_our_own_variable_wins_over_the_old_name(home: Path) -> None:
    env = {"MAIA_WORKSPACES_DIR": str(home / "new"), "EYAS_WORKSPACES_DIR": str(home / "old")}
    assert find_location(env, home).workspaces == home / "new"


def test_data_in_a_checkout_puts_workspaces_into_the_persons_data_each_instance_its_own(home: Path) -> None:
    repo = checkout(home / "src/maia")
    one, two = (find_location({"MAIA_DATA_DIR": str(repo / name)}, home).workspaces for name in ("one", "two"))
    assert one is not None
    assert two is not None
    assert one.parent == two.parent == home / ".local/share/maia"
    assert one != two
    assert len(one.name) == len("workspaces-") + 12
    assert find_location({"MAIA_DATA_DIR": str(repo / "one")}, home).workspaces == one
    moved = find_location({"MAIA_DATA_DIR": str(repo / "one"), "XDG_DATA_HOME": str(home / "x")}, home)
    assert moved.workspaces == home / "x/maia" / one.name


def test_a_named_place_in_a_checkout_is_not_used_and_that_is_told(home: Path) -> None:
    named = checkout(home / "repo") / "deep/ws"
    found = find_location({"MAIA_WORKSPACES_DIR": str(named)}, home)
    used = home / ".maia/data/workspaces"
    told = Notice("warn", "folders.place_in_checkout", {"named": str(named), "used": str(used)})
    assert found == Location(home / ".maia/data", used, (told,))


def test_a_home_that_is_a_checkout_has_no_place_but_a_named_one(home: Path, tmp_path: Path) -> None:
    checkout(home)
    found = find_location({}, home)
    assert found.workspaces is None
    assert [notice.key for notice in found.notices] == ["folders.no_place"]
    assert Workspaces(found.workspaces).of("c1") is None
    assert find_location({"MAIA_WORKSPACES_DIR": str(tmp_path / "out")}, home).workspaces == tmp_path / "out"


def test_a_linked_worktree_and_a_bare_repository_are_checkouts_too(home: Path) -> None:
    (home / "tree").mkdir()
    (home / "tree/.git").write_text("gitdir: /elsewhere\n")
    subprocess.run(["git", "init", "-q", "--bare", home / "bare"], check=True)
    for name in ("tree", "bare"):
        assert find_location({"MAIA_DATA_DIR": str(home / name)}, home).workspaces not in (None, home / name)


def test_each_conversation_has_its_own_folder_closed_to_others(tmp_path: Path) -> None:
    root = tmp_path / "data/workspaces"
    made = [Workspaces(root).of(name) for name in ("c1", "c2", "c1")]
    assert made == [root / "c1", root / "c2", root / "c1"]
    assert [stat.S_IMODE((root / name).stat().st_mode) for name in (".", "c1", "c2")] == [0o700] * 3


def test_a_workspace_that_was_opened_to_others_is_closed_again(tmp_path: Path) -> None:
    (tmp_path / "c1").mkdir(mode=0o755)
    (tmp_path / "c1").chmod(0o755)
    assert Workspaces(tmp_path).of("c1") == tmp_path / "c1"
    assert stat.S_IMODE((tmp_path / "c1").stat().st_mode) == 0o700


@pytest.mark.parametrize("name", ["", ".", "..", "_runs", "a/b", "/etc", "a\x00", "x" * 129, "-c", ".hidden"])
def test_a_name_that_is_no_conversation_gets_no_folder(tmp_path: Path, name: str) -> None:
    assert Workspaces(tmp_path / "ws").of(name) is None
    assert not (tmp_path / "ws").exists()


def test_what_cannot_be_made_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert Workspaces(tmp_path / "file/ws").of("c1") is None
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/c1").touch()
    assert Workspaces(tmp_path / "ws").of("c1") is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_place_that_cannot_be_written_gives_no_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        assert Workspaces(tmp_path).of("c1") is None
    finally:
        tmp_path.chmod(0o700)


def test_a_link_where_the_workspace_should_be_is_not_followed(tmp_path: Path) -> None:
    root, theirs = tmp_path / "ws", tmp_path / "ws/c2"
    theirs.mkdir(parents=True)
    (root / "c1").symlink_to(theirs)
    (root / "c3").symlink_to(tmp_path / "nowhere")
    assert [Workspaces(root).of("c1"), Workspaces(root).of("c3")] == [None, None]
    (tmp_path / "link").symlink_to(root)
    (root / "deep").mkdir()
    assert [Workspaces(tmp_path / name).of("c9") for name in ("link", "link/deep")] == [None, None]


def test_a_place_that_became_a_checkout_gives_no_folder_any_more(tmp_path: Path) -> None:
    workspaces = Workspaces(tmp_path / "repo/ws")
    assert workspaces.of("c1") is not None
    checkout(tmp_path / "repo")
    assert workspaces.of("c1") is None
