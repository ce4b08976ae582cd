from pathlib import Path

import pytest

from maia.core.ports import FileState
from maia.tools.readlog import SessionReads, is_unchanged, state_of


def test_a_file_is_known_under_all_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    (tmp_path / "link").symlink_to("f")
    reads = SessionReads()
    reads.note(tmp_path / "link", FileState(0, 1, "d"))
    assert reads.seen(tmp_path / "f") == FileState(0, 1, "d")
    assert reads.seen(tmp_path / "other") is None


def test_a_log_survives_a_resume(tmp_path: Path) -> None:
    reads = SessionReads()
    reads.note(tmp_path / "f", FileState(3, 99, "abc"))
    again = SessionReads.from_json(reads.to_json())
    assert again.to_json() == reads.to_json()
    assert again.seen(tmp_path / "f") == FileState(3, 99, "abc")


@pytest.mark.parametrize("data", [None, [], {"/a": None}, {"/a": [1, 2]}, {"/a": ["1", 2, "x"]}])
def test_a_damaged_log_is_read_as_far_as_it_goes(data: object) -> None:
    assert SessionReads.from_json(data).to_json() == {}


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
