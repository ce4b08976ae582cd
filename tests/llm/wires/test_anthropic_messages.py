from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from maia.core.costs import Usage
from maia.core.endings import Failure
from maia.core.events import BrokenCall, ReasoningDelta, TextDelta, ToolCallDrafted, WireAnswer, WireFailed
from maia.core.jsonvalue import JsonObject
from maia.core.messages import AssistantMessage, ImagePart, Message, ReasoningPart, TextPart, UserMessage
from maia.core.requests import Effort
from maia.llm.target import WireOptions
from maia.llm.wires.anthropic_messages import messages_body
from maia.llm.wires.history import encode
from maia.llm.wires.names import fit_id
from maia.llm.wires.quirks import Quirks
from tests.llm.wires.driving import (
    ANTHROPIC,
    answer_of,
    called,
    events_of,
    failure_of,
    message_stream,
    pieces,
    request,
    results,
    said,
    user,
)

START = {"type": "message_start", "message": {"model": "real-m", "usage": {"input_tokens": 9, "output_tokens": 1}}}
STOP = {"type": "message_stop"}
TEXT = {"type": "text", "text": ""}
TOOL = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}


def sse(*events: JsonObject) -> bytes:
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e, ensure_ascii=False)}\n\n" for e in events).encode()


def block(index: int, content: JsonObject, *deltas: JsonObject) -> list[JsonObject]:
    return [
        {"type": "content_block_start", "index": index, "content_block": content},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text(value: str) -> JsonObject:
    return {"type": "text_delta", "text": value}


def arguments(value: str) -> JsonObject:
    return {"type": "input_json_delta", "partial_json": value}


def ended(reason: str, **usage: Any) -> JsonObject:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5, **usage}}


# The stream ---------------------------------------------------------------------------------------------------------


def test_a_turn_with_thinking_text_and_a_call() -> None:
    body = sse(
        START,
        {"type": "ping"},
        *block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "hm"},
            {"type": "signature_delta", "signature": "sig"},
        ),
        *block(1, TEXT, text("Hel"), text("lo")),
        *block(2, TOOL, arguments(""), arguments('{"path":'), arguments('"a"}')),
        ended("tool_use"),
        STOP,
    )
    thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    message = AssistantMessage(
        (
            ReasoningPart("hm", "anthropic-messages", {"for": "m", "block": thinking}),
            TextPart("Hello"),
            called("t1", path="a"),
        ),
        "real-m",
        "fake",
    )
    assert events_of(message_stream(), [body]) == [
        ReasoningDelta("hm"),
        TextDelta("Hel"),
        TextDelta("lo"),
        ToolCallDrafted(0, "Read", 0),
        ToolCallDrafted(0, "Read", 0),
        ToolCallDrafted(0, "Read", 8),
        ToolCallDrafted(0, "Read", 12),
        WireAnswer(message, "tool_calls", "tool_use", Usage(9, 5)),
    ]
    for cut in range(len(body)):
        assert events_of(message_stream(), [body[:cut], body[cut:]])[-1] == WireAnswer(
            message, "tool_calls", "tool_use", Usage(9, 5)
        )
    assert events_of(message_stream(), pieces(body, 1)) == events_of(message_stream(), [body])


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("pause_turn", "end"),
        ("max_tokens", "length"),
        ("stop_sequence", "stop_sequence"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "context_full"),
        ("something_new", "unknown"),
    ],
)
def test_the_stop_reason_is_normalised_and_the_servers_word_kept(reason: str, stop: str) -> None:
    answer = answer_of(message_stream(), sse(START, *block(0, TEXT, text("x")), ended(reason), STOP))
    assert (answer.stop, answer.raw_stop) == (stop, reason)


@pytest.mark.parametrize("reason", ["tool_use", "max_tokens", "end_turn"])
def test_a_cut_call_is_broken_whatever_the_reason_says(reason: str) -> None:
    body = sse(START, *block(0, TOOL, arguments('{"path": "a')), ended(reason), STOP)
    answer = answer_of(message_stream(), body)
    assert answer.broken == (BrokenCall("t1", "Read", 11, '{"path": "a'),)
    assert answer.message.parts == ()


def test_a_call_whose_input_comes_whole_in_the_block_start() -> None:
    body = sse(START, *block(0, {**TOOL, "input": {"path": "a"}}), ended("tool_use"), STOP)
    assert answer_of(message_stream(), body).message.parts == (called("t1", path="a"),)


