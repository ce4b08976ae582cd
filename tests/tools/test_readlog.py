from pathlib import Path

from maia.core.ports import FileState
from maia.tools.readlog import SessionReads, is_unchanged, state_of


def test_a_file_is_known_under_all_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    (tmp_path / "link").symlink_to("f")
    reads = SessionReads()
    reads.note(tmp_path / "link", FileState(0, 1, "d"))
    assert reads.seen(tmp_path / "f") == FileState(0, 1, "d")
    assert reads.seen(tmp_path / "other") is None


def test_a_touched_file_with_the_same_content_is_unchanged_and_a_swapped_one_is_not(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"same")
    noted = state_of(file.stat(), b"same")
    file.write_bytes(b"same")
    assert is_unchanged(noted, file.stat(), b"same")
    assert not is_unchanged(noted, file.stat(), b"diff")


def test_a_big_file_is_compared_by_size_and_time(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"big")
    noted = state_of(file.stat(), None)
    assert noted.digest == ""
    assert is_unchanged(noted, file.stat(), b"big")
    file.write_bytes(b"bigger")
    assert not is_unchanged(noted, file.stat(), b"bigger")
