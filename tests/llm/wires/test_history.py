from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from maia.core.messages import (
    AssistantMessage,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from maia.llm.wires.anthropic_messages import messages_body
from maia.llm.wires.history import Asked, alternating
from maia.llm.wires.openai_chat import chat_messages
from maia.llm.wires.quirks import Quirks
from tests.llm.wires.driving import ANTHROPIC, OPENAI, request

IDS = st.sampled_from(["c1", "c2", "c3"])
TEXTS = st.sampled_from(["", " ", "a", "é"]).map(TextPart)
ANSWERS = st.lists(
    TEXTS | IDS.map(lambda i: ToolCallPart(i, "Read", {})) | st.just(ReasoningPart("hm")), max_size=4
).map(lambda parts: AssistantMessage(tuple(_once(parts)), "m", "fake"))
RESULTS = st.lists(IDS, max_size=3, unique=True).map(
    lambda ids: ToolMessage(tuple(ToolResultPart(i, "Read", "r") for i in ids))
)
USERS = st.lists(TEXTS, max_size=2).map(lambda parts: UserMessage(tuple(parts)))
HISTORIES = st.lists(USERS | ANSWERS | RESULTS, max_size=8)


def _once(parts: list[Any]) -> list[Any]:
    """The parts with each call id once, as every answer has."""
    seen: set[str] = set()
    kept: list[Any] = []
    for part in parts:
        if isinstance(part, ToolCallPart) and (part.call_id in seen or seen.add(part.call_id)):
            continue
        kept.append(part)
    return kept


@given(HISTORIES)
def test_turns_alternate_whatever_the_history_holds(history: list[Message]) -> None:
    turns = alternating(history)
    for before, after in itertools.pairwise(turns):
        assert isinstance(before, Asked) is not isinstance(after, Asked)


@given(HISTORIES)
def test_openai_gets_a_result_right_after_every_call_and_none_without(history: list[Message]) -> None:
    messages = chat_messages(request(*history), OPENAI)[1:]
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert waiting.pop(0) == message["tool_call_id"]
            continue
        assert waiting == []
        waiting = [call["id"] for call in message.get("tool_calls", [])]
    assert waiting == []


@given(HISTORIES)
def test_anthropic_gets_strict_alternation_results_for_every_call_and_no_blank_text(history: list[Message]) -> None:
    if not history:
        return
    messages = messages_body(request(*history), ANTHROPIC, Quirks())["messages"]
    assert [m["role"] for m in messages] == ["user", "assistant"] * (len(messages) // 2) + ["user"] * (
        len(messages) % 2
    )
    waiting: list[str] = []
    for message in messages:
        blocks = message["content"]
        assert blocks
        assert all(block["text"].strip() for block in blocks if block["type"] == "text")
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert results == waiting
        assert [block["type"] for block in blocks[: len(results)]] == ["tool_result"] * len(results)
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert waiting == []
    assert not messages or messages[-1]["role"] == "user"
