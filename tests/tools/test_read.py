import asyncio
import os
import threading
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.errors import ToolProblem
from maia.core.fileread import digest
from maia.core.permission import Need, Verdict
from maia.core.ports import Hands
from maia.core.results import ToolResult
from maia.tools import paths, read
from maia.tools.edit import EditTool
from maia.tools.glob import GlobTool
from maia.tools.grep import GrepTool
from maia.tools.read import MAX_LINE_CHARS, Page, ReadTool, take_page
from maia.tools.write import WriteTool
from tests.tools.doubles import FRENCH, call, hands_at, refusal, rules, words

READ = ReadTool()


@pytest.fixture
def hands(tmp_path: Path) -> Hands:
    return hands_at(tmp_path)


def test_lines_come_with_their_numbers(hands: Hands) -> None:
    file = hands.launch / "f.py"
    file.write_bytes(b"one\r\n\ttwo\r\nthree")
    assert call(READ, hands, path="f.py") == ToolResult(
        "1\tone\n2\t\ttwo\n3\tthree",
        summary="3 lines",
        data={"path": str(file), "digest": digest(file.read_bytes()), "first": 1, "last": 3, "total": 3},
    )


def test_the_row_counts_lines_in_french(tmp_path: Path) -> None:
    hands = hands_at(tmp_path, say=FRENCH)
    (tmp_path / "f").write_text("a\n" * 412)
    assert call(READ, hands, path="f").summary == "412 lignes"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"offset": 3}, "3\tc\n4\td\n5\te"),
        ({"offset": 2, "limit": 2}, "2\tb\n3\tc\n[Lines 2 to 3 of 5. To go on: offset=4]"),
        ({"limit": 5}, "1\ta\n2\tb\n3\tc\n4\td\n5\te"),
        ({"offset": 0, "limit": "1"}, "1\ta\n[Lines 1 to 1 of 5. To go on: offset=2]"),
        ({"offset": 5}, "5\te"),
    ],
)
def test_offset_and_limit_choose_lines(hands: Hands, arguments: dict[str, object], text: str) -> None:
    (hands.launch / "f").write_text("a\nb\nc\nd\ne\n")
    assert call(READ, hands, path="f", **arguments).text == text


def test_an_offset_beyond_the_end_says_how_many_lines_there_are(hands: Hands) -> None:
    (hands.launch / "f").write_text("a\nb\n")
    assert words(refusal(READ, hands, path="f", offset=9)) == "f has only 2 lines: there is no line 9."


def test_an_empty_file_is_said_to_be_empty(hands: Hands) -> None:
    (hands.launch / "f").write_bytes(b"")
    assert call(READ, hands, path="f").text == "The file is empty (0 bytes)."
    assert hands.reads.seen(hands.launch / "f") is not None


def test_a_long_line_is_cut_and_says_by_how_much(hands: Hands) -> None:
    (hands.launch / "f").write_text("x" * (MAX_LINE_CHARS + 5) + "\nshort\n")
    assert call(READ, hands, path="f").text == f"1\t{'x' * MAX_LINE_CHARS} […5 more characters]\n2\tshort"


def test_a_long_file_is_given_in_pages(hands: Hands) -> None:
    (hands.launch / "f").write_text("".join(f"{n}\n" for n in range(1, 2501)))
    text = call(READ, hands, path="f").text
    assert text.endswith("2000\t2000\n[Lines 1 to 2000 of 2500. To go on: offset=2001]")


def test_many_long_lines_stay_within_the_limit_of_characters(hands: Hands) -> None:
    (hands.launch / "f").write_text(("y" * 1500 + "\n") * 500)
    result = call(READ, hands, path="f")
    assert len(result.text) < read.MAX_CHARS + 200
    assert f"[Lines 1 to {result.data['last']} of 500. To go on: offset={result.data['last'] + 1}]" in result.text


