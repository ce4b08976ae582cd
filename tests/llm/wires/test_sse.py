from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.llm.sse import Frame, FrameReader


def frames_of(*chunks: bytes) -> list[Frame]:
    reader = FrameReader()
    frames = [frame for chunk in chunks for frame in reader.feed(chunk)]
    return frames + reader.flush()


CASES = [
    ("LF ends a line", b"data: a\n\ndata: b\n\n", [("", "a"), ("", "b")]),
    ("CRLF ends a line", b"data: a\r\n\r\ndata: b\r\n\r\n", [("", "a"), ("", "b")]),
    ("CR ends a line", b"data: a\r\rdata: b\r\r", [("", "a"), ("", "b")]),
    ("mixed line ends", b"data: a\r\n\ndata: b\n\r\n", [("", "a"), ("", "b")]),
    ("only CR, LF and CRLF end a line", "data: a\u2028b\u0085c\x0bd\x0ce\n\n".encode(), [
        ("", "a\u2028b\u0085c\x0bd\x0ce")]),
    ("a byte order mark is skipped", b"\xef\xbb\xbfdata: a\n\n", [("", "a")]),
    ("a comment is skipped", b": keep-alive\n\ndata: a\n: x\n\n", [("", "a")]),
    ("no space after the colon", b'data:{"a":1}\n\n', [("", '{"a":1}')]),
    ("only one space is taken", b"data:  a\n\n", [("", " a")]),
    ("several data lines are joined", b'data: {"a":\ndata: 1}\n\n', [("", '{"a":\n1}')]),
    ("an event without data is none", b"event: ping\n\ndata: a\n\n", [("", "a")]),
    ("an event has its name", b"event: x\ndata: a\n\ndata: b\n\n", [("x", "a"), ("", "b")]),
    ("id, retry and unknown fields are skipped", b"id: 1\nretry: 5\nfoo: x\ndata: a\n\n", [("", "a")]),
    ("data without a colon is an empty line", b"data\n\n", [("", "")]),
    ("a last frame without its blank line counts", b"data: a\n\ndata: b", [("", "a"), ("", "b")]),
    ("frames parted by one line end (opencode#7083)", b'data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n', [
        ("", '{"a":1}'), ("", '{"b":2}'), ("", "[DONE]")]),
    ("named frames parted by one line end", b'event: x\ndata: {"a":1}\nevent: y\ndata: {"b":2}\n', [
        ("x", '{"a":1}'), ("y", '{"b":2}')]),
    ("pretty JSON over several data lines stays one", b'data: {\ndata: "a": {}\ndata: }\n\n', [("", '{\n"a": {}\n}')]),
    ("blank lines alone are nothing", b"\n\n\r\n\r\n", []),
    ("nothing is nothing", b"", []),
    ("multi-byte characters", "data: é😀漢\n\n".encode(), [("", "é😀漢")]),
    ("bytes that are no UTF-8 are replaced", b"data: a\xffb\n\n", [("", "a\ufffdb")]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "frames"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_bytes_become_frames(body: bytes, frames: list[tuple[str, str]]) -> None:
    assert frames_of(body) == [Frame(*frame) for frame in frames]


@pytest.mark.parametrize(("body", "frames"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_a_cut_at_any_byte_or_at_every_byte_gives_the_same_frames(body: bytes, frames: list[tuple[str, str]]) -> None:
    expected = [Frame(*frame) for frame in frames]
    for cut in range(len(body) + 1):
        assert frames_of(body[:cut], body[cut:]) == expected, cut
        assert frames_of(body[:cut], b"", body[cut:]) == expected, cut
    assert frames_of(*(body[n : n + 1] for n in range(len(body)))) == expected


def test_a_frame_comes_with_the_byte_that_ends_it() -> None:
    reader = FrameReader()
    assert reader.feed(b"data: a\r\n") == []
    assert reader.feed(b"\r") == [Frame("", "a")]
    assert reader.feed(b"\n") == []


LINES = st.lists(
    st.sampled_from(["data: a", "data:b", "event: e", ": c", "", "data: é😀", "data", "id: 3"]), max_size=12
)


@given(LINES, st.sampled_from([b"\n", b"\r\n", b"\r"]), st.lists(st.integers(0, 200), max_size=8))
def test_any_stream_cut_anywhere_gives_the_same_frames(lines: list[str], end: bytes, cuts: list[int]) -> None:
    body = end.join(line.encode() for line in lines) + end
    places = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    assert frames_of(*(body[a:b] for a, b in itertools.pairwise(places))) == frames_of(body)


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_no_bytes_make_the_reader_fail(chunks: list[bytes]) -> None:
    frames_of(*chunks)


@pytest.mark.parametrize(
    "chunk",
    [b"data: " + b"x" * 90, b"data: xxxx\n", b"x" * 90],
    ids=["a line", "lines without a blank one", "no field"],
)
def test_what_never_ends_is_let_go_and_told(monkeypatch: pytest.MonkeyPatch, chunk: bytes) -> None:
    monkeypatch.setattr("maia.llm.sse.MAX_FRAME_BYTES", 1_000)
    reader = FrameReader()
    assert reader.feed(b"data: a\n\n") == [("", "a")]
    for _ in range(300):
        assert reader.feed(chunk) == []
    assert reader.overlong
    assert reader.flush() == []


def test_many_frames_are_not_overlong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maia.llm.sse.MAX_FRAME_BYTES", 1_000)
    reader = FrameReader()
    for _ in range(300):
        assert reader.feed(b"data: 12345") == []
        assert reader.feed(b"6789\n\n: a comment\n") == [("", "123456789")]
    assert not reader.overlong
