import asyncio
import os
import time
from pathlib import Path
from typing import Any, cast

import pytest

from maia.core.errors import ToolProblem
from maia.core.permission import Need
from maia.core.ports import Hands
from maia.core.results import DiffBlock, ToolResult
from maia.tools.edit import EditTool
from maia.tools.read import ReadTool
from tests.tools.doubles import FakeChanges, call, hands_at, refusal, words

EDIT = EditTool()
NBSP = "\u00a0"


@pytest.fixture
def hands(tmp_path: Path) -> Hands:
    return hands_at(tmp_path)


def known(hands: Hands, data: bytes | str, name: str = "f") -> Path:
    file = hands.launch / name
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    call(ReadTool(), hands, path=name)
    return file


def edit(hands: Hands, old: str, new: str, **more: Any) -> ToolResult:
    return call(EDIT, hands, path="f", old_string=old, new_string=new, **more)


def refused(hands: Hands, old: str, new: str, **more: Any) -> ToolProblem:
    return refusal(EDIT, hands, path="f", old_string=old, new_string=new, **more)


def test_an_edit_changes_its_span_and_shows_what_stands_there_now(hands: Hands) -> None:
    file = known(hands, "".join(f"{n}\n" for n in range(1, 21)))
    result = edit(hands, "10\n11\n", "ten\neleven\ntwelve\n")
    assert result.text == (
        "f: 1 replacement.\n6\t6\n7\t7\n8\t8\n9\t9\n10\tten\n11\televen\n12\ttwelve\n13\t12\n14\t13\n15\t14\n16\t15"
    )
    assert result.summary == "+3 −2"
    before, after = (block := result.blocks[0]).before, block.after  # pyright: ignore - the only block is a diff
    assert (before, after) == ("".join(f"{n}\n" for n in range(1, 21)), file.read_text())
    assert cast(FakeChanges, hands.changes).records == [("call-1", file, before.encode(), after.encode(), 0o644)]


def test_an_edited_file_is_known_and_may_be_edited_again(hands: Hands) -> None:
    file = known(hands, "a b c\n")
    edit(hands, "a", "x")
    edit(hands, "c", "z")
    assert file.read_text() == "x b z\n"


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        pytest.param(b"a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny", b"a\r\nx\r\ny\r\nc\r\n", id="CRLF on disk, LF in the edit"),
        pytest.param(b"a\r\nb\r\n", "b\r\n", "c\r\n", b"a\r\nc\r\n", id="CRLF in the edit too"),
        pytest.param(b"a\nb\r\nc\rd\n", "b", "x", b"a\nx\r\nc\rd\n", id="mixed line ends stay"),
        pytest.param(b"a\nb\r\nc\nd\r\n", "b\nc", "b\nX\nc", b"a\nb\r\nX\r\nc\nd\r\n", id="mixed within the span too"),
        pytest.param(b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n", id="the byte order mark stays"),
        pytest.param(b"caf\xe9 cr\xe8me\n", "café", "thé", b"th\xe9 cr\xe8me\n", id="latin-1"),
        pytest.param("é\r\n".encode("utf-16"), "é", "è", "è\r\n".encode("utf-16"), id="UTF-16"),
        pytest.param(b"a\nb", "b", "c", b"a\nc", id="no final newline stays none"),
        pytest.param(b"a\nb\n", "b", "c", b"a\nc\n", id="a final newline stays"),
        pytest.param(b"a\nb", "a\nb\n", "a\nc\n", b"a\nc", id="the edit has a final newline, the file has none"),
        pytest.param(b"a  \nb \nold\n", "old", "new", b"a  \nb \nnew\n", id="trailing spaces elsewhere stay"),
        pytest.param(b"a\x0cb\x85\n", "a", "x", b"x\x0cb\x85\n", id="form feed and NEL end no line"),
        pytest.param(b"aXbXc", "X", "", b"abc", id="all of them"),
    ],
)
def test_bytes_outside_the_span_never_change(hands: Hands, before: bytes, old: str, new: str, after: bytes) -> None:
    file = known(hands, before)
    edit(hands, old, new, replace_all=True)
    assert file.read_bytes() == after


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        pytest.param(f"prix{NBSP}: 5{NBSP}€\n", "prix : 5 €", "prix : 6 €", f"prix{NBSP}: 6{NBSP}€\n", id="NBSP"),
        pytest.param("dit “oui”, ‘non’\n", "dit \"oui\", 'non'", "dit \"oui\", 'si'", "dit “oui”, ‘si’\n", id="quotes"),
        pytest.param("1990–2000 — fin\n", "1990-2000 - fin", "1990-2001 - fin", "1990–2001 — fin\n", id="dashes"),
        pytest.param("et… puis\n", "et... puis", "et... alors", "et… alors\n", id="an ellipsis"),
        pytest.param(
            "a = 1  \nb = 2\t\nc\n", "a = 1\nb = 2", "a = 1\nb = 3", "a = 1  \nb = 3\t\nc\n", id="trailing spaces"
        ),
        pytest.param(
            "def f():\n\tx = 1\n\treturn x\n",
            "def f():\n    x = 1\n    return x",
            "def f():\n    x = 2\n    y = 3\n    if y:\n        y = 4\n    return x",
            "def f():\n\tx = 2\n\ty = 3\n\tif y:\n\t\ty = 4\n\treturn x\n",
            id="tabs shown as spaces, new lines get tabs",
        ),
        pytest.param(
            "if a:\n  b\n  c\n", "if a:\n\tb", "if a:\n\tb\n\td", "if a:\n  b\n  d\n  c\n", id="spaces taken for tabs"
        ),
        pytest.param("x\t=\t1\n", "x = 1", "x = 2", "x\t=\t2\n", id="a tab within a line"),
    ],
)
def test_a_tolerant_match_only_locates_and_keeps_the_characters_of_the_file(
    hands: Hands, before: str, old: str, new: str, after: str
) -> None:
    rest = f"“rest”{NBSP}… \t\r\n"
    file = known(hands, rest + before + rest)
    result = edit(hands, old, new)
    assert file.read_bytes().decode() == rest + after + rest
    assert "(Found but for spaces, tabs or quotes; the rest of the file keeps its own.)" in result.text