def test_a_big_file_reads_only_what_is_asked(hands: Hands) -> None:
    file = hands.launch / "big.log"
    with open(file, "wb") as out:
        out.write(b"first\nsecond\nthird\n" * 1000)
        out.truncate(5 * 1024**3)  # sparse: 5 GB that take no room
    start = time.process_time()
    result = call(READ, hands, path="big.log", limit=2)
    assert time.process_time() - start < 0.5, "seconds of CPU"
    assert result.text == "1\tfirst\n2\tsecond\n[Lines 1 to 2 of a big file. To go on: offset=3]"
    state = hands.reads.seen(file)
    assert state is not None
    assert (state.size, state.digest) == (5 * 1024**3, "")


def test_lines_deep_in_a_big_file_are_found(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "WHOLE_BYTES", 1000)
    (hands.launch / "f").write_bytes("".join(f"ligne é {n}\r\n" for n in range(1, 50_001)).encode("utf-16"))
    assert call(READ, hands, path="f", offset=49_999).text == "49999\tligne é 49999\n50000\tligne é 50000"
    assert words(refusal(READ, hands, path="f", offset=50_001)) == "f has only 50000 lines: there is no line 50001."


def test_one_endless_line_ends_at_the_limit_of_memory() -> None:
    def endless() -> Iterator[str]:
        while True:
            yield "z" * (1 << 20)

    stop = threading.Event()
    page = take_page(endless(), 1, 10, stop)
    assert (len(page.lines), len(page.lines[0][0]), page.ended) == (1, MAX_LINE_CHARS, False)


@given(
    st.lists(st.text(st.sampled_from("ab"), max_size=4), max_size=12),
    st.booleans(),
    st.integers(1, 14),
    st.integers(1, 6),
    st.integers(1, 7),
)
def test_a_page_is_the_same_however_the_text_is_cut_into_chunks(
    lines: list[str], ended: bool, offset: int, limit: int, size: int
) -> None:
    text = "\n".join(lines) + ("\n" if ended and lines else "")
    expected = text.split("\n")
    if not expected[-1]:
        expected.pop()
    wanted = tuple((line, 0) for line in expected[offset - 1 : offset - 1 + limit])
    chunks = (text[at : at + size] for at in range(0, len(text), size))
    page = take_page(chunks, offset, limit, threading.Event())
    whole = offset - 1 + limit >= len(expected)
    assert page == Page(offset, wanted, whole, page.passed)
    if whole:
        assert page.passed == len(expected)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\n\x00", "a.png is an image (PNG image, 9 bytes): Read shows only text so far."),
        ("a.gz", b"\x1f\x8b\x08\x00", "a.gz is a binary file (gzip, 4 bytes), not a text."),
        ("a.bin", b"\x00\x01", "a.bin is a binary file (?, 2 bytes), not a text."),
    ],
)
def test_a_binary_file_is_named_with_its_kind_and_size(hands: Hands, name: str, data: bytes, said: str) -> None:
    (hands.launch / name).write_bytes(data)
    assert words(refusal(READ, hands, path=name)) == said
    assert hands.reads.seen(hands.launch / name) is None


def test_a_fifo_or_a_device_is_refused_without_being_opened(hands: Hands) -> None:
    os.mkfifo(hands.launch / "pipe")
    for path in ("pipe", "/dev/zero", "/dev/stdin"):
        if Path(path).is_file():
            continue
        assert refusal(READ, hands, path=path).key in ("tool.path.special", "tool.path.missing")


def test_a_folder_is_listed_without_what_a_rule_denies(tmp_path: Path) -> None:
    hands = hands_at(tmp_path, allowed=rules(secret=Verdict.DENY))
    (tmp_path / "d" / "sub").mkdir(parents=True)
    for name in ("b.py", "a.py", "secret.key"):
        (tmp_path / "d" / name).touch()
    assert call(READ, hands, path="d").text == "d is a folder with 4 entries, 3 shown:\nsub/\na.py\nb.py"


