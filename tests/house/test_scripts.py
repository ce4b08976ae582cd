import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The scripts with an environment that is ready: `./run` must not install anything."""
    clone = tmp_path / "a clone"
    (clone / "requirements").mkdir(parents=True)
    for name in ("run", "requirements/install", "requirements/run.lock"):
        shutil.copy(ROOT / name, clone / name)
    (clone / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(clone / "requirements" / "run.lock", clone / ".venv" / "run.lock")
    python = clone / ".venv" / "bin" / "python"
    python.write_text('#!/bin/sh\nprintf "[%s]" "$@"\n')
    python.chmod(0o755)
    return clone


def run(script: Path | str, *argv: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(script), *argv], cwd=cwd, env=os.environ | env, capture_output=True, text=True)


def test_run_starts_maia_with_the_arguments_as_they_are(clone: Path, tmp_path: Path) -> None:
    done = run(clone / "run", "-p", "two  words", "", cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("[-I][-m][maia][-p][two  words][]", "")


def test_run_works_through_a_link_on_the_path_and_from_its_own_folder(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "maia").symlink_to(clone / "run")
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    expected = "[-I][-m][maia]"
    assert run("sh", "-c", "maia", cwd=tmp_path, PATH=path).stdout == expected
    assert run("./run", cwd=clone).stdout == expected
    assert run("sh", "run", cwd=clone).stdout == expected


def test_the_second_start_costs_next_to_nothing(clone: Path) -> None:
    run("./run", cwd=clone)
    best = min(_cpu(clone) for _ in range(5))
    assert best < 0.05, "seconds of CPU for sh, cmp and exec"


def _cpu(clone: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run("./run", cwd=clone)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_a_changed_lock_installs_again_and_says_so_on_stderr(clone: Path) -> None:
    with (clone / "requirements" / "run.lock").open("a") as lock:
        lock.write("# newer\n")
    (clone / "requirements" / "install").write_text('#!/bin/sh\necho "installing $1"\n')
    done = run("./run", cwd=clone)
    assert (done.stdout, done.stderr) == ("[-I][-m][maia]", "installing run\n")


def test_without_a_python_that_suits_the_one_thing_to_do_is_said(clone: Path, tmp_path: Path) -> None:
    shutil.rmtree(clone / ".venv")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "cmp", "dirname", "readlink", "rm", "id", "flock", "env"):
        (tools / name).symlink_to(shutil.which(name) or "/bin/false")
    (tools / "id").unlink()
    (tools / "id").write_text("#!/bin/sh\necho 1000\n")
    (tools / "id").chmod(0o755)
    install = clone / "requirements" / "install"
    install.write_text(install.read_text().replace("/usr/bin/python3", "/nowhere/python3"))
    done = run("/bin/sh", str(clone / "run"), cwd=clone, PATH=str(tools))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "maia: first run: sudo apt install python3 python3-venv"


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs to become another user")
def test_a_clone_of_somebody_else_that_is_not_ready_says_who_can_make_it_so(clone: Path) -> None:
    (clone / "requirements" / "run.lock").write_text("# newer\n")
    with tempfile.TemporaryDirectory(prefix="maia-other-") as folder:
        Path(folder).chmod(0o755)
        there = shutil.copytree(clone, Path(folder, "a clone"))
        other = ("setpriv", "--reuid=65534", "--clear-groups", "sh", str(there / "run"))
        done = run(*other, cwd=Path("/"))
    assert done.returncode == 1
    assert done.stderr == f"maia: {there} cannot be written by this user: let its owner run this once\n"


def test_nothing_of_the_current_folder_is_imported_at_start(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('hijacked')")
    (tmp_path / "maia.py").write_text("raise SystemExit('hijacked')")
    program = (
        f"import sys; sys.path.append({str(ROOT / 'src')!r}); import runpy, json; "
        "sys.argv = ['maia', '--version']; runpy.run_module('maia', run_name='__main__', alter_sys=True)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert "hijacked" not in done.stdout + done.stderr