def test_redacted_thinking_is_kept_for_the_next_request() -> None:
    redacted = {"type": "redacted_thinking", "data": "xyz"}
    answer = answer_of(message_stream(), sse(START, *block(0, redacted), *block(1, redacted), ended("end_turn"), STOP))
    part = ReasoningPart("", "anthropic-messages", {"for": "m", "block": redacted})
    assert answer.message.parts == (part, part)


def test_server_tools_citations_and_unknown_blocks_are_passed_over() -> None:
    body = sse(
        START,
        *block(0, {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}, arguments('{"q": 1}')),
        *block(1, {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}),
        *block(2, TEXT, text("Hello"), {"type": "citations_delta", "citation": {"url": "x"}}),
        *block(3, {"type": "brand_new"}, {"type": "brand_new_delta", "x": 1}),
        {"type": "brand_new_event"},
        ended("end_turn"),
        STOP,
    )
    answer = answer_of(message_stream(), body)
    assert (answer.message.parts, answer.broken) == ((TextPart("Hello"),), ())


def test_usage_of_the_last_event_counts_with_cache_tokens() -> None:
    body = sse(
        {"type": "message_start", "message": {"usage": {"input_tokens": 9, "cache_read_input_tokens": 100}}},
        *block(0, TEXT, text("x")),
        ended("end_turn", cache_creation_input_tokens=7, output_tokens_details={"thinking_tokens": 3}),
        STOP,
    )
    assert answer_of(message_stream(), body).usage == Usage(9, 5, 100, 7, 3)


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            Failure("overloaded", "host", None, "overloaded_error", "Overloaded"),
        ),
        (
            {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}},
            Failure("rate_limit", "host", None, "rate_limit_error", "slow down"),
        ),
        (
            {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}},
            Failure("auth", "host", None, "authentication_error", "invalid x-api-key"),
        ),
        (
            {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 3 > 2"}},
            Failure("too_long", "host", None, "invalid_request_error", "prompt is too long: 3 > 2"),
        ),
        (
            {"type": "error", "error": {"type": "api_error", "message": "Internal server error"}},
            Failure("overloaded", "host", None, "api_error", "Internal server error"),
        ),
    ],
)
def test_an_error_event_inside_a_good_stream_is_a_failure_that_keeps_what_came(
    error: JsonObject, failure: Failure
) -> None:
    failed = failure_of(message_stream(), sse(START, *block(0, TEXT, text("Hel")), error))
    assert failed == WireFailed(failure, AssistantMessage((TextPart("Hel"),), "real-m", "fake"), Usage(9, 1))


def test_a_connection_that_closes_early_is_incomplete() -> None:
    failed = failure_of(message_stream(), sse(START, *block(0, TEXT, text("Hel"))))
    assert failed.failure.kind == "incomplete"


def test_a_missing_last_event_does_not_matter_once_the_reason_is_known() -> None:
    assert answer_of(message_stream(), sse(START, *block(0, TEXT, text("x")), ended("end_turn"))).stop == "end"


def test_an_answer_in_one_piece_is_accepted() -> None:
    stream = message_stream()
    content = [{"type": "text", "text": "Hi"}, {**TOOL, "input": {"path": "a"}}, {**TOOL, "id": "t2", "input": {}}]
    events = stream.whole({"type": "message", "model": "x", "content": content, "stop_reason": "tool_use", "usage": {}})
    answer = stream.end()[-1]
    assert isinstance(answer, WireAnswer)
    assert TextDelta("Hi") in events
    assert answer.message.parts == (TextPart("Hi"), called("t1", path="a"), called("t2"))


# The request --------------------------------------------------------------------------------------------------------


def body_of(*messages: Message, options: WireOptions | None = None, **fields: Any) -> JsonObject:
    target = replace(ANTHROPIC, options=options) if options else ANTHROPIC
    return messages_body(request(*messages, **fields), target, Quirks())


MARK = {"type": "ephemeral"}


