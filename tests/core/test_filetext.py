import codecs

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from maia.core.errors import UnsafeText
from maia.core.filetext import (
    Change,
    decode,
    from_raw,
    is_binary,
    kind_of,
    line_changes,
    line_ends,
    sniff_encoding,
    split_lines,
    to_lf,
)

MARKS = [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, b""]
TEXTS = st.text(st.sampled_from("ab é€\t\n\r\r\n“\u00a0"), max_size=40)
LF_TEXTS = st.text(st.sampled_from("abé \t\n\n"), max_size=40)


@given(st.sampled_from(MARKS), st.binary(max_size=60))
def test_decoding_and_encoding_any_bytes_gives_the_same_bytes(mark: bytes, data: bytes) -> None:
    assert decode(mark + data).encode() == mark + data


@given(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"]), TEXTS)
def test_a_text_in_any_encoding_is_read_and_written_back(encoding: str, text: str) -> None:
    data = text.encode(encoding)
    read = decode(data)
    assert read.encode() == data
    if encoding != "cp1252" or not text.isascii():
        assert read.text == to_lf(text) or encoding == "cp1252"


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"abc\n", "utf-8", "abc\n"),
        ("é\n".encode(), "utf-8", "é\n"),
        (b"\xef\xbb\xbfa\r\nb", "utf-8-sig", "a\nb"),
        (b"caf\xe9 \x80\r\n", "cp1252", "café €\n"),
        (b"caf\xe9 \x81\n", "latin-1", "café \x81\n"),
        ("à\r\n".encode("utf-16"), "utf-16-le", "à\n"),
        (codecs.BOM_UTF16_BE + "à".encode("utf-16-be"), "utf-16-be", "à"),
        (codecs.BOM_UTF16_LE + b"a", "cp1252", "ÿþa"),
        (b"a\rb\r\nc\n", "utf-8", "a\nb\nc\n"),
        (b"", "utf-8", ""),
    ],
)
def test_encodings_and_line_ends_are_told_apart(data: bytes, encoding: str, text: str) -> None:
    read = decode(data)
    assert (read.encoding, read.text) == (encoding, text)


def test_a_character_that_the_encoding_lacks_is_refused_with_its_line() -> None:
    latin = decode(b"a\r\ncaf\xe9\r\n")
    with pytest.raises(UnsafeText) as raised:
        latin.splice([Change(7, 7, "日")]).encode()
    assert raised.value.values == {"encoding": "cp1252", "character": "U+65E5", "line": 3}


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(UnsafeText):
        from_raw("\ud800").encode()


@given(TEXTS, st.data())
def test_a_splice_changes_nothing_outside_its_spans(raw: str, data: st.DataObject) -> None:
    file = from_raw(raw)
    start = data.draw(st.integers(0, len(file.text)))
    end = data.draw(st.integers(start, len(file.text)))
    new = data.draw(LF_TEXTS)
    try:
        spliced = file.splice([Change(start, end, new)])
    except UnsafeText:
        assume(False)
        return
    assert spliced.text == file.text[:start] + new + file.text[end:]
    head = _raw_length(raw, start)
    tail = len(raw) - _raw_length(raw, end)
    assert spliced.raw[:head] == raw[:head]
    assert spliced.raw[len(spliced.raw) - tail :] == raw[len(raw) - tail :]


def _raw_length(raw: str, view: int) -> int:
    """How much of `raw` gives the first `view` characters of its LF view."""
    at = 0
    for _ in range(view):
        at += 2 if raw[at : at + 2] == "\r\n" else 1
    return at


