from __future__ import annotations

import stat
from pathlib import Path

from maia.memory.sqlite_file import open_file


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_memory_is_private_and_closes_no_folder_that_is_not_its_own(tmp_path: Path) -> None:
    common = tmp_path / "common"
    common.mkdir()
    common.chmod(0o777)
    open_file(common / "mine", "a").close()
    assert (mode(common), mode(common / "mine")) == (0o777, 0o700)
    open_file(tmp_path / "new" / "mine", "a").close()
    assert (mode(tmp_path / "new"), mode(tmp_path / "new" / "mine" / "memory.db")) == (0o700, 0o600)
