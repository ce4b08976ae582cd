"""A session file that was damaged in any way still gives a history that both wires accept."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maia.core.codec import dump_event
from maia.core.costs import Cost, Usage
from maia.core.errors import SessionProblem
from maia.core.events import (
    Answered,
    Event,
    ModelChanged,
    Reminded,
    SessionStarted,
    StepStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from maia.core.messages import AssistantMessage, ReasoningPart, TextPart, ToolCallPart
from maia.core.requests import ModelRequest
from maia.engine.costs import costs_by_model
from maia.engine.export import markdown
from maia.engine.transcript import Transcript
from maia.llm.target import WireTarget
from maia.llm.wires.anthropic_messages import messages_body
from maia.llm.wires.openai_chat import chat_body
from maia.llm.wires.quirks import Quirks
from maia.store.journal import read_records

OPENAI = WireTarget("fake", "openai-chat", "http://127.0.0.1:1/v1")
ANTHROPIC = WireTarget("fake", "anthropic-messages", "http://127.0.0.1:1", "/v1/messages")


def _turn(number: int) -> list[Event]:
    calls = tuple(ToolCallPart(f"c{number}_{n}", "Read", {"path": "a"}) for n in range(2))
    called = AssistantMessage((ReasoningPart("hm"), TextPart("I look"), *calls), "m", "fake")
    told = AssistantMessage((TextPart("done"),), "m", "fake")
    return [
        TurnStarted(number, "m", "fake"),
        UserSaid(f"do {number}"),
        StepStarted(1),
        TextDelta("I look"),
        Answered(called, "tool_calls", "tool_calls", Usage(10, 2), Cost(0.1, "reported")),
        *(ToolCallStarted(call.call_id, "Read", call.arguments, "a") for call in calls),
        *(ToolCallFinished(call.call_id, "Read", "succeeded", "text") for call in reversed(calls)),
        Reminded("go on"),
        StepStarted(2),
        TextDelta("done"),
        Answered(told, "end", "stop", None, Cost()),
        TurnEnded("finished", "end", "stop", Usage(10, 2), Cost(), "m", "fake", 2, 2, 0, 1.0),
    ]


EVENTS: list[Event] = [SessionStarted("s", "/w", "1"), ModelChanged("m", "fake", "default"), *_turn(1), *_turn(2)]
LINES = [f'{{"v":1,"n":{n},"at":"x","event":{dump_event(event)}}}' for n, event in enumerate(EVENTS, 1)]
ODD: tuple[Any, ...] = (None, 5, -1, True, float("inf"), "", "\ud800", [], {}, [[]], {"type": "TextPart"})


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """The file with lines lost, doubled, cut, moved, and with odd values in them."""
    lines = list(LINES)
    for _ in range(draw(st.integers(1, 12))):
        at = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["lose", "double", "cut", "value", "name", "byte"])):
            case "lose" if len(lines) > 1:
                del lines[at]
            case "double":
                lines.insert(draw(st.integers(0, len(lines))), lines[at])
            case "cut":
                lines[at] = lines[at][: draw(st.integers(0, len(lines[at])))]
            case "value":
                values = [place for place, char in enumerate(lines[at]) if char == ":"]
                if values:
                    place = draw(st.sampled_from(values))
                    end = lines[at].find(",", place)
                    odd = json.dumps(draw(st.sampled_from(ODD)))
                    lines[at] = lines[at][: place + 1] + odd + (lines[at][end:] if end > 0 else "")
            case "name":
                lines[at] = lines[at].replace(draw(st.sampled_from(["callId", "text", "parts", "c1_0"])), "x")
            case _:
                place = draw(st.integers(0, max(0, len(lines[at]) - 1)))
                lines[at] = lines[at][:place] + draw(st.characters(max_codepoint=255)) + lines[at][place + 1 :]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(damaged())
def test_whatever_happened_to_a_session_file_its_history_can_be_sent(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(data)
    try:
        loaded = read_records(path)
    except SessionProblem:  # the damage made it the file of a newer version, which is refused
        return
    transcript = Transcript.of(record.event for record in loaded.records)
    request = ModelRequest("m", (), transcript.messages())
    _assert_accepted(chat_body(request, OPENAI, Quirks())["messages"])
    asked = messages_body(request, ANTHROPIC, Quirks())["messages"]
    assert all(before["role"] != after["role"] for before, after in itertools.pairwise(asked))
    assert all(message["content"] for message in asked)
    assert markdown(transcript, "s")
    costs_by_model(transcript.spent)


def _assert_accepted(messages: list[dict[str, Any]]) -> None:
    """Every call has its result right after it, no result stands alone, and roles alternate."""
    waiting: list[str] = []
    before = ""
    calls: list[dict[str, Any]]
    for message in messages:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
        else:
            assert waiting == []
            assert message["role"] != before
            calls = message.get("tool_calls") or []
            waiting = [call["id"] for call in calls]
        before = message["role"]
    assert waiting == []