def test_an_exact_match_wins_over_tolerant_ones(hands: Hands) -> None:
    file = known(hands, 'say “a”\nsay "a"\n')
    edit(hands, 'say "a"', 'say "b"')
    assert file.read_text() == 'say “a”\nsay "b"\n'


def test_line_numbers_copied_from_read_are_understood(hands: Hands) -> None:
    file = known(hands, "alpha\n\tbeta\ngamma\n")
    edit(hands, "1\talpha\n2\t\tbeta", "1\talpha\n2\t\tBETA\n\tdelta")
    assert file.read_text() == "alpha\n\tBETA\n\tdelta\ngamma\n"


def test_several_matches_are_refused_with_their_lines(hands: Hands) -> None:
    file = known(hands, "x = 1\ny\nx = 1\nx = 1\n")
    problem = refused(hands, "x = 1", "x = 2")
    assert words(problem) == "old_string occurs 3 times in f (lines 1, 3, 4): nothing was changed."
    assert file.read_text() == "x = 1\ny\nx = 1\nx = 1\n"


def test_several_tolerant_matches_are_refused_too(hands: Hands) -> None:
    known(hands, "“a”\n„a”\n")
    assert refused(hands, '"a"', '"b"').values["lines"] == "1, 2"


def test_overlapping_matches_are_no_unique_match(hands: Hands) -> None:
    file = known(hands, "aaa\n")
    assert refused(hands, "aa", "b").values["count"] == 2
    edit(hands, "aa", "b", replace_all=True)
    assert file.read_text() == "ba\n"


def test_replace_all_replaces_all(hands: Hands) -> None:
    file = known(hands, "old(1)\r\nx\r\nold(2)\r\n")
    assert edit(hands, "old(", "brand_new(", replace_all="true").text.startswith("f: 2 replacements.")
    assert file.read_bytes() == b"brand_new(1)\r\nx\r\nbrand_new(2)\r\n"


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [("", "x", "tool.edit.empty_old"), ("a", "a", "tool.edit.same"), ("a\r\n", "a\n", "tool.edit.same")],
)
def test_an_edit_that_says_nothing_is_refused(hands: Hands, old: str, new: str, key: str) -> None:
    known(hands, "a\n")
    assert refused(hands, old, new).key == key