def test_a_missing_file_suggests_what_comes_near(hands: Hands) -> None:
    (hands.launch / "src").mkdir()
    for name in ("facturation.py", "Readme.md"):
        (hands.launch / "src" / name).touch()
    assert words(refusal(READ, hands, path="src/factruation.py")) == (
        "src/factruation.py does not exist. Did you mean: src/facturation.py?"
    )
    assert refusal(READ, hands, path="src/README.txt").values["near"] == "src/Readme.md"
    assert refusal(READ, hands, path="/src/facturation.py").values["near"] == "src/facturation.py"
    assert words(refusal(READ, hands, path="zzz")) == "zzz does not exist."


def test_a_suggestion_never_names_what_a_rule_denies(tmp_path: Path) -> None:
    hands = hands_at(tmp_path, allowed=rules(secret=Verdict.DENY))
    (tmp_path / "secrets.py").touch()
    assert words(refusal(READ, hands, path="secrts.py")) == "secrts.py does not exist."


@pytest.mark.parametrize("asked", ["l'été.txt", unicodedata.normalize("NFD", "l'été.txt"), "l’été.txt"])
@pytest.mark.parametrize("disk", [unicodedata.normalize("NFC", "l'été.txt"), unicodedata.normalize("NFD", "l’été.txt")])
def test_accents_and_quotes_are_found_however_the_disk_spells_them(hands: Hands, asked: str, disk: str) -> None:
    (hands.launch / disk).write_text("été")
    assert call(READ, hands, path=asked).text == "1\tété"
    assert READ.lock_key(READ.parse({"path": asked}), hands.launch) == str(hands.launch / disk)


def test_a_screenshot_of_macos_is_found_with_a_plain_space(hands: Hands) -> None:
    disk = "Screenshot 2026-01-02 at 9.41.00\u202fAM.txt"
    (hands.launch / disk).write_text("x")
    args = READ.parse({"path": "Screenshot 2026-01-02 at 9.41.00 AM.txt"})
    assert READ.needs(args, hands.launch) == (Need("Read", "path", str(hands.launch / disk)),)
    assert call(READ, hands, path=args.path).text == "1\tx"


def test_two_spellings_on_disk_are_not_guessed_between(hands: Hands) -> None:
    (hands.launch / "a\u00a0b").write_text("1")
    (hands.launch / "a\u202fb").write_text("2")
    assert refusal(READ, hands, path="a b").key.startswith("tool.path.missing")


@pytest.mark.parametrize(
    ("path", "need"), [("src/a.py", "src/a.py"), ("./x/../y", "./x/../y"), ("/etc/hosts", "/etc/hosts"), ("~/k", "~/k")]
)
def test_the_need_is_the_path_as_given(path: str, need: str, tmp_path: Path) -> None:
    assert READ.needs(READ.parse({"path": path}), tmp_path) == (Need("Read", "path", need),)


def test_home_and_absolute_paths_are_read(hands: Hands, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "f").write_text("x")
    assert call(READ, hands, path="~/f").text == call(READ, hands, path=str(tmp_path / "f")).text == "1\tx"


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_what_is_no_path_is_refused(hands: Hands, path: str) -> None:
    assert refusal(READ, hands, path=path).key == "tool.path.invalid"


def test_the_same_file_under_two_names_has_one_lock_and_one_state(hands: Hands) -> None:
    (hands.launch / "real").write_text("x")
    (hands.launch / "link").symlink_to("real")
    (hands.launch / "d").mkdir()
    keys = {
        READ.lock_key(READ.parse({"path": path}), hands.launch)
        for path in ("real", "link", "./d/../real", str(hands.launch / "link"))
    }
    assert keys == {str(hands.launch / "real")}
    call(READ, hands, path="link")
    state = hands.reads.seen(hands.launch / "real")
    assert state is not None
    assert state.digest == digest(b"x")


def test_a_link_loop_is_an_error_with_words(hands: Hands) -> None:
    (hands.launch / "a").symlink_to("b")
    (hands.launch / "b").symlink_to("a")
    assert refusal(READ, hands, path="a").key == "tool.path.link_loop"