@pytest.mark.parametrize(
    ("raw", "change", "after"),
    [
        pytest.param("a\r\nb\r\n", Change(2, 3, "x\ny"), "a\r\nx\r\ny\r\n", id="a new line end is CRLF among CRLF"),
        pytest.param("a\nb\r\nc\n", Change(2, 3, "x\ny"), "a\nx\ny\r\nc\n", id="the nearest one before decides"),
        pytest.param("a\r\nb\nc\n", Change(0, 3, "x\ny"), "x\r\ny\nc\n", id="the replaced one is copied"),
        pytest.param("a\rb", Change(3, 3, "\nc"), "a\rb\rc", id="lone CR"),
        pytest.param("ab", Change(1, 1, "\n"), "a\nb", id="no line end yet: LF"),
        pytest.param("ab\r\n", Change(1, 1, "\n"), "a\r\nb\r\n", id="the next one where none is before"),
    ],
)
def test_new_line_ends_are_those_of_the_place(raw: str, change: Change, after: str) -> None:
    assert from_raw(raw).splice([change]).raw == after


def test_a_change_that_would_join_a_cr_and_an_lf_is_refused() -> None:
    with pytest.raises(UnsafeText):
        from_raw("a\rb\nc").splice([Change(2, 3, "")])


@given(LF_TEXTS, LF_TEXTS)
def test_line_changes_make_the_new_text_of_the_old_one(old: str, new: str) -> None:
    assert from_raw(old).splice(line_changes(old, new)).text == new


@given(TEXTS, LF_TEXTS)
def test_a_rewritten_file_has_the_new_content_in_its_own_line_ends(raw: str, new: str) -> None:
    file = from_raw(raw)
    try:
        after = file.rewritten(new)
    except UnsafeText:
        assume(False)
        return
    assert after.text == new
    if file.text:
        assert line_ends(after.raw) <= (line_ends(raw) or {"\n"})


@pytest.mark.parametrize(
    ("raw", "new", "after"),
    [
        ("a\r\nb\r\n", "a\nc\nb\n", "a\r\nc\r\nb\r\n"),
        ("a\r\nb\r\n", "a\r\nc\r\n", "a\r\nc\r\n"),
        ("a\nb\n", "a\r\nc\r\n", "a\nc\n"),
        ("a\r\nb\nc\n", "a\nb\nX\nc\n", "a\r\nb\nX\nc\n"),
        ("", "a\r\nb\n", "a\r\nb\n"),
        ("one line", "x\ny\n", "x\ny\n"),
    ],
)
def test_rewriting_keeps_the_line_ends_of_the_file(raw: str, new: str, after: str) -> None:
    assert from_raw(raw).rewritten(new).raw == after


@given(LF_TEXTS)
def test_only_lf_ends_a_line(text: str) -> None:
    assert "".join(split_lines(text)) == text
    assert split_lines("a\u2028b\x0cc\x85d\n") == ["a\u2028b\x0cc\x85d\n"]


@pytest.mark.parametrize(
    ("head", "binary", "kind"),
    [
        (b"plain text\n", False, ""),
        (b"", False, ""),
        ("é" * 5000, False, ""),
        (b"\x1b[31mred\x1b[0m\tlog\r\n\x0c", False, ""),
        (codecs.BOM_UTF16_LE + b"a\x00b\x00", False, ""),
        (b"a\x0bb\n", False, ""),
        (b"caf\xe9", False, ""),
        (b"\x89PNG\r\n\x1a\n\x00\x00", True, "PNG image"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8", True, "WebP image"),
        (b"\x1f\x8b\x08\x00", True, "gzip"),
        (b"PK\x03\x04\x14\x00", True, "ZIP"),
        (b"\x7fELF\x02\x01\x01\x00", True, "ELF"),
        (b"%PDF-1.7\n", True, "PDF"),
        (b"\x00\x01\x02", True, ""),
        (bytes(range(1, 9)) * 10, True, ""),
    ],
)
def test_binary_files_are_recognised_and_named(head: bytes | str, binary: bool, kind: str) -> None:
    data = head.encode() if isinstance(head, str) else head
    assert (is_binary(data), kind_of(data)) == (binary, kind)


def test_the_codec_for_a_big_file_comes_from_its_mark() -> None:
    assert [sniff_encoding(mark) for mark in (b"a", codecs.BOM_UTF8, codecs.BOM_UTF16_BE)] == [
        "utf-8",
        "utf-8-sig",
        "utf-16-be",
    ]