def test_a_text_that_is_not_there_names_the_nearest_lines(hands: Hands) -> None:
    known(hands, "import os\n\ndef compute_total(items):\n    return sum(items)\n")
    assert words(refused(hands, "def compute_totals(item):", "x")) == (
        "old_string was not found in f: nothing was changed. Lines that come near:\n3\tdef compute_total(items):"
    )
    assert words(refused(hands, "def compute_total(items):\n    return max(items)", "x")) == (
        "old_string was not found in f: nothing was changed. Lines that come near:\n"
        "4\t    return sum(items)\n(at line 4, old_string has: return max(items))"
    )
    assert refused(hands, "nothing like it 123456", "x").key == "tool.edit.not_found"


def test_a_file_that_was_not_read_is_not_edited(hands: Hands) -> None:
    (hands.launch / "f").write_text("a")
    assert refused(hands, "a", "b").key == "tool.not_read"


def test_a_file_that_changed_since_it_was_read_is_not_edited(hands: Hands) -> None:
    file = known(hands, "a\n")
    stat = file.stat()
    file.write_text("b\n")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert refused(hands, "b", "c").key == "tool.changed_since_read"
    assert file.read_text() == "b\n"


def test_a_missing_file_suggests_what_comes_near(hands: Hands) -> None:
    (hands.launch / "fo").touch()
    assert refused(hands, "a", "b").values["near"] == "fo"


def test_a_binary_file_is_not_edited(hands: Hands) -> None:
    known(hands, "text")
    file = hands.launch / "f"
    file.write_bytes(b"a\x00b")
    hands = hands_at(hands.launch)
    from maia.tools.readlog import state_of

    hands.reads.note(file, state_of(file.stat(), b"a\x00b"))
    assert refused(hands, "a", "b").key == "tool.edit.binary"


def test_a_character_that_the_file_cannot_hold_is_refused(hands: Hands) -> None:
    file = known(hands, b"caf\xe9\n")
    assert refused(hands, "café", "→").values == {"path": "f", "encoding": "cp1252", "character": "U+2192", "line": 1}
    assert file.read_bytes() == b"caf\xe9\n"


def test_line_ends_that_would_melt_together_are_refused(hands: Hands) -> None:
    file = known(hands, b"a\rb\nc")
    assert refused(hands, "b", "").key == "tool.unsafe_line_ends"
    assert file.read_bytes() == b"a\rb\nc"


def test_mode_and_link_stay(hands: Hands) -> None:
    target = known(hands, "old\n", "run.sh")
    target.chmod(0o755)
    (hands.launch / "f").symlink_to("run.sh")
    edit(hands, "old", "new")
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("new\n", 0o755)
    assert (hands.launch / "f").is_symlink()


def test_the_proposal_shows_the_change_and_makes_none(hands: Hands) -> None:
    file = known(hands, "a\n")
    args = EDIT.parse({"path": "f", "old_string": "a", "new_string": "b"})
    assert asyncio.run(EDIT.proposal(args, hands)) == (DiffBlock("f", "a\n", "b\n"),)
    assert file.read_text() == "a\n"


def test_an_edit_that_cannot_be_made_is_refused_before_anybody_is_asked(hands: Hands) -> None:
    known(hands, "a\n")
    args = EDIT.parse({"path": "f", "old_string": "zzz", "new_string": "b"})
    with pytest.raises(ToolProblem):
        asyncio.run(EDIT.proposal(args, hands))


def test_the_need_the_row_and_the_lock_name_the_file(hands: Hands) -> None:
    args = EDIT.parse({"file_path": "./f", "old_str": "a", "new_str": "b"})
    assert EDIT.needs(args, hands.launch) == (Need("Edit", "path", "./f"),)
    assert EDIT.preview(args) == "./f"
    assert EDIT.lock_key(args, hands.launch) == str(hands.launch / "f")


def test_a_long_new_text_is_shown_in_part(hands: Hands) -> None:
    known(hands, "a\n")
    text = edit(hands, "a", "\n".join("x" * 600 for _ in range(200))).text
    assert len(text.splitlines()) == 61
    assert "[…100 more characters]" in text


def test_replacing_in_every_line_of_a_long_file_is_quick(hands: Hands) -> None:
    file = known(hands, "".join(f"old_name({n})\r\n" for n in range(50_000)))
    start = time.process_time()
    result = edit(hands, "old_name", "new_name", replace_all=True)
    assert time.process_time() - start < 10, "seconds of CPU"
    assert result.summary == "+50000 −50000"
    assert file.read_bytes() == b"".join(b"new_name(%d)\r\n" % n for n in range(50_000))
