from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.orchestrator.stdio import Lines, TooLong, id_in

LIMIT = 100


@given(
    lines=st.lists(st.binary(max_size=250).filter(lambda line: b"\n" not in line), max_size=8),
    cuts=st.lists(st.integers(min_value=0, max_value=1_500), max_size=20),
)
def test_lines_are_the_same_wherever_the_bytes_are_cut(lines: list[bytes], cuts: list[int]) -> None:
    data = b"\n".join(lines)
    places = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    found = Lines(LIMIT)
    seen: list[bytes | TooLong] = []
    for start, end in pairwise(places):
        seen += found.feed(data[start:end])
    seen += found.flush()
    expected = [line for line in lines if len(line) > LIMIT or line.strip()]
    assert [line if isinstance(line, bytes) else (line.head[:50], line.tail[-50:]) for line in seen] == [
        line if len(line) <= LIMIT else (line[:50], line[-50:]) for line in expected
    ]


def test_of_a_line_without_end_only_a_little_is_held() -> None:
    found = Lines(LIMIT)
    for _ in range(200):
        assert found.feed(b"x" * 65_536) == []
    (line,) = found.feed(b"\n")
    assert isinstance(line, TooLong)
    assert len(line.head) + len(line.tail) < 10_000


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"id": 1}}, 7),
        ({"method": "tools/call", "params": {"id": 1}, "jsonrpc": "2.0", "id": "a-7"}, "a-7"),
        ({"jsonrpc": "2.0", "method": "x", "id": -3, "params": {}}, -3),
        ({"jsonrpc": "2.0", "method": "x", "params": {"id": 1, "rest": ""}}, None),
    ],
)
def test_a_message_that_is_too_long_is_answered_by_its_id_where_that_is_sure(
    message: dict[str, object], expected: object
) -> None:
    line = json.dumps(message).encode()
    assert id_in(TooLong(line[:60], line[-60:])) == expected
