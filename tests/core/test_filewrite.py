import errno
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from maia.core import filewrite
from maia.core.fileread import read_regular
from maia.core.filewrite import FileChanged, keep_private, remove_file, replace_file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def fail_with(monkeypatch: pytest.MonkeyPatch, name: str, code: int, *, after: int = 0) -> None:
    """The system call `name` fails from its `after`-th use on."""
    real, calls = getattr(os, name), []

    def failing(*args: Any, **options: Any) -> Any:
        calls.append(args)
        if len(calls) > after:
            raise OSError(code, os.strerror(code))
        return real(*args, **options)

    monkeypatch.setattr(os, name, failing)


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_a_new_file_gets_the_mode_of_the_umask_and_its_missing_folders(folder: Path) -> None:
    old = os.umask(0o027)
    try:
        replace_file(folder / "a" / "b" / "f", b"x", None)
    finally:
        os.umask(old)
    assert (folder / "a" / "b" / "f").read_bytes() == b"x"
    assert (folder / "a" / "b" / "f").stat().st_mode & 0o777 == 0o640
    assert names(folder / "a" / "b") == ["f"]


def test_mode_owner_and_extended_attributes_stay(folder: Path) -> None:
    file = folder / "f"
    file.write_bytes(b"old")
    file.chmod(0o4751)
    try:
        os.setxattr(file, "user.note", b"kept")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    before = file.stat()
    replace_file(file, b"new", before)
    after = file.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert os.getxattr(file, "user.note") == b"kept"


@pytest.mark.parametrize("call", ["fsync", "fchmod", "replace"])
def test_a_full_disk_leaves_the_old_file_and_no_spare(folder: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    file = folder / "f"
    file.write_bytes(b"old")
    state = file.stat()
    with monkeypatch.context() as patch:
        fail_with(patch, call, errno.ENOSPC)
        with pytest.raises(OSError, match="No space left"):
            replace_file(file, b"new", state)
    assert (file.read_bytes(), names(folder)) == (b"old", ["f"])


def test_a_mounted_file_that_cannot_be_renamed_over_is_written_in_place(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder / "f"
    file.write_bytes(b"old and longer")
    before = file.stat()
    fail_with(monkeypatch, "replace", errno.EBUSY)
    replace_file(file, b"new", before)
    assert (file.read_bytes(), file.stat().st_ino, names(folder)) == (b"new", before.st_ino, ["f"])


def test_a_disk_that_fills_up_during_a_write_in_place_gets_the_old_content_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder / "f"
    file.write_bytes(b"old")
    state = file.stat()
    real = os.write

    def short_of_space(fd: int, data: memoryview) -> int:
        if bytes(data) == b"old":
            return real(fd, data)
        if len(data) <= 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(fd, data[:2])

    with monkeypatch.context() as patch:
        fail_with(patch, "replace", errno.EBUSY)
        patch.setattr(os, "write", short_of_space)
        with pytest.raises(OSError, match="No space left"):
            replace_file(file, b"new!", state)
    assert file.read_bytes() == b"old"


def test_a_file_that_changed_since_it_was_looked_at_is_not_replaced(folder: Path) -> None:
    file = folder / "f"
    file.write_bytes(b"old")
    state = file.stat()
    file.write_bytes(b"theirs")
    with pytest.raises(FileChanged):
        replace_file(file, b"mine", state)
    assert (file.read_bytes(), names(folder)) == (b"theirs", ["f"])


def test_a_new_file_never_replaces_one_that_came_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = folder / "f"
    monkeypatch.setattr(filewrite, "_check_unchanged", lambda *_args: file.write_bytes(b"theirs"))
    with pytest.raises(FileChanged):
        replace_file(file, b"mine", None)
    assert (file.read_bytes(), names(folder)) == (b"theirs", ["f"])


def test_a_new_file_is_made_where_hard_links_are_unknown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, "link", errno.EPERM)
    replace_file(folder / "f", b"x", None)
    assert ((folder / "f").read_bytes(), names(folder)) == (b"x", ["f"])


def test_a_folder_that_became_a_link_is_not_written_through(folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "real").symlink_to(folder / "elsewhere")
    with pytest.raises(OSError, match=r"Not a directory|Stale|Too many"):
        replace_file(folder / "real" / "f", b"x", None)
    assert names(folder / "elsewhere") == []


def test_a_folder_above_that_became_a_link_is_not_written_through(folder: Path) -> None:
    (folder / "elsewhere" / "sub").mkdir(parents=True)
    (folder / "real").symlink_to(folder / "elsewhere")
    with pytest.raises(FileChanged):
        replace_file(folder / "real" / "sub" / "f", b"x", None)
    assert names(folder / "elsewhere" / "sub") == []


def test_a_read_only_file_is_refused_and_not_replaced_by_rename(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = folder / "f"
    file.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_args, **_options: False)  # root may write everything
    with pytest.raises(PermissionError):
        replace_file(file, b"new", file.stat())
    assert file.read_bytes() == b"old"


def test_a_fifo_is_refused_without_waiting(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    done: list[int | None] = []

    def read() -> None:
        try:
            read_regular(folder / "pipe")
        except OSError as problem:
            done.append(problem.errno)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(5)
    assert done == [errno.EINVAL]


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_devices_are_refused(path: str) -> None:
    if not os.path.exists(path) or stat.S_ISREG(os.stat(path).st_mode):
        pytest.skip(f"{path} is no device here")
    with pytest.raises(OSError, match="Invalid argument"):
        read_regular(Path(path))


def test_a_file_that_is_too_big_is_not_read(folder: Path) -> None:
    (folder / "f").write_bytes(b"12345")
    with pytest.raises(OSError, match="too large"):
        read_regular(folder / "f", 4)
    assert read_regular(folder / "f", 5)[0] == b"12345"


def test_a_removed_file_is_gone(folder: Path) -> None:
    (folder / "f").write_bytes(b"x")
    remove_file(folder / "f")
    assert names(folder) == []


def test_kill_nine_at_any_moment_leaves_the_old_file_or_the_new_one(folder: Path) -> None:
    script = (
        "import pathlib, sys\n"
        "from maia.core.filewrite import replace_file\n"
        "file = pathlib.Path(sys.argv[1])\n"
        "print('ready', flush=True)\n"
        "for n in range(100_000):\n"
        "    replace_file(file, (b'A' if n % 2 else b'B') * 300_000, file.stat())\n"
    )
    file = folder / "f"
    file.write_bytes(b"A" * 300_000)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    for round_ in range(6):
        child = subprocess.Popen([sys.executable, "-c", script, file], env=environment, stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(0.02 + 0.013 * round_)
        child.kill()
        child.wait()
        child.stdout.close()
        content = file.read_bytes()
        assert (len(content), set(content) <= {65} or set(content) <= {66}) == (300_000, True)


def test_a_file_of_ours_is_private_when_new_keeps_its_mode_and_is_found_through_its_link(folder: Path) -> None:
    keep_private(folder / "kept", b"1")
    assert stat.S_IMODE((folder / "kept").stat().st_mode) == 0o600
    (folder / "kept").chmod(0o640)
    (folder / "link").symlink_to("kept")
    keep_private(folder / "link", b"2")
    assert (folder / "link").is_symlink()
    assert (folder / "kept").read_bytes() == b"2"
    assert stat.S_IMODE((folder / "kept").stat().st_mode) == 0o640
    assert names(folder) == ["kept", "link"]
