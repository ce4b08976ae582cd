import os
import subprocess
import sys
from pathlib import Path

import pytest

from maia.core.errors import SessionProblem, UsageProblem
from maia.core.events import Notice
from maia.i18n.catalogue import Catalogue
from maia.launch import NO_HOME, Folders, find_folders, prepare


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    named = {name: (tmp_path / name).resolve() for name in ("maia", "init", "cwd", "home")}
    for folder in named.values():
        folder.mkdir()
    return named


def test_the_launch_folder_is_maia_cwd_else_init_cwd_else_the_current_one(places: dict[str, Path]) -> None:
    env = {"HOME": str(places["home"]), "MAIA_CWD": str(places["maia"]), "INIT_CWD": str(places["init"])}

    def launch(*without: str) -> Path:
        left = {name: value for name, value in env.items() if name not in without}
        return find_folders(left, lambda: str(places["cwd"])).launch

    assert launch() == places["maia"]
    assert launch("MAIA_CWD") == places["init"]
    assert launch("MAIA_CWD", "INIT_CWD") == places["cwd"]


def test_an_empty_variable_is_not_set_and_a_link_is_resolved(places: dict[str, Path]) -> None:
    link = places["maia"].parent / "link"
    link.symlink_to(places["maia"])
    env = {"MAIA_CWD": "", "INIT_CWD": str(link), "HOME": str(places["home"])}
    assert find_folders(env, lambda: str(places["cwd"])) == Folders(
        places["maia"], places["home"], places["maia"] / ".maia" / ".sessions"
    )


@pytest.mark.parametrize("named", ["/no/such/folder", "/etc/passwd", "a\0b"])
def test_a_maia_cwd_that_is_no_folder_is_a_clear_error(named: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        find_folders({"MAIA_CWD": named})
    assert (caught.value.key, caught.value.exit_code) == ("launch.maia_cwd", 2)
    assert Catalogue("fr", strict=True).has("launch.maia_cwd.fix")


def test_a_stale_init_cwd_of_npm_is_a_warning_only(places: dict[str, Path]) -> None:
    folders = find_folders({"INIT_CWD": "/gone", "HOME": "/root"}, lambda: str(places["cwd"]))
    assert folders.launch == places["cwd"]
    assert folders.notices == (Notice("warn", "launch.init_cwd", {"path": "/gone"}),)


def test_a_deleted_current_folder_is_a_clear_error(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    program = (
        "import os, sys; os.rmdir(os.getcwd())\n"
        "from maia.launch import find_folders\nfrom maia.core.errors import UsageProblem\n"
        "try: find_folders({'HOME': '/root'})\nexcept UsageProblem as problem: print(problem.key)"
    )
    src = Path(__file__).parent.parent / "src"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=gone, env={"PYTHONPATH": str(src)}, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("launch.cwd_gone\n", "")


@pytest.mark.parametrize("value", [None, "", "relative/home"])
def test_without_home_the_user_database_is_asked(
    places: dict[str, Path], value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pwd
    from types import SimpleNamespace

    monkeypatch.setattr(pwd, "getpwuid", lambda _uid: SimpleNamespace(pw_dir=str(places["home"])))
    env = {"MAIA_CWD": str(places["maia"])} | ({} if value is None else {"HOME": value})
    assert find_folders(env).home == places["home"]


def test_a_user_without_any_home_is_told(places: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    def nobody(_uid: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    folders = find_folders({"MAIA_CWD": str(places["maia"])})
    assert (folders.home, folders.notices) == (NO_HOME, (Notice("warn", "launch.no_home"),))


def test_the_folders_of_a_session_are_made_once_and_kept_out_of_git(places: dict[str, Path]) -> None:
    env = {"HOME": str(places["home"]), "MAIA_CWD": str(places["maia"])}
    found = find_folders(env)
    assert not found.project.exists(), "looking creates nothing"
    assert prepare(found, env) == found
    assert prepare(found, env) == found
    assert sorted(path.name for path in found.sessions.iterdir()) == [".gitignore"]
    assert found.sessions.stat().st_mode & 0o777 == 0o700


def test_where_the_folder_cannot_be_written_sessions_are_kept_elsewhere(places: dict[str, Path]) -> None:
    (places["maia"] / ".maia").write_text("a file is in the way")
    env = {"HOME": str(places["home"]), "MAIA_CWD": str(places["maia"])}
    folders = prepare(find_folders(env), env)
    assert folders.sessions.is_dir()
    assert folders.sessions.parent == places["home"] / ".local" / "state" / "maia" / "sessions"
    notice = folders.notices[0]
    assert (notice.level, notice.key) == ("warn", "launch.sessions_elsewhere")
    assert str(folders.sessions) in Catalogue("fr", strict=True)(notice.key, **notice.values)
    other = find_folders({**env, "MAIA_CWD": str(places["cwd"])})
    (places["cwd"] / ".maia").write_text("here too")
    assert prepare(other, env).sessions != folders.sessions, "two projects never mix"


def test_with_no_place_at_all_the_error_says_so(places: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    blocked = places["home"] / "file"
    blocked.write_text("")
    (places["maia"] / ".maia").write_text("")
    monkeypatch.setattr(tempfile, "tempdir", str(blocked))
    env = {"HOME": str(blocked), "MAIA_CWD": str(places["maia"]), "XDG_STATE_HOME": str(blocked)}
    with pytest.raises(SessionProblem) as caught:
        prepare(find_folders(env), env)
    assert caught.value.key == "launch.sessions_nowhere"


def test_a_temporary_folder_that_is_a_link_is_not_used(
    places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile

    blocked = places["home"] / "file"
    blocked.write_text("")
    (places["maia"] / ".maia").write_text("")
    (places["cwd"] / f"maia-{os.getuid()}").symlink_to(places["init"])
    monkeypatch.setattr(tempfile, "tempdir", str(places["cwd"]))
    env = {"HOME": str(blocked), "MAIA_CWD": str(places["maia"])}
    with pytest.raises(SessionProblem):
        prepare(find_folders(env), env)


def test_paths_are_shown_from_the_launch_folder_or_the_home_folder(places: dict[str, Path]) -> None:
    folders = Folders(places["maia"], places["home"], places["maia"])
    shown = [folders.shown(p) for p in (places["maia"] / "a", places["home"] / ".maia", Path("/etc"), places["maia"])]
    assert shown == ["./a", "~/.maia", "/etc", "./"]


def test_a_disk_that_was_full_leaves_no_empty_gitignore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = Folders(tmp_path, tmp_path / "home", tmp_path / ".maia" / ".sessions")

    def full(path: Path, *_args: object) -> int:
        path.touch()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        patch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "nowhere"))
        with pytest.raises(SessionProblem):
            prepare(folders, {})
    assert (prepare(folders, {}).sessions / ".gitignore").read_text() == "*\n"
