import asyncio
import errno
import os
from pathlib import Path
from typing import cast

import pytest

from maia.core.fileread import digest
from maia.core.permission import Need, Verdict
from maia.core.ports import Hands
from maia.core.results import DiffBlock, ToolResult
from maia.tools import files
from maia.tools.read import ReadTool
from maia.tools.write import WriteTool
from tests.tools.doubles import FakeChanges, call, hands_at, refusal, rules, words

WRITE = WriteTool()


@pytest.fixture
def hands(tmp_path: Path) -> Hands:
    return hands_at(tmp_path)


def known(hands: Hands, name: str, data: bytes) -> Path:
    """A file that the session has read."""
    file = hands.launch / name
    file.write_bytes(data)
    call(ReadTool(), hands, path=name)
    return file


def test_a_new_file_is_made_with_its_folders_and_remembered(hands: Hands) -> None:
    file = hands.launch / "a" / "b.py"
    result = call(WRITE, hands, path="a/b.py", content="one\ntwo\n")
    assert result == ToolResult(
        "Created a/b.py (2 lines).",
        summary="2 lines",
        blocks=(DiffBlock("a/b.py", "", "one\ntwo\n"),),
        data={"path": str(file), "digest": digest(b"one\ntwo\n"), "created": True, "bytes": 8},
    )
    assert file.read_bytes() == b"one\ntwo\n"
    assert cast(FakeChanges, hands.changes).records == [("call-1", file, None, b"one\ntwo\n", 0o644)]
    assert call(WRITE, hands, path="a/b.py", content="again").summary == "+1 −2"


def test_a_file_that_was_not_read_is_not_overwritten(hands: Hands) -> None:
    (hands.launch / "f").write_text("theirs")
    assert words(refusal(WRITE, hands, path="f", content="x")) == "f exists and was not read in this session."
    assert (hands.launch / "f").read_text() == "theirs"


def test_a_file_that_changed_since_it_was_read_is_not_overwritten(hands: Hands) -> None:
    file = known(hands, "f", b"old")
    file.write_text("theirs")
    assert words(refusal(WRITE, hands, path="f", content="x")) == (
        "f has changed since it was last read: nothing was written."
    )
    assert file.read_text() == "theirs"


def test_a_file_that_was_only_touched_may_be_overwritten(hands: Hands) -> None:
    file = known(hands, "f", b"old")
    os.utime(file, (1, 1))
    call(WRITE, hands, path="f", content="new")
    assert file.read_text() == "new"


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        pytest.param(b"a\r\nb\r\n", "a\nc\n", b"a\r\nc\r\n", id="CRLF stays"),
        pytest.param(b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfb\n", id="the byte order mark stays"),
        pytest.param(b"caf\xe9\n", "thé\n", b"th\xe9\n", id="latin-1 stays"),
        pytest.param("a\n".encode("utf-16"), "é\n", "é\n".encode("utf-16"), id="UTF-16 stays"),
        pytest.param(b"a\r\nb\nc\n", "a\nb\nX\n", b"a\r\nb\nX\n", id="mixed line ends stay where the lines do"),
        pytest.param(b"a\n", "no end", b"no end", id="the new content says how it ends"),
        pytest.param(b"", "a\r\nb\n", b"a\r\nb\n", id="an empty file has no line ends of its own"),
    ],
)
def test_encoding_mark_and_line_ends_of_the_file_stay(hands: Hands, before: bytes, content: str, after: bytes) -> None:
    file = known(hands, "f", before)
    call(WRITE, hands, path="f", content=content)
    assert file.read_bytes() == after


def test_a_character_that_the_file_cannot_hold_is_refused(hands: Hands) -> None:
    file = known(hands, "f", b"caf\xe9\n")
    assert words(refusal(WRITE, hands, path="f", content="ok\n日本\n")) == (
        "The character U+65E5 (line 2) does not exist in the encoding of f (cp1252): nothing was written."
    )
    assert file.read_bytes() == b"caf\xe9\n"


def test_the_mode_stays_and_a_link_keeps_leading_to_its_target(hands: Hands) -> None:
    target = known(hands, "run.sh", b"old")
    target.chmod(0o755)
    (hands.launch / "link").symlink_to("run.sh")
    call(WRITE, hands, path="link", content="new")
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("new", 0o755)
    assert (hands.launch / "link").is_symlink()


def test_a_link_to_nothing_makes_its_target(hands: Hands) -> None:
    (hands.launch / "link").symlink_to("target")
    call(WRITE, hands, path="link", content="x")
    assert ((hands.launch / "target").read_text(), (hands.launch / "link").is_symlink()) == ("x", True)