def test_the_whole_body_of_a_request() -> None:
    schema = request().tools[0].parameters
    assert body_of(user("hi")) == {
        "model": "m",
        "max_tokens": 8192,
        "stream": True,
        "tools": [
            {"name": "Read", "description": "Reads a file.", "input_schema": schema},
            {"name": "Bash", "description": "Runs a command.", "input_schema": schema, "cache_control": MARK},
        ],
        "system": [{"type": "text", "text": "You help.", "cache_control": MARK}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": MARK}]}],
    }


def test_a_temperature_and_stop_sequences_are_sent_where_somebody_wants_them() -> None:
    asked = replace(request(user("hi")), temperature=0.0, stop_sequences=("END",))
    body = messages_body(asked, ANTHROPIC, Quirks())
    assert (body["temperature"], body["stop_sequences"]) == (0.0, ["END"])


def plain(body: JsonObject) -> list[JsonObject]:
    return body["messages"]


NO_MARKS = WireOptions(cache_markers=False)


def result(call_id: str) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": call_id, "content": f"result of {call_id}"}


OTHER_ID = fit_id("call:1.é", "letters")

HISTORIES: list[tuple[str, tuple[Message, ...], list[JsonObject]]] = [
    (
        "results and the next request are one user message, results first",
        (user("a"), said("Hm", called("c1", path="x")), user("b"), results("c1")),
        [
            {"role": "user", "content": [{"type": "text", "text": "a"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Hm"},
                    {"type": "tool_use", "id": "c1", "name": "Read", "input": {"path": "x"}},
                ],
            },
            {"role": "user", "content": [result("c1"), {"type": "text", "text": "b"}]},
        ],
    ),
    (
        "a call without a result is left out",
        (user("a"), said("Hm", called("c1")), user("b")),
        [
            {"role": "user", "content": [{"type": "text", "text": "a"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Hm"}]},
            {"role": "user", "content": [{"type": "text", "text": "b"}]},
        ],
    ),
    (
        "results of several messages are one",
        (user("a"), said("", called("c1"), called("c2")), results("c2"), results("c1")),
        [
            {"role": "user", "content": [{"type": "text", "text": "a"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "c1", "name": "Read", "input": {}},
                    {"type": "tool_use", "id": "c2", "name": "Read", "input": {}},
                ],
            },
            {"role": "user", "content": [result("c1"), result("c2")]},
        ],
    ),
    (
        "blank texts, which the API refuses, are left out",
        (user("a"), said(" \n", called("c1")), results("c1"), user("")),
        [
            {"role": "user", "content": [{"type": "text", "text": "a"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "Read", "input": {}}]},
            {"role": "user", "content": [result("c1")]},
        ],
    ),
    (
        "a history that begins with an answer",
        (said("Hm"), user("b")),
        [
            {"role": "user", "content": [{"type": "text", "text": "(continued)"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Hm"}]},
            {"role": "user", "content": [{"type": "text", "text": "b"}]},
        ],
    ),
    (
        "a history that ends with an answer",
        (user("a"), said("Hm")),
        [
            {"role": "user", "content": [{"type": "text", "text": "a"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Hm"}]},
            {"role": "user", "content": [{"type": "text", "text": "(continue)"}]},
        ],
    ),
    (
        "ids of other providers are written in the letters the API accepts",
        (user("a"), said("", called("call:1.é")), results("call:1.é")),
        [
            {"role": "user", "content": [{"type": "text", "text": "a"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": OTHER_ID, "name": "Read", "input": {}}]},
            {"role": "user", "content": [{**result(OTHER_ID), "content": "result of call:1.é"}]},
        ],
    ),
    (
        "an image",
        (UserMessage((TextPart("see"), ImagePart("image/png", "AAAA"))),),
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "see"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                ],
            }
        ],
    ),
]


@pytest.mark.parametrize(("messages", "expected"), [h[1:] for h in HISTORIES], ids=[h[0] for h in HISTORIES])
def test_a_history_is_sent_as_the_api_demands_it(messages: tuple[Message, ...], expected: list[JsonObject]) -> None:
    assert plain(body_of(*messages, options=NO_MARKS)) == expected


def test_a_failed_result_says_so() -> None:
    body = body_of(user("a"), said("", called("c1")), results("c1", is_error=True), options=NO_MARKS)
    assert plain(body)[-1]["content"] == [{**result("c1"), "is_error": True}]


def test_at_most_four_cache_markers_on_tools_system_and_the_last_two_user_turns() -> None:
    history = [m for n in range(6) for m in (user(f"u{n}"), said(f"a{n}"))]
    body = body_of(*history, user("last"))
    assert encode(body).count(b'"cache_control"') == 4
    marked = [m["content"][-1]["text"] for m in plain(body) if "cache_control" in m["content"][-1]]
    assert marked == ["u5", "last"]


def test_the_same_beginning_of_a_conversation_gives_the_same_bytes() -> None:
    start = (user("é"), said("Hm", called("c1", b=1, a="x")), results("c1"))
    short = encode(body_of(*start, options=NO_MARKS))
    assert encode(body_of(*start, said("Done"), user("next"), options=NO_MARKS)).startswith(short[:-2])


@pytest.mark.parametrize(
    ("model", "effort", "fields"),
    [
        ("claude-sonnet-4-5", "low", {"thinking": {"type": "enabled", "budget_tokens": 4096}}),
        ("claude-opus-4-1-20250805", "high", {"thinking": {"type": "enabled", "budget_tokens": 24576}}),
        ("claude-3-7-sonnet-latest", "low", {"thinking": {"type": "enabled", "budget_tokens": 4096}}),
        ("claude-sonnet-4-20250514", "low", {"thinking": {"type": "enabled", "budget_tokens": 4096}}),
        ("claude-sonnet-4-5-20250929-v1:0", "low", {"thinking": {"type": "enabled", "budget_tokens": 4096}}),
        ("claude-haiku-4-5@20251001", "low", {"thinking": {"type": "enabled", "budget_tokens": 4096}}),
        ("claude-3-5-haiku-latest", "high", {}),
        ("claude-sonnet-4-5", "none", {}),
        ("claude-sonnet-4-5", None, {}),
        ("claude-sonnet-4-5", "minimal", {"thinking": {"type": "enabled", "budget_tokens": 1024}}),
        ("claude-sonnet-4-5", "xhigh", {"thinking": {"type": "enabled", "budget_tokens": 36864}}),
        (
            "claude-opus-4-8",
            "xhigh",
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "xhigh"}},
        ),
        (
            "claude-opus-4-6",
            "xhigh",
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "high"}},
        ),
        (
            "claude-sonnet-5",
            "minimal",
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "low"}},
        ),
        (
            "claude-opus-4-6",
            "max",
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "max"}},
        ),
        (
            "claude-sonnet-5",
            "medium",
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "medium"}},
        ),
        ("claude-sonnet-5", "none", {"thinking": {"type": "disabled"}}),
        ("glm-5", "low", {"thinking": {"type": "enabled", "budget_tokens": 4096}}),
    ],
)
def test_the_effort_is_written_as_the_model_takes_it(model: str, effort: Effort | None, fields: JsonObject) -> None:
    body = messages_body(replace(request(), model=model, effort=effort), ANTHROPIC, Quirks())
    assert {key: body[key] for key in body if key in ("thinking", "output_config")} == fields
    budget = fields.get("thinking", {}).get("budget_tokens", 0)
    assert body["max_tokens"] == 8192 + budget


def test_a_thinking_budget_leaves_half_of_the_limit_for_the_answer() -> None:
    asked = replace(request(effort="max", max_output_tokens=8000), model="claude-sonnet-4-5")
    body = messages_body(asked, ANTHROPIC, Quirks())
    assert (body["max_tokens"], body["thinking"]["budget_tokens"]) == (8000, 4000)
    small = messages_body(replace(asked, max_output_tokens=1000), ANTHROPIC, Quirks())
    assert "thinking" not in small
    lowered = messages_body(asked, ANTHROPIC, Quirks(max_output=2000))
    assert lowered["max_tokens"] == 2000
    assert "thinking" not in lowered


def test_signed_thinking_goes_back_only_to_the_model_that_signed_it() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    part = ReasoningPart("hm", "anthropic-messages", {"for": "m", "block": thinking})
    foreign = ReasoningPart("x", "openai-chat", {"for": ["fake", "m"], "fields": {}})
    answer = AssistantMessage((part, foreign, called("c1")), "m", "fake")
    body = body_of(user("a"), answer, results("c1"), options=NO_MARKS)
    call = {"type": "tool_use", "id": "c1", "name": "Read", "input": {}}
    assert plain(body)[1]["content"] == [thinking, call]
    other = messages_body(replace(request(user("a"), answer, results("c1")), model="m2"), ANTHROPIC, Quirks())
    assert plain(other)[1]["content"] == [call]


def test_a_tool_loop_that_began_without_thinking_goes_on_without_a_budget() -> None:
    asked = replace(request(user("a"), said("", called("c1")), results("c1"), effort="high"), model="claude-sonnet-4-5")
    assert "thinking" not in messages_body(asked, ANTHROPIC, Quirks())
    fresh = replace(asked, messages=(*asked.messages, said("Done"), user("b")))
    assert "thinking" in messages_body(fresh, ANTHROPIC, Quirks())


def test_a_request_for_words_alone_keeps_its_tools_and_forbids_their_use() -> None:
    body = body_of(user("hi"), answer_only=True)
    assert body["tool_choice"] == {"type": "none"}
    assert body["tools"] == body_of(user("hi"))["tools"]
