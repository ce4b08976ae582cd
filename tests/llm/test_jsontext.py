from __future__ import annotations

import json

import pytest

from maia.core.codec import dump_event
from maia.core.events import Answered
from maia.core.types import Cost
from maia.llm.assemble import read_arguments
from maia.llm.jsontext import MAX_DEPTH, loads
from maia.llm.wires.openai_chat import chat_body
from maia.llm.wires.quirks import Quirks
from tests.llm.wires.driving import OPENAI, answer_of, called, chat_stream, failure_of, request, results, said, user


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


WIDE = "[" + ",".join(["[]"] * 5_000) + "]"


@pytest.mark.parametrize("text", [nested(MAX_DEPTH), WIDE, json.dumps("[{" * 5_000)], ids=["deep", "wide", "a text"])
def test_what_is_wide_or_speaks_of_brackets_is_read(text: str) -> None:
    assert loads(text) == loads(text.encode()) == json.loads(text)


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 900, 980, 5_000, 200_000])
def test_what_is_too_deep_is_no_json(depth: int) -> None:
    for text in (nested(depth), nested(depth).encode(), "[" * depth + "]" * depth):
        with pytest.raises(ValueError, match="nested too deeply"):
            loads(text)
    assert read_arguments(nested(depth)) is None


def test_arguments_at_the_bound_are_kept_and_sent_back() -> None:
    arguments = read_arguments(nested(MAX_DEPTH))
    assert arguments is not None
    message = said("", called("c1", **arguments))
    assert json.loads(dump_event(Answered(message, "tool_calls", "", None, Cost())))
    assert json.dumps(chat_body(request(user("a"), message, results("c1")), OPENAI, Quirks()))


@pytest.mark.parametrize("depth", [500, 980, 100_000])
def test_a_stream_with_deep_json_in_it_neither_crashes_nor_keeps_it(depth: int) -> None:
    arguments = json.dumps(nested(depth))
    call = f'{{"index":0,"id":"c","function":{{"name":"Read","arguments":{arguments}}}}}'
    whole = f'data: {{"choices":[{{"delta":{{"tool_calls":[{call}]}},"finish_reason":"tool_calls"}}]}}\n\n'
    answer = answer_of(chat_stream(), whole.encode())
    assert [broken.name for broken in answer.broken] == ["Read"]
    chunk = f'data: {{"choices":[{{"delta":{{"content":"x","extra":{nested(depth)}}}}}]}}\n\n'
    assert failure_of(chat_stream(), chunk.encode()).failure.kind == "incomplete"