def test_the_same_content_is_not_written_again(hands: Hands) -> None:
    file = known(hands, "f", b"same\n")
    before = file.stat()
    result = call(WRITE, hands, path="f", content="same\n")
    assert (result.text, result.summary, result.blocks) == (
        "f already had this content: nothing was written.",
        "unchanged",
        (),
    )
    assert file.stat() == before
    assert cast(FakeChanges, hands.changes).records == []


@pytest.mark.parametrize(
    ("make", "key"),
    [
        ("folder", "tool.path.is_folder"),
        ("fifo", "tool.path.special"),
        ("file above", "tool.path.not_folder"),
        ("long name", "tool.path.name_too_long"),
    ],
)
def test_a_place_that_takes_no_file_is_an_error_with_words(hands: Hands, make: str, key: str) -> None:
    path = "f"
    if make == "folder":
        (hands.launch / "f").mkdir()
    elif make == "fifo":
        os.mkfifo(hands.launch / "f")
    elif make == "file above":
        (hands.launch / "f").touch()
        path = "f/g"
    else:
        path = "n" * 300
    assert refusal(WRITE, hands, path=path, content="x").key == key


def test_a_full_disk_says_so_and_leaves_the_old_file(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    file = known(hands, "f", b"old")

    def full(_fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert words(refusal(WRITE, hands, path="f", content="new")) == (
            "f: no space left on the disk. The old file is intact."
        )
    assert file.read_bytes() == b"old"
    assert os.listdir(hands.launch) == ["f"]
    assert cast(FakeChanges, hands.changes).records == []


def test_a_file_that_changes_between_the_check_and_the_write_is_kept(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = known(hands, "f", b"old")
    real = files.encoded

    def meanwhile(*args: object) -> bytes:
        file.write_bytes(b"theirs")
        return real(*args)  # pyright: ignore[reportArgumentType] - passed on as they came

    monkeypatch.setattr(files, "encoded", meanwhile)
    assert refusal(WRITE, hands, path="f", content="new").key == "tool.path.changed_meanwhile"
    assert file.read_bytes() == b"theirs"


def test_a_file_too_big_to_be_kept_for_undo_is_not_overwritten(hands: Hands) -> None:
    file = hands.launch / "f"
    with open(file, "wb") as out:
        out.truncate(33 * 1024 * 1024)
    assert refusal(WRITE, hands, path="f", content="x").key == "tool.path.too_big"


def test_a_link_that_leads_to_a_denied_place_by_now_is_not_written(tmp_path: Path) -> None:
    hands = hands_at(tmp_path, allowed=rules(secret=Verdict.DENY))
    (tmp_path / "innocent").symlink_to("secret")
    assert refusal(WRITE, hands, path="innocent", content="x").key == "tool.path.rule_denies"
    assert not (tmp_path / "secret").exists()


def test_the_proposal_shows_the_change_and_makes_none(hands: Hands) -> None:
    file = known(hands, "f", b"a\r\nb\r\n")
    blocks = asyncio.run(WRITE.proposal(WRITE.parse({"path": "f", "content": "a\nc\n"}), hands))
    assert blocks == (DiffBlock("f", "a\nb\n", "a\nc\n"),)
    assert file.read_bytes() == b"a\r\nb\r\n"


def test_the_need_the_row_and_the_lock_name_the_file(hands: Hands) -> None:
    args = WRITE.parse({"path": "d/../f", "content": ""})
    assert WRITE.needs(args, hands.launch) == (Need("Write", "path", "d/../f"),)
    assert WRITE.preview(args) == "d/../f"
    (hands.launch / "d").mkdir()
    assert WRITE.lock_key(args, hands.launch) == str(hands.launch / "f")


def test_the_change_of_a_long_file_is_shown_with_its_surroundings_only() -> None:
    before = "".join(f"line {n}\n" for n in range(1, 10_001))
    after = before.replace("line 5000\n", "changed\n")
    assert files.diff_block("f", before, after) == DiffBlock(
        "f",
        "".join(f"line {n}\n" for n in range(4997, 5004)),
        "line 4997\nline 4998\nline 4999\nchanged\nline 5001\nline 5002\nline 5003\n",
        first_line=4997,
    )


@pytest.mark.parametrize(
    ("before", "after", "counts"),
    [("", "a\nb\n", (2, 0)), ("a\nb\nc\n", "a\nX\nc\n", (1, 1)), ("a\n", "", (0, 1)), ("a\nb\n", "b\na\n", (1, 1))],
)
def test_lines_that_came_and_went_are_counted(before: str, after: str, counts: tuple[int, int]) -> None:
    assert files.changed_lines(before, after) == counts


def test_line_ends_that_would_melt_together_are_refused(hands: Hands) -> None:
    file = known(hands, "f", b"a\rb\nc\r")
    assert refusal(WRITE, hands, path="f", content="a\n\nc\n").key == "tool.unsafe_line_ends"
    assert file.read_bytes() == b"a\rb\nc\r"
