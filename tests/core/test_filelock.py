import errno
import fcntl
import os
import threading
from pathlib import Path

import pytest

from maia.core import filelock
from maia.core.filelock import lock, locked


def test_whoever_comes_second_waits_until_the_first_is_done(tmp_path: Path) -> None:
    seen: list[str] = []
    inside, go = threading.Event(), threading.Event()

    def first() -> None:
        with locked(tmp_path / "l"):
            inside.set()
            go.wait(10)
            seen.append("first")

    def second() -> None:
        with locked(tmp_path / "l"):
            seen.append("second")

    threads = [threading.Thread(target=work) for work in (first, second)]
    threads[0].start()
    assert inside.wait(10)
    threads[1].start()
    go.set()
    for thread in threads:
        thread.join(10)
    assert seen == ["first", "second"]
    assert (tmp_path / "l").stat().st_mode & 0o777 == 0o600


def test_a_link_in_the_place_of_the_lock_makes_no_file_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "l").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"), locked(tmp_path / "l"):
        pass
    assert os.listdir(tmp_path) == ["l"]


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EIO])
def test_a_file_system_without_locks_holds_nobody_up_and_any_other_refusal_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(_fd: int, _how: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(filelock.fcntl, "flock", refuse)
    with open(tmp_path / "l", "wb") as file:
        if code == errno.EIO:
            with pytest.raises(OSError, match=os.strerror(code)):
                lock(file.fileno())
        else:
            lock(file.fileno())


def test_the_lock_goes_with_the_block_however_that_ends(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="oh"), locked(tmp_path / "l"):
        raise ValueError("oh")
    with open(tmp_path / "l", "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
