import asyncio
import os
import shutil
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from maia.core.ports import ProcessEnd
from maia.core.reason import Reason
from maia.sandbox import wall as module
from maia.sandbox.landlock import LandlockWall, landlock_version
from maia.sandbox.places import Layout, Places, git_folders, lay_out
from maia.sandbox.wall import BubblewrapWall, WallFound, find_wall, hint_for
from tests.sandbox.running import has_printed, in_brief, living, needs_bubblewrap, processes, shell, stopped_in_time

WallName = Literal["bubblewrap", "landlock"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    for folder in (".ssh", ".aws", ".maia/skills", ".npm", ".config/gh"):
        (home / folder).mkdir(parents=True)
    (home / ".ssh/id_ed25519").write_text("a private key")
    (home / ".aws/credentials").write_text("a secret")
    (home / ".netrc").write_text("a password")
    (home / ".config/gh/hosts.yml").write_text("a token")
    (home / ".config/gh/config.yml").write_text("harmless")
    (home / ".maia/settings.json").write_text("an API key")
    (home / ".maia/skills/run.sh").write_text("echo skill runs")
    (home / ".bashrc").write_text("# mine")
    (home / "notes.txt").write_text("readable")
    return home


@pytest.fixture
def launch(home: Path) -> Path:
    launch = home / "project"
    launch.mkdir()
    return launch


@pytest.fixture(params=["bubblewrap", "landlock"])
def kind(request: pytest.FixtureRequest) -> WallName:
    if request.param == "landlock" and landlock_version() == 0:
        pytest.skip("this kernel has no Landlock")
    if request.param == "bubblewrap" and needs_bubblewrap.args[0]:
        pytest.skip("bubblewrap is missing or does not work here")
    return request.param


def places(launch: Path, **more: Any) -> Places:
    return Places(launch, launch.parent, **{"temporary": (), **more})


def behind(kind: WallName, where: Places, command: str, cwd: Path | None = None, **options: Any) -> ProcessEnd:
    """Run a command behind a wall of this kind, in the launch folder unless another is given."""
    which = shutil.which if kind == "bubblewrap" else (lambda _: None)
    runner = processes(where.home, lambda: find_wall("required", where, which=which), environment=environment(where))
    return shell(cwd or where.launch, command, runner=runner, sandboxed=True, **options)


def environment(where: Places) -> dict[str, str]:
    return {**os.environ, "HOME": str(where.home), "GIT_CONFIG_GLOBAL": "/dev/null"}


# What holds behind either wall ----------------------------------------------------------------------------------------


def test_no_command_reads_the_environment_of_what_runs_outside(kind: WallName, launch: Path) -> None:
    end = behind(kind, places(launch), f"head -c 1 /proc/{os.getpid()}/environ | wc -c; echo over")
    assert end.output.split()[-2:] == ["0", "over"]


def test_the_launch_folder_can_be_written(kind: WallName, launch: Path) -> None:
    end = behind(kind, places(launch), "mkdir a && echo x > a/f && mv a/f a/g && cat a/g && rm -r a && echo y > kept")
    assert in_brief(end) == ("exited", 0, "x\n")
    assert (launch / "kept").read_text() == "y\n"


@pytest.mark.parametrize(
    "command",
    [
        "echo x > ../notes.txt",
        "echo x > ../new",
        "rm ../notes.txt",
        "mkdir ../d",
        "mv ../notes.txt here",
        "> /etc/maia-x",
    ],
)
def test_elsewhere_nothing_can_be_written(kind: WallName, launch: Path, command: str) -> None:
    before = sorted(launch.parent.iterdir())
    end = behind(kind, places(launch), command)
    assert (end.exit_code != 0, end.hint) == (True, Reason("sandbox.hint_write"))
    assert sorted(path for path in launch.parent.iterdir() if path.name != "saved") == before
    assert (launch.parent / "notes.txt").read_text() == "readable"
    assert not Path("/etc/maia-x").exists()


def test_a_link_leads_to_no_writing_outside(kind: WallName, launch: Path) -> None:
    (launch / "link").symlink_to(launch.parent / "notes.txt")
    assert behind(kind, places(launch), "echo x > link").exit_code != 0
    assert (launch.parent / "notes.txt").read_text() == "readable"


@pytest.mark.parametrize(
    "secret", [".ssh/id_ed25519", ".aws/credentials", ".netrc", ".config/gh/hosts.yml", ".maia/settings.json"]
)
def test_secrets_cannot_be_read(kind: WallName, launch: Path, secret: str) -> None:
    end = behind(kind, places(launch), f"cat ~/{secret}; ln ~/{secret} here; cp ~/{secret} there; cat here there")
    assert (launch.parent / secret).read_text() not in end.output


@pytest.mark.parametrize("path", ["notes.txt", ".config/gh/config.yml", ".bashrc", ".maia/skills/run.sh"])
def test_the_rest_of_home_can_be_read(kind: WallName, launch: Path, path: str) -> None:
    assert in_brief(behind(kind, places(launch), f"cat ~/{path}")) == ("exited", 0, (launch.parent / path).read_text())


def test_a_secret_place_that_the_person_names_can_be_read(kind: WallName, launch: Path) -> None:
    shown = places(launch, readable=(launch.parent / ".ssh",))
    assert behind(kind, shown, "cat ~/.ssh/id_ed25519 ~/.netrc").output.startswith("a private key")
    assert "a password" not in behind(kind, shown, "cat ~/.netrc").output


def test_further_folders_and_caches_can_be_written(kind: WallName, launch: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    end = behind(kind, places(launch, folders=(other, tmp_path / "gone")), f"echo a > {other}/a && echo b > ~/.npm/b")
    assert (end.exit_code, (other / "a").read_text(), (launch.parent / ".npm/b").read_text()) == (0, "a\n", "b\n")


def test_the_temporary_folder_is_the_common_one(kind: WallName, launch: Path, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    (temporary / "written-by-a-tool").write_text("seen")
    end = behind(
        kind, places(launch, temporary=(temporary,)), f"cat {temporary}/written-by-a-tool; echo x > {temporary}/mine"
    )
    assert (in_brief(end), (temporary / "mine").read_text()) == (("exited", 0, "seen"), "x\n")


def test_devices_that_programs_expect_are_there(kind: WallName, launch: Path) -> None:
    end = behind(
        kind, places(launch), "echo gone > /dev/null; head -c 3 /dev/zero | wc -c; head -c 4 /dev/urandom | wc -c"
    )
    assert in_brief(end) == ("exited", 0, "3\n4\n")


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("network", [True, False])
def test_the_network_is_there_as_configured(kind: WallName, launch: Path, listener: int, network: bool) -> None:
    end = behind(kind, places(launch, network=network), f"exec 3<>/dev/tcp/127.0.0.1/{listener}")
    assert (end.exit_code == 0) is network


@pytest.mark.parametrize(
    "command", ["sleep {0} & setsid sleep {0} & sleep {0}", "trap '' TERM; sleep {0} & wait; sleep {0}"]
)
def test_a_timeout_ends_the_tree_behind_the_wall(kind: WallName, launch: Path, command: str) -> None:
    word = f"97{os.getpid()}"
    command = "echo begun; " + command.format(word)
    end = stopped_in_time(lambda seconds: behind(kind, places(launch), command, timeout=seconds), has_printed)
    assert (end.state, end.output.split()[0]) == ("timed_out", "begun")
    assert living(f"sleep {word}") == []


def test_a_command_behind_the_wall_has_time_to_end_well(kind: WallName, launch: Path) -> None:
    command = "trap 'sleep 0.2; echo tidy > mark; exit' TERM; echo up; while :; do sleep 0.05; done"
    end = stopped_in_time(lambda seconds: behind(kind, places(launch), command, timeout=seconds), has_printed)
    assert (end.state, (launch / "mark").read_text()) == ("timed_out", "tidy\n")


def test_what_is_left_in_the_background_ends_behind_the_wall_too(kind: WallName, launch: Path) -> None:
    end = behind(
        kind, places(launch), "nohup sleep 39.7 >/dev/null 2>&1 & (setsid sleep 39.7 >/dev/null 2>&1 &) ; echo up"
    )
    assert in_brief(end) == ("exited", 0, "up\n")
    assert living("sleep 39.7") == []


def test_the_exit_code_passes_the_wall(kind: WallName, launch: Path) -> None:
    assert [behind(kind, places(launch), c).exit_code for c in ("exit 7", "kill -9 $$", "nothing_here")] == [
        7,
        137,
        127,
    ]


def test_a_long_command_passes_the_wall(kind: WallName, launch: Path) -> None:
    assert in_brief(behind(kind, places(launch), ": " + "x" * 200_000 + "; echo long")) == ("exited", 0, "long\n")


def git(folder: Path, *words: str) -> str:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z"}
    settings = ["-c", "user.name=n", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    return subprocess.run(
        ["git", *settings, *words], cwd=folder, env=env, check=True, capture_output=True, text=True
    ).stdout


COMMIT = "echo x > f && git add f && git -c user.name=n -c user.email=a@b.c commit -qm one && git log --format=%s"


def test_commits_work_in_a_subfolder_and_in_a_worktree(kind: WallName, launch: Path, tmp_path: Path) -> None:
    git(launch, "init", "-q")
    git(launch, "commit", "-q", "--allow-empty", "-m", "zero")
    sub = launch / "sub"
    sub.mkdir()
    home = launch.parent
    assert in_brief(behind(kind, Places(sub, home, temporary=()), COMMIT)) == ("exited", 0, "one\nzero\n")
    worktree = tmp_path / "tree"
    git(launch, "worktree", "add", "-q", str(worktree), "-b", "other")
    assert in_brief(behind(kind, Places(worktree, home, temporary=()), COMMIT + " | head -1")) == ("exited", 0, "one\n")


def test_a_launch_folder_inside_a_hidden_place_is_there(kind: WallName, home: Path) -> None:
    workspace = home / ".maia/workspaces/one"
    workspace.mkdir(parents=True)
    (workspace / "f").write_text("mine")
    end = behind(kind, Places(workspace, home, temporary=()), "cat f; echo x > g; cat ../../settings.json; ls ..; pwd")
    assert end.output.startswith("mine")
    assert "an API key" not in end.output
    assert (workspace / "g").read_text() == "x\n"


def test_further_places_that_are_hidden_are_not_seen_and_what_is_worked_in_there_is(kind: WallName, home: Path) -> None:
    mine, theirs, vault = home / "data/ws/mine", home / "data/ws/theirs", home / "vault"
    for folder in (mine, theirs, vault):
        folder.mkdir(parents=True)
        (folder / "note").write_text(f"of {folder.name}")
    hiding = Places(mine, home, hidden=(home / "data", vault, home / "gone"), temporary=())
    end = behind(kind, hiding, f"cat note ../theirs/note {vault}/note; ls .. ; ls {vault}")
    assert end.output.startswith("of mine")
    assert [name for name in ("of theirs", "of vault") if name in end.output] == []


@pytest.mark.parametrize("shown", [False, True])
def test_the_agent_that_signs_is_hidden_unless_keys_are_shown(kind: WallName, launch: Path, shown: bool) -> None:
    address = launch.parent / "agent.sock"
    with socket.socket(socket.AF_UNIX) as agent:
        agent.bind(str(address))
        agent.listen()
        where = places(launch, agent=address, readable=(launch.parent / ".ssh",) if shown else ())
        end = behind(kind, where, f"python3 -c 'import socket; socket.socket(1).connect(\"{address}\")'")
    if kind == "bubblewrap":  # Landlock has no say about sockets that have a name
        assert (end.exit_code == 0) is shown


# What only bubblewrap can ---------------------------------------------------------------------------------------------


@needs_bubblewrap
@pytest.mark.parametrize(
    "command",
    [
        "echo x > .git/hooks/pre-commit",
        "git config core.fsmonitor /tmp/evil",
        "echo x >> .git/config",
        "echo x > .maia/settings.json",
        "mv .maia .old; mkdir .maia",
        "rm -rf .git/hooks",
        "mv .git .old && cp -r .old .git && echo x > .git/hooks/pre-commit",
        "echo x > .git/modules/part/hooks/pre-commit",
        "echo x > .vscode/tasks.json",
    ],
)
def test_what_programs_outside_would_run_stays_as_it_is(launch: Path, command: str) -> None:
    git(launch, "init", "-q")
    for folder in (".maia", ".vscode"):
        (launch / folder).mkdir()
    (launch / ".maia/settings.json").write_text("{}")
    (launch / ".git/modules/part/hooks").mkdir(parents=True)
    before = {path: path.read_bytes() for path in launch.rglob("*") if path.is_file()}
    assert behind("bubblewrap", places(launch), command).exit_code != 0
    assert {path: path.read_bytes() for path in launch.rglob("*") if path.is_file()} == before


@needs_bubblewrap
def test_start_files_stay_as_they_are_where_home_is_the_launch_folder(home: Path) -> None:
    where = Places(home, home, temporary=())
    end = behind("bubblewrap", where, "echo x > new; echo evil >> .bashrc; cat .ssh/id_ed25519")
    assert ((home / "new").read_text(), (home / ".bashrc").read_text()) == ("x\n", "# mine")
    assert "a private key" not in end.output


@needs_bubblewrap
def test_processes_outside_are_not_seen(launch: Path) -> None:
    end = behind("bubblewrap", places(launch), f"ls /proc | grep -c '^[0-9]'; cat /proc/{os.getpid()}/environ")
    assert int(end.output.split()[0]) < 10
    assert end.exit_code != 0


@needs_bubblewrap
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has what is dropped here")
@pytest.mark.parametrize("command", ["mount -o remount,rw /", "mknod d b 1 1", "chroot / true"])
def test_root_behind_the_wall_cannot_take_it_down(launch: Path, command: str) -> None:
    assert behind("bubblewrap", places(launch), command).exit_code != 0


@needs_bubblewrap
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a file away")
def test_root_behind_the_wall_may_work_on_files_of_others(launch: Path) -> None:
    (launch / "theirs").mkdir()
    os.chown(launch / "theirs", 1234, 1234)
    (launch / "theirs").chmod(stat.S_IRWXU)
    assert behind("bubblewrap", places(launch), "echo x > theirs/f && chown 1234 theirs/f").exit_code == 0


@needs_bubblewrap
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_the_wall_stands_for_an_ordinary_user_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    confined = BubblewrapWall(shutil.which("bwrap") or "", Places(Path("/"), Path("/"))).confine(["true"], Path("/"))
    subprocess.run(confined.argv, user=65534, group=65534, extra_groups=[], check=True)


# Finding one ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def broken_bwrap(tmp_path: Path) -> Path:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    return program


def test_off_means_no_wall_and_no_word(launch: Path) -> None:
    assert find_wall("off", places(launch)) == WallFound(None)


def test_a_broken_bubblewrap_is_named_with_its_own_words(launch: Path, broken_bwrap: Path) -> None:
    found = find_wall("auto", places(launch), which=lambda _: str(broken_bwrap))
    reason = {"reason": "bwrap: No permissions to create new namespace"}
    if landlock_version():
        assert found == WallFound(
            LandlockWall(landlock_version(), places(launch)), Reason("sandbox.landlock_broken", reason)
        )
    else:
        assert found == WallFound(None, Reason("sandbox.none_broken", reason))


@pytest.mark.parametrize("mode", ["auto", "required"])
def test_without_any_wall_the_notice_says_so(launch: Path, mode: module.Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "landlock_version", lambda: 0)
    found = find_wall(mode, places(launch), which=lambda _: None)
    assert found == WallFound(None, Reason("sandbox.none_missing", {"reason": ""}), mode == "required")


@needs_bubblewrap
def test_where_bubblewrap_works_it_is_used_without_a_word(launch: Path) -> None:
    found = find_wall("auto", places(launch))
    assert (found.wall and found.wall.name, found.notice, found.required) == ("bubblewrap", None, False)


def test_two_commands_behind_landlock_do_not_limit_maia_itself(launch: Path) -> None:
    if landlock_version() == 0:
        pytest.skip("this kernel has no Landlock")
    behind("landlock", places(launch), "true")
    (launch.parent / "still").write_text("free")
    assert (launch.parent / "still").read_text() == "free"


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_place_that_changes_while_landlock_is_set_up_opens_nothing(
    launch: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if landlock_version() == 0:
        pytest.skip("this kernel has no Landlock")
    place, secret = launch.parent / "notes.txt", launch.parent / ".aws"
    open_file = os.open

    def change(path: Any, *words: Any, **options: Any) -> int:
        if path != place or place.is_symlink():
            return open_file(path, *words, **options)
        handle = open_file(path, *words, **options)
        place.unlink()
        place.symlink_to(secret)
        if moment == "before":
            os.close(handle)
            return open_file(path, *words, **options)
        return handle

    monkeypatch.setattr(os, "open", change)
    end = behind("landlock", places(launch), "echo runs; cat ~/.aws/credentials")
    assert place.is_symlink()
    assert (end.state, end.output.splitlines()[0], "a secret" in end.output) == ("exited", "runs", False)


def test_a_hint_needs_the_words_of_a_wall(launch: Path) -> None:
    bwrap = BubblewrapWall("bwrap", places(launch))
    offline = BubblewrapWall("bwrap", places(launch, network=False))
    said = "curl: (6) Could not resolve host: example.org"
    assert hint_for(bwrap, "AssertionError: 1 != 2") is None
    assert hint_for(bwrap, "touch: cannot touch '/x': Read-only file system") == Reason("sandbox.hint_write")
    assert (hint_for(bwrap, said), hint_for(offline, said)) == (None, Reason("sandbox.hint_network"))
    assert hint_for(bwrap, "git@x.y: Permission denied (publickey).") == Reason("sandbox.hint_secret")
    assert hint_for(bwrap, "Permission denied") is None
    assert hint_for(LandlockWall(7, places(launch)), "Permission denied") == Reason("sandbox.hint_write")


def test_cancelling_the_first_command_does_not_lose_the_wall(launch: Path) -> None:
    async def go() -> ProcessEnd:
        runner = processes(launch.parent, lambda: find_wall("auto", places(launch)))
        first = asyncio.ensure_future(runner.shell("true", cwd=launch, timeout=30, max_chars=9))
        await asyncio.sleep(0)
        first.cancel()
        return await runner.shell("echo on", cwd=launch, timeout=30, max_chars=9)

    assert in_brief(asyncio.run(go())) == ("exited", 0, "on\n")


# Places ---------------------------------------------------------------------------------------------------------------


def test_the_places_of_a_launch_folder_are_found(home: Path, launch: Path) -> None:
    git(launch, "init", "-q")
    (launch / ".maia").mkdir()
    layout = lay_out(places(launch))
    hidden = {path for path in layout.hidden if path.is_relative_to(home)}
    assert Layout(layout.writable, layout.read_only, (), layout.shown) == Layout(
        writable=(launch, launch / ".git", home / ".npm"),
        read_only=(launch / ".maia", launch / ".git/config", launch / ".git/hooks"),
        shown=(home / ".maia/skills",),
    )
    assert hidden == {home / name for name in (".ssh", ".aws", ".maia", ".netrc", ".config/gh/hosts.yml")}


@pytest.mark.parametrize(
    "text", ["gitdir: /nowhere", "gitdir: /etc", "nonsense", "", "gitdir: ../../..", "\0"], ids=range(6)
)
def test_a_false_git_file_opens_no_folder(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text)
    assert git_folders(tmp_path) == ()


def forged_file(other: Path, launch: Path) -> None:
    git(other, "worktree", "add", "-q", str(other.parent / "tree"), "-b", "tree")
    (launch / ".git").write_text(f"gitdir: {other}/.git/worktrees/tree")


def forged_link(other: Path, launch: Path) -> None:
    (launch / ".git").symlink_to(other / ".git")


def forged_folder_of_git(other: Path, launch: Path) -> None:
    own = launch / "own"
    own.mkdir()
    (own / "HEAD").write_text("ref: refs/heads/main")
    (own / "gitdir").write_text(f"{launch}/.git")
    (own / "commondir").write_text(f"{other}/.git")
    (launch / ".git").write_text(f"gitdir: {own}")


@pytest.mark.parametrize("forge", [forged_file, forged_link, forged_folder_of_git])
def test_a_git_pointer_that_a_command_made_opens_no_other_repository(
    forge: Callable[[Path, Path], None], launch: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one")
    forge(other, launch)
    assert not [path for path in lay_out(places(launch)).writable if path.is_relative_to(other)]


def test_a_commit_in_a_submodule_writes_the_folder_that_names_it(tmp_path: Path) -> None:
    top, part = tmp_path / "top", tmp_path / "part"
    for repository in (top, part):
        repository.mkdir()
        git(repository, "init", "-q")
        git(repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one")
    git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(part), "sub")
    assert git_folders(top / "sub") == (top / ".git/modules/sub",)


def test_a_link_in_a_writable_place_makes_nothing_else_writable(launch: Path, tmp_path: Path) -> None:
    away, inside = tmp_path / "away", launch / "inside"
    for folder in (away, inside):
        folder.mkdir()
    (launch / ".npm").symlink_to(away)
    (launch / "out").symlink_to(away)
    (launch / "near").symlink_to(inside)
    asked = Places(launch, launch, writable=(launch / "out", launch / "near"), temporary=())
    assert lay_out(asked).writable == (launch, inside)


def test_a_cache_that_the_person_moved_elsewhere_stays_writable(home: Path, launch: Path, tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    (home / ".cache").mkdir()
    (home / ".cache/pip").symlink_to(away)
    assert away in lay_out(places(launch)).writable
