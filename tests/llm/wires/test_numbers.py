from __future__ import annotations

import json

import pytest

from maia.core.codec import dump_event
from maia.core.costs import Cost, Usage
from maia.core.events import Answered
from maia.llm.assemble import read_arguments
from maia.llm.wires.anthropic_messages import messages_usage
from maia.llm.wires.numbers import tokens_of, usd_of
from maia.llm.wires.openai_chat import chat_usage
from tests.llm.wires.driving import answer_of, chat_stream

ODD = ["12", None, [], {}, -5, -0.5, float("nan"), float("inf"), float("-inf"), 1e300, 10**400]


@pytest.mark.parametrize("value", ODD, ids=lambda value: str(value)[:20])
def test_what_cannot_be_counted_with_counts_as_nothing(value: object) -> None:
    assert tokens_of(value) == 0
    assert chat_usage({"prompt_tokens": value, "completion_tokens": value, "total_tokens": value}) == Usage()
    assert messages_usage({"input_tokens": value, "output_tokens": value}) == Usage()
    assert usd_of(value) is None


def test_an_answer_with_an_odd_usage_is_still_the_answer() -> None:
    chunks = (
        'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n'
        'data: {"choices":[],"usage":{"prompt_tokens":1e400,"completion_tokens":-1,"cost":1e400}}\n\n'
    )
    answer = answer_of(chat_stream(), chunks.encode())
    assert [part.text for part in answer.message.parts if hasattr(part, "text")] == ["hi"]
    assert answer.cost_usd is None
    event = Answered(answer.message, answer.stop, "", answer.usage, Cost())
    assert "Infinity" not in dump_event(event)


@pytest.mark.parametrize("number", ["1e400", "-1e400", "NaN", "Infinity", "1" * 5_000])
def test_arguments_with_a_number_that_cannot_be_sent_back_are_no_arguments(number: str) -> None:
    assert read_arguments(f'{{"timeout": {number}}}') is None
    assert read_arguments('{"timeout": 1.5e3}') == json.loads('{"timeout": 1500.0}')
