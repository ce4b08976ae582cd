from __future__ import annotations

import json

import pytest

from maia.core.codec import dump_event
from maia.core.costs import Cost
from maia.core.events import Answered
from maia.core.jsontext import MAX_DEPTH
from maia.core.jsonvalue import JsonObject
from maia.llm.assemble import CallDrafts, read_arguments
from maia.llm.wires.openai_chat import chat_body
from maia.llm.wires.quirks import Quirks
from maia.llm.wires.textcalls import text_calls
from tests.llm.wires.driving import OPENAI, answer_of, called, chat_stream, failure_of, request, results, said, user


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 900, 980, 5_000, 200_000])
def test_arguments_that_are_too_deep_are_none_however_they_come(depth: int) -> None:
    assert read_arguments(nested(depth)) is None
    assert text_calls(f'{{"name": "Read", "arguments": {nested(depth)}}}', ["Read"]) == ()


def test_an_object_of_arguments_that_is_too_deep_is_a_broken_call() -> None:
    drafts = CallDrafts(["Read"])
    arguments: JsonObject = {}
    for _ in range(MAX_DEPTH + 1):
        arguments = {"a": arguments}
    drafts.add(index=0, call_id="c", name="Read", arguments=arguments)
    calls, broken = drafts.finish()
    assert (calls, [call.name for call in broken]) == ((), ["Read"])


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
