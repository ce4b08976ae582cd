import os
import time
from hashlib import sha256
from pathlib import Path

import pytest

from maia.files.blobs import Blobs
from maia.files.placing import PLACE, place_copies
from maia.files.produced import Produced, open_produced, produced


def test_a_content_is_kept_once_and_is_whole(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "kept")
    digests = {blobs.add(b"one") for _ in range(2)}
    assert digests == {sha256(b"one").hexdigest()}
    assert blobs.read(digests.pop()) == b"one"
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 1
    assert {oct(path.stat().st_mode & 0o777) for path in files} == {"0o600"}


def test_what_was_left_half_written_is_swept_and_what_is_kept_stays(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    kept = blobs.add(b"whole")
    blobs.begin().write(b"half")
    assert len(list((tmp_path / "incoming").iterdir())) == 1
    again = Blobs(tmp_path)
    assert again.clear_incoming() == 1
    assert list((tmp_path / "incoming").iterdir()) == []
    assert again.read(kept) == b"whole"


def test_only_what_is_old_counts_as_stray(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    digest = blobs.add(b"x")
    assert list(blobs.strays(time.time())) == []
    assert list(blobs.strays(time.time() + 7200)) == [digest]
    blobs.remove(digest)
    assert list(blobs.strays(time.time() + 7200)) == []


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "A" * 64, "a" * 63])
def test_only_a_digest_leads_anywhere(digest: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no digest"):
        Blobs(tmp_path).path(digest)


# Copies --------------------------------------------------------------------------------------------------------------


def test_copies_are_made_once_and_never_over_another_file(tmp_path: Path) -> None:
    content, other = tmp_path / "content", tmp_path / "other"
    content.write_bytes(b"mine")
    other.write_bytes(b"else")
    folder = tmp_path / "work"
    folder.mkdir()
    assert place_copies(folder, [("a.txt", content)]) == [f"{PLACE}/a.txt"]
    assert place_copies(folder, [("a.txt", content), ("a.txt", other)]) == [f"{PLACE}/a.txt", f"{PLACE}/a (2).txt"]
    assert {p.name: p.read_text() for p in (folder / PLACE).iterdir()} == {
        ".gitignore": "*\n",
        "a.txt": "mine",
        "a (2).txt": "else",
    }


def test_copies_follow_no_link(tmp_path: Path) -> None:
    content, folder, away = tmp_path / "content", tmp_path / "work", tmp_path / "away"
    content.write_bytes(b"mine")
    for each in (folder, away):
        each.mkdir()
    (folder / PLACE).symlink_to(away)
    with pytest.raises(NotADirectoryError):
        place_copies(folder, [("a.txt", content)])
    (folder / PLACE).unlink()
    (folder / PLACE).mkdir()
    (folder / PLACE / "a.txt").symlink_to(away / "target")
    assert place_copies(folder, [("a.txt", content)]) == [f"{PLACE}/a (2).txt"]
    assert list(away.iterdir()) == []


# What a model left ---------------------------------------------------------------------------------------------------


def test_new_and_changed_files_are_found_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for name in ("docs/a.txt", "b.txt", ".hidden", "empty"):
        (tmp_path / name).write_text("" if name == "empty" else name)
    for folder in (".git", "node_modules", PLACE):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x").write_text("x")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "linked").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / os.fsdecode(b"\xff.txt")).write_text("x")
    found = produced(tmp_path, {})
    assert [each.path for each in found] == ["b.txt", "docs/a.txt"]
    known = {each.path: (each.size, each.changed_ns) for each in found}
    assert produced(tmp_path, known) == []
    os.utime(tmp_path / "b.txt", ns=(1, 1))
    assert produced(tmp_path, known) == [Produced("b.txt", 5, 1)]


def test_a_file_is_opened_through_no_link(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a").write_text("a")
    with open(open_produced(tmp_path, "docs/a")) as file:
        assert file.read() == "a"
    (tmp_path / "way").symlink_to("docs")
    (tmp_path / "docs" / "b").symlink_to("a")
    os.mkfifo(tmp_path / "docs" / "pipe")
    for path in ("way/a", "docs/b", "docs/pipe", "docs"):
        with pytest.raises(OSError, match=r"directory|symbolic|plain"):
            open_produced(tmp_path, path)