def test_a_link_that_leads_to_a_denied_place_by_now_is_refused(tmp_path: Path) -> None:
    hands = hands_at(tmp_path, allowed=rules(secret=Verdict.DENY))
    (tmp_path / "secret").write_text("key")
    (tmp_path / "innocent").symlink_to("secret")
    assert refusal(READ, hands, path="innocent").key == "tool.path.rule_denies"


def test_an_unreadable_file_is_an_error_with_words(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    (hands.launch / "f").touch()

    def denied(_path: Path) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(read, "open_regular", denied)  # root may read everything
    assert words(refusal(READ, hands, path="f")) == "f: the system refuses access (Permission denied)."


@pytest.mark.parametrize(
    ("arguments", "row"),
    [({"path": "f"}, "f"), ({"path": "f", "offset": 5, "limit": 3}, "f:5-7")],
)
def test_the_row_names_the_file_and_the_lines(arguments: dict[str, object], row: str) -> None:
    assert READ.preview(READ.parse(arguments)) == row


def test_a_read_proposes_no_change(hands: Hands) -> None:
    assert asyncio.run(READ.proposal(READ.parse({"path": "f"}), hands)) == ()


def test_a_cancelled_read_of_a_big_file_ends_soon(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_args: object) -> Iterator[str]:
        while True:
            time.sleep(0.01)
            yield "x\n"

    monkeypatch.setattr(read, "WHOLE_BYTES", 1)
    monkeypatch.setattr(read, "_decoded", slow)
    (hands.launch / "f").write_text("many\n")

    async def go() -> None:
        task = asyncio.create_task(READ.run(READ.parse({"path": "f", "offset": 10**9}), hands))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(go(), 60))


def test_a_name_that_is_no_unicode_is_shown_readably_and_can_be_read_by_what_was_shown(hands: Hands) -> None:
    (hands.launch / os.fsdecode(b"caf\xe9\x1b")).write_text("x")
    shown = call(READ, hands, path=".").text.splitlines()[1]
    assert shown == "caf\ufffd␛"
    assert call(READ, hands, path=shown).text == "1\tx"


@pytest.mark.parametrize(
    "path", ["\ud800", "a\udce9\0", "x" * 5000, "~nobody-here/x", "/" * 300, "a/" * 3000, "\n", "%s{}"]
)
def test_no_path_breaks_a_file_tool(hands: Hands, path: str) -> None:
    for tool, more in (
        (READ, {}),
        (WriteTool(), {"content": "\ud800"}),
        (EditTool(), {"old_string": "a", "new_string": "b"}),
        (GlobTool(), {"pattern": "\ud800*"}),
        (GrepTool(), {"pattern": "a\0"}),
    ):
        try:
            arguments = tool.parse({"path": path, **more})
            tool.needs(arguments, hands.launch)
            tool.lock_key(arguments, hands.launch)
            call(tool, hands, path=path, **more)
        except ToolProblem:
            assert refusal(tool, hands, path=path, **more)


def test_a_link_put_in_place_of_a_file_meanwhile_is_not_followed(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    (hands.launch / "f").write_text("harmless")
    (hands.launch / "secret").write_text("key")
    real = read.open_regular

    def swapped(path: Path) -> int:
        path.unlink()
        path.symlink_to("secret")
        return real(path)

    monkeypatch.setattr(read, "open_regular", swapped)
    assert refusal(READ, hands, path="f").key == "tool.path.link_loop"


def test_a_long_folder_is_listed_in_part(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MAX_ENTRIES", 2)
    for n in range(5):
        (hands.launch / f"f{n}").touch()
    result = call(READ, hands, path=".")
    assert (result.text, result.summary) == (". is a folder with 5 entries, 2 shown:\nf0\nf1", "5 entries")


def test_a_folder_with_too_many_names_gives_no_suggestion(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "_MAX_SIBLINGS", 2)
    for n in range(5):
        (hands.launch / f"file{n}").touch()
    assert words(refusal(READ, hands, path="file9")) == "file9 does not exist."


def test_home_that_is_not_known_is_an_error_with_words(hands: Hands) -> None:
    assert words(refusal(READ, hands, path="~nobody-at-all/x")) == "~nobody-at-all/x: the home folder is not known."
