import codecs
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maia.sandbox import output as module
from maia.sandbox.output import Output, fold_line


def printed(*pieces: bytes, max_chars: int = 10_000, folder: Path | None = None) -> Output:
    output = Output(max_chars, folder)
    for piece in pieces:
        output.feed(piece)
    output.finish()
    return output


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        pytest.param(b"\x1b[31mred\x1b[0m", "red", id="colours"),
        pytest.param(b"\x1b[38;2;1;2;3mx\x1b[K", "x", id="true colour, erase"),
        pytest.param(b"\x1b]0;a title\x07text", "text", id="window title"),
        pytest.param(b"\x1b]8;;https://a.b/\x1b\\link\x1b]8;;\x1b\\", "link", id="hyperlink"),
        pytest.param(b"\x1bPq#0;2\x1b\\after", "after", id="sixel picture"),
        pytest.param(b"\x1b(Ba\x1b=b\x1b7c\x1bMd", "abcd", id="short sequences"),
        pytest.param(b"\xc2\x9b1mbold", "bold", id="one-character introducer"),
        pytest.param(b"cut \x1b[3", "cut [3", id="sequence that never ends stays readable"),
        pytest.param(b"a\r\nb\r\r\nc", "a\nb\nc", id="line ends of another system"),
        pytest.param(b" 10%\r 50%\r100%\ndone", "100%\ndone", id="progress"),
        pytest.param(b" 10%\r 50%\r", " 50%", id="progress that ends on a return"),
        pytest.param(b"a|\b/\b-\bX\n", "aX\n", id="spinner by backspace"),
        pytest.param(b"\b\bok", "ok", id="nothing to rub out"),
        pytest.param("é日😀".encode(), "é日😀", id="utf-8"),
        pytest.param(b"a\xffb\xc3", "a\ufffdb\ufffd", id="no utf-8"),
    ],
)
def test_what_a_terminal_would_show_in_the_end_is_kept(raw: bytes, shown: str) -> None:
    assert printed(raw).text == shown
    assert printed(*(bytes([byte]) for byte in raw)).text == shown


ODD = st.sampled_from(
    [b"\x1b[3", b"1m", b"\x1b]0;t", b"\x07", b"\\", b"\r", b"\n", b"\b", b"\xc3", b"\xa9", b"\x1b", b"\xff", b"ab"]
)


@settings(max_examples=500, deadline=None)
@given(st.lists(ODD, max_size=30), st.data())
def test_pieces_never_change_what_is_kept(parts: list[bytes], data: st.DataObject) -> None:
    raw = b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    pieces = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert printed(*pieces).text == printed(raw).text


@settings(deadline=None)
@given(st.binary(max_size=300), st.integers(1, 7))
def test_any_bytes_decode_as_if_they_came_at_once(raw: bytes, size: int) -> None:
    whole = codecs.decode(raw, "utf-8", "replace")
    output = Output(1000, None)
    seen = "".join(output.feed(raw[i : i + size]) for i in range(0, len(raw), size)) + output.finish()
    if "\x1b" not in whole and "\x9b" not in whole:
        assert seen == whole


@pytest.mark.parametrize(
    ("line", "shown"),
    [("a\rb", "b"), ("a\r", "a"), ("a\r\r", "a"), ("\ra", "a"), ("ab\b\bxy", "xy"), ("plain", "plain")],
)
def test_a_line_folds_to_its_last_state(line: str, shown: str) -> None:
    assert fold_line(line) == shown


def test_the_middle_is_cut_and_counted_and_the_whole_is_in_a_private_file(tmp_path: Path) -> None:
    whole = "".join(f"line {n}\n" for n in range(10_000))
    output = printed(*(whole.encode()[i : i + 997] for i in range(0, len(whole), 997)), max_chars=300, folder=tmp_path)
    head, _, rest = output.text.partition("\n[… ")
    count, _, tail = rest.partition(" characters left out …]\n")
    assert len(output.text) <= 300
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert len(head) + int(count) + len(tail) == output.total_chars == len(whole)
    assert output.saved is not None
    assert output.saved.read_text() == whole
    assert output.saved.stat().st_mode & 0o777 == 0o600


def test_no_file_is_made_for_output_within_the_limit(tmp_path: Path) -> None:
    output = printed(b"x" * 300, max_chars=300, folder=tmp_path / "saved")
    assert (output.text, output.saved, (tmp_path / "saved").exists()) == ("x" * 300, None, False)


def test_the_file_stops_at_its_cap_and_counting_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FILE_CAP", 1000)
    output = printed(*[b"x" * 100] * 50, max_chars=50, folder=tmp_path)
    assert output.saved is not None
    assert (output.saved.stat().st_size, output.total_chars, output.past_file) == (1000, 5000, True)


def test_a_folder_that_takes_no_file_costs_only_the_file(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    output = printed(b"x" * 100, max_chars=50, folder=blocked)
    assert (output.saved, output.total_chars, len(output.text) <= 50) == (None, 100, True)


def test_a_line_without_end_does_not_pile_up() -> None:
    output = Output(100, None)
    for _ in range(1000):
        output.feed(b"x" * 10_000)
    held = len(output._folder._line) + len(output._tail) + output._head_chars  # what is kept is the point
    output.finish()
    assert held < 100_000
    assert output.total_chars == 10_000_000


def test_rubbing_out_a_long_line_takes_no_time() -> None:
    assert printed(b"a" * 100_000 + b"\b" * 100_000 + b"x\n").text == "x\n"


def test_files_of_last_week_make_room(tmp_path: Path) -> None:
    old, young, other = (tmp_path / name for name in ("output-old.txt", "output-young.txt", "mine.txt"))
    for path in (old, young, other):
        path.write_text("")
    for path in (old, other):
        os.utime(path, (0, 0))
    printed(b"x" * 100, max_chars=50, folder=tmp_path)
    assert (old.exists(), young.exists(), other.exists()) == (False, True, True)


def test_an_endless_progress_line_does_not_pile_up() -> None:
    output = Output(100, None)
    for n in range(100_000):
        output.feed(b"%d%%\r" % n)
    output.feed(b"\n")
    output.finish()
    assert output.text == "99999%\n"
