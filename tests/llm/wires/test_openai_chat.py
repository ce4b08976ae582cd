from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from maia.core.costs import Usage
from maia.core.endings import Failure
from maia.core.events import BrokenCall, ReasoningDelta, TextDelta, ToolCallDrafted, WireAnswer, WireFailed
from maia.core.jsonvalue import JsonObject
from maia.core.messages import AssistantMessage, ImagePart, Message, ReasoningPart, TextPart, ToolCallPart, UserMessage
from maia.core.requests import Effort, ModelRequest, Section
from maia.llm.target import WireOptions, WireTarget
from maia.llm.wires.history import encode
from maia.llm.wires.openai_chat import chat_body, chat_messages, chat_usage
from maia.llm.wires.quirks import Quirks
from tests.llm.wires.driving import (
    OPENAI,
    answer_of,
    called,
    chat_stream,
    events_of,
    failure_of,
    pieces,
    request,
    results,
    said,
    user,
)


def sse(*chunks: JsonObject | str, done: bool = True) -> bytes:
    frames = [chunk if isinstance(chunk, str) else json.dumps(chunk, ensure_ascii=False) for chunk in chunks]
    return "".join(f"data: {frame}\n\n" for frame in [*frames, *(["[DONE]"] if done else [])]).encode()


def delta(finish: str | None = None, **fields: Any) -> JsonObject:
    return {"model": "real-m", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def usage(**fields: Any) -> JsonObject:
    return {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 4, **fields}}


def call(**function: Any) -> list[JsonObject]:
    return [{"index": 0, "id": "c1", "type": "function", "function": {"name": "Read", **function}}]


HELLO = (delta(role="assistant", content=""), delta(content="Hel"), delta(content="lo"))


# The stream ---------------------------------------------------------------------------------------------------------


def test_a_text_answer_streams_and_ends_with_what_it_was() -> None:
    assert events_of(chat_stream(), [sse(*HELLO, delta("stop"), usage())]) == [
        TextDelta("Hel"),
        TextDelta("lo"),
        WireAnswer(AssistantMessage((TextPart("Hello"),), "real-m", "fake"), "end", "stop", Usage(10, 4)),
    ]


def test_a_call_streams_as_progress_and_ends_whole() -> None:
    body = sse(
        delta(tool_calls=call(arguments="")),
        delta(tool_calls=[{"index": 0, "function": {"arguments": '{"path":'}}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": '"a"}'}}]),
        delta("tool_calls"),
    )
    assert events_of(chat_stream(), [body]) == [
        ToolCallDrafted(0, "Read", 0),
        ToolCallDrafted(0, "Read", 8),
        ToolCallDrafted(0, "Read", 12),
        WireAnswer(AssistantMessage((called("c1", path="a"),), "real-m", "fake"), "tool_calls", "tool_calls"),
    ]


@pytest.mark.parametrize(
    ("finish", "fields", "stop"),
    [
        ("stop", {"content": "x"}, "end"),
        ("length", {"content": "x"}, "length"),
        ("content_filter", {"content": "x"}, "refusal"),
        ("model_context_window_exceeded", {"content": "x"}, "context_full"),
        ("something_new", {"content": "x"}, "unknown"),
        ("tool_calls", {"content": "x"}, "end"),
        ("stop", {"tool_calls": call(arguments="{}")}, "tool_calls"),
        ("function_call", {"tool_calls": call(arguments="{}")}, "tool_calls"),
        ("length", {"tool_calls": call(arguments="{}")}, "length"),
        ("stop", {"refusal": "I cannot."}, "refusal"),
    ],
)
def test_the_stop_reason_is_normalised_and_the_servers_word_kept(finish: str, fields: Any, stop: str) -> None:
    answer = answer_of(chat_stream(), sse(delta(**fields), delta(finish)))
    assert (answer.stop, answer.raw_stop) == (stop, finish)


def test_cut_json_with_tool_calls_as_the_reason_is_broken_not_repaired() -> None:
    answer = answer_of(chat_stream(), sse(delta(tool_calls=call(arguments='{"path": "a')), delta("tool_calls")))
    assert answer.broken == (BrokenCall("c1", "Read", 11, '{"path": "a'),)
    assert (answer.message.parts, answer.stop) == ((), "tool_calls")


def test_an_output_on_a_usual_limit_with_a_call_is_likely_cut() -> None:
    body = sse(delta(tool_calls=call(arguments='{"path": "a"}')), delta("tool_calls"), usage(completion_tokens=8192))
    assert answer_of(chat_stream(), body).likely_cut
    odd = body.replace(b"8192", b"8191")
    assert not answer_of(chat_stream(), odd).likely_cut
    assert answer_of(chat_stream(request(max_output_tokens=8191)), odd).likely_cut
    assert answer_of(chat_stream(target=replace(OPENAI, max_output_tokens=8191)), odd).likely_cut


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"reasoning_content": "hm"}, "hm"),
        ({"reasoning": "hm"}, "hm"),
        ({"reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm", "index": 0}]}, "hm"),
        ({"reasoning_details": [{"type": "reasoning.text", "text": "hm", "index": 0}]}, "hm"),
        ({"reasoning_details": [{"type": "reasoning.summary", "summary": "hm", "index": 0}]}, "hm"),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}, "hm"),
        ({"content": "<think>hm</think>"}, "hm"),
        ({"reasoning_content": None, "reasoning": None, "content": None}, ""),
    ],
)
def test_reasoning_is_read_wherever_a_server_puts_it_and_only_once(fields: Any, text: str) -> None:
    events = events_of(chat_stream(), [sse(delta(**fields), delta(content="Yes"), delta("stop"))])
    assert "".join(e.text for e in events if isinstance(e, ReasoningDelta)) == text
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "Yes"


@pytest.mark.parametrize(
    "body",
    [
        sse(*HELLO, delta("stop"), usage(), done=False),
        sse(*HELLO, delta("stop"), done=False),
        sse(*HELLO),
        sse(*HELLO, delta("stop"), {"choices": [{"index": 0, "delta": {}}], "usage": {"prompt_tokens": 1}}),
        sse(*HELLO, {**delta("stop"), "usage": {"prompt_tokens": 10, "completion_tokens": 4}}),
        sse(*HELLO, delta("stop"), "not json", '["a list"]', '"text"', "null"),
        b": comment\n\n" + sse(*HELLO, delta("stop")).replace(b"\n\n", b"\r\n\r\n: ping\r\n\r\n"),
        sse(*HELLO, delta("stop")).replace(b"\n\n", b"\n"),
        sse(*HELLO, delta("stop"), {"error": {"code": 400, "message": "Token limit reached"}, "choices": []}),
        sse({"choices": [], "prompt_filter_results": []}, *HELLO, delta("stop")),
        sse({**delta(content="other"), "choices": [{"index": 1, "delta": {"content": "x"}}]}, *HELLO, delta("stop")),
    ],
    ids=[
        "no [DONE]",
        "no [DONE], no usage",
        "[DONE] without a reason (Snowflake)",
        "usage beside choices (LiteLLM)",
        "usage in the last chunk (Z.AI)",
        "frames that are no chunks",
        "CRLF and comments",
        "frames parted by one line end",
        "an error after the end (OpenRouter)",
        "a first chunk without choices (Azure)",
        "a second choice",
    ],
)
def test_an_answer_is_whole_in_every_shape_servers_end_it(body: bytes) -> None:
    answer = answer_of(chat_stream(), body)
    assert (answer.message.parts, answer.stop) == ((TextPart("Hello"),), "end")


def test_a_call_written_as_text_counts_also_where_the_stream_names_no_reason() -> None:
    body = sse(delta(content='{"name": "Read", "arguments": {"path": "a"}}'))
    answer = answer_of(chat_stream(), body)
    assert (answer.message.parts, answer.stop) == ((called("new_1", path="a"),), "tool_calls")


def test_a_stream_of_nothing_but_its_end_is_incomplete() -> None:
    assert failure_of(chat_stream(), sse()).failure.kind == "incomplete"


def test_a_connection_that_closes_without_a_reason_is_incomplete_and_keeps_what_came() -> None:
    failed = failure_of(chat_stream(), sse(*HELLO, delta(tool_calls=call(arguments="{}")), done=False))
    assert failed == WireFailed(
        Failure("incomplete", "host"), AssistantMessage((TextPart("Hello"),), "real-m", "fake"), None
    )


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (
            {"error": {"message": "Overloaded", "type": "overloaded_error", "code": 529}},
            Failure("overloaded", "host", 529, "overloaded_error", "Overloaded"),
        ),
        (
            {"error": {"message": "Rate limit", "code": 429, "metadata": {"raw": "slow down"}}, "choices": []},
            Failure("rate_limit", "host", 429, "429", "Rate limit: slow down"),
        ),
        ({"error": "boom"}, Failure("other", "host", None, "", "boom")),
        (
            {"error": {"message": "This model's maximum context length is 8192 tokens", "type": "invalid_request"}},
            Failure("too_long", "host", None, "invalid_request", "This model's maximum context length is 8192 tokens"),
        ),
    ],
)
def test_an_error_object_inside_a_good_stream_is_a_failure(error: JsonObject, failure: Failure) -> None:
    failed = failure_of(chat_stream(), sse(delta(content="Hel"), error))
    assert failed.failure == failure
    assert failed.partial.parts == (TextPart("Hel"),)


def test_an_error_event_is_a_failure_even_without_an_error_field() -> None:
    body = b'event: error\ndata: {"message": "tool_use_failed", "type": "invalid_request_error"}\n\n'
    assert failure_of(chat_stream(), body).failure.kind == "rejected"


def test_the_cost_a_server_reports_is_kept() -> None:
    body = sse(*HELLO, delta("stop"), usage(cost=0.0125))
    assert answer_of(chat_stream(), body).cost_usd == 0.0125
    stream = chat_stream()
    stream.headers({"x-litellm-response-cost": "0.5"})
    assert answer_of(stream, sse(*HELLO, delta("stop"))).cost_usd == 0.5
    stream = chat_stream()
    stream.headers({"x-litellm-response-cost": "0.0"})
    assert answer_of(stream, sse(*HELLO, delta("stop"))).cost_usd is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 4}, Usage(10, 4)),
        ({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 6}}, Usage(4, 0, 6)),
        (
            {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 6, "cache_write_tokens": 3}},
            Usage(1, 0, 6, 3),
        ),
        ({"prompt_tokens": 10, "prompt_cache_hit_tokens": 6}, Usage(4, 0, 6)),
        ({"prompt_tokens": 10, "cached_tokens": 6}, Usage(4, 0, 6)),
        ({"prompt_tokens": 10, "cache_read_input_tokens": 6, "cache_creation_input_tokens": 1}, Usage(3, 0, 6, 1)),
        ({"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 5}}, Usage(0, 9, 0, 0, 5)),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 4,
                "total_tokens": 19,
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
            Usage(10, 9, 0, 0, 5),
        ),
        ({"prompt_tokens": None, "prompt_tokens_details": None}, Usage()),
        ({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9}}, Usage(0, 0, 9)),
    ],
)
def test_usage_is_normalised(given: JsonObject, expected: Usage) -> None:
    assert chat_usage(given) == expected


def test_groqs_own_place_for_usage_is_read() -> None:
    body = sse(*HELLO, {**delta("stop"), "x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 2}}})
    assert answer_of(chat_stream(), body).usage == Usage(3, 2)


def test_an_answer_in_one_piece_is_accepted() -> None:
    message = {
        "content": "Hi",
        "tool_calls": [
            {"id": "c1", "function": {"name": "Read", "arguments": '{"path": "a"}'}},
            {"id": "c2", "function": {"name": "Read", "arguments": '{"path": "b"}'}},
        ],
    }
    stream = chat_stream()
    stream.whole({"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 1}})
    answer = stream.end()[-1]
    assert isinstance(answer, WireAnswer)
    assert answer.message.parts == (TextPart("Hi"), called("c1", path="a"), called("c2", path="b"))


def test_a_stream_cut_at_every_byte_gives_the_same_events() -> None:
    body = sse(
        delta(content="é😀"),
        delta(reasoning_content="漢"),
        delta(tool_calls=call(arguments='{"path": "é"}')),
        delta("tool_calls"),
        usage(),
    )
    whole = events_of(chat_stream(), [body])
    for cut in range(len(body)):
        assert events_of(chat_stream(), [body[:cut], body[cut:]]) == whole
    assert events_of(chat_stream(), pieces(body, 1)) == whole


# The request --------------------------------------------------------------------------------------------------------


def body_of(asked: ModelRequest, target: WireTarget = OPENAI, quirks: Quirks | None = None) -> JsonObject:
    return chat_body(asked, target, quirks or Quirks())


def test_the_whole_body_of_a_request() -> None:
    asked = ModelRequest(
        "m", (Section("a", "One."), Section("b", "Two.")), (user("hi"),), request().tools[:1], max_output_tokens=100
    )
    assert body_of(asked) == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 100,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "Read",
                    "description": "Reads a file.",
                    "parameters": request().tools[0].parameters,
                },
            }
        ],
        "messages": [{"role": "system", "content": "One.\n\nTwo."}, {"role": "user", "content": "hi"}],
    }


def test_a_temperature_and_stop_sequences_are_sent_where_somebody_wants_them() -> None:
    body = body_of(ModelRequest("m", (), (user("hi"),), temperature=0.0, stop_sequences=("END",)))
    assert (body["temperature"], body["stop"]) == (0.0, ["END"])


HISTORIES: list[tuple[str, tuple[Message, ...], list[JsonObject]]] = [
    (
        "user messages in a row are one",
        (user("a"), user("b")),
        [{"role": "user", "content": "a\n\nb"}],
    ),
    (
        "a call without a result is left out",
        (user("a"), said("Hm", called("c1"), called("c2")), results("c2"), user("b")),
        [
            {"role": "user", "content": "a"},
            {
                "role": "assistant",
                "content": "Hm",
                "tool_calls": [{"id": "c2", "type": "function", "function": {"name": "Read", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "c2", "content": "result of c2"},
            {"role": "user", "content": "b"},
        ],
    ),
    (
        "an answer of nothing but calls without results is left out, and the requests around it merge",
        (user("a"), said("", called("c1")), user("b")),
        [{"role": "user", "content": "a\n\nb"}],
    ),
    (
        "a result without a call is left out",
        (user("a"), said("Hm"), results("c9"), user("b")),
        [{"role": "user", "content": "a"}, {"role": "assistant", "content": "Hm"}, {"role": "user", "content": "b"}],
    ),
    (
        "results come in the order of the calls",
        (user("a"), said("", called("c1"), called("c2")), results("c2", "c1")),
        [
            {"role": "user", "content": "a"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "Read", "arguments": "{}"}},
                    {"id": "c2", "type": "function", "function": {"name": "Read", "arguments": "{}"}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "result of c1"},
            {"role": "tool", "tool_call_id": "c2", "content": "result of c2"},
        ],
    ),
    (
        "an empty answer is left out",
        (user("a"), said(""), user("b")),
        [{"role": "user", "content": "a\n\nb"}],
    ),
    (
        "an image",
        (UserMessage((TextPart("see"), ImagePart("image/png", "AAAA"))),),
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "see"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                ],
            }
        ],
    ),
]


@pytest.mark.parametrize(("messages", "expected"), [h[1:] for h in HISTORIES], ids=[h[0] for h in HISTORIES])
def test_a_history_is_sent_as_the_api_demands_it(messages: tuple[Message, ...], expected: list[JsonObject]) -> None:
    assert chat_messages(request(*messages), OPENAI)[1:] == expected


def test_mistral_gets_an_answer_between_a_result_and_a_request() -> None:
    target = replace(OPENAI, base_url="https://api.mistral.ai/v1")
    messages = chat_messages(request(user("a"), said("", called("c1")), results("c1"), user("b")), target)
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "tool", "assistant", "user"]


def test_the_same_beginning_of_a_conversation_gives_the_same_bytes() -> None:
    start = (user("é"), said("Hm", called("c1", b=1, a="x")), results("c1"))
    short = encode(body_of(request(*start)))
    longer = encode(body_of(request(*start, said("Done"), user("next"))))
    assert longer.startswith(short[:-2])
    assert short == encode(body_of(request(*start)))


@pytest.mark.parametrize(
    ("base", "options", "field"),
    [
        ("https://api.openai.com/v1", WireOptions(), "max_completion_tokens"),
        ("https://x.openai.azure.com/openai", WireOptions(), "max_completion_tokens"),
        ("http://127.0.0.1:4000", WireOptions(), "max_tokens"),
        ("https://openrouter.ai/api/v1", WireOptions(), "max_tokens"),
        ("http://127.0.0.1:4000", WireOptions(max_tokens_field="max_completion_tokens"), "max_completion_tokens"),
    ],
)
def test_the_output_limit_is_named_as_the_endpoint_knows_it(base: str, options: WireOptions, field: str) -> None:
    target = replace(OPENAI, base_url=base, options=options, max_output_tokens=50)
    assert body_of(request(), target)[field] == 50
    assert body_of(request(max_output_tokens=7), target)[field] == 7


def test_without_a_limit_none_is_sent() -> None:
    assert not {"max_tokens", "max_completion_tokens"} & set(body_of(request()))


@pytest.mark.parametrize(
    ("model", "effort", "fields"),
    [
        ("gpt-5.2", "high", {"reasoning_effort": "high"}),
        ("gpt-5.2", "max", {"reasoning_effort": "xhigh"}),
        ("gpt-5.2", "none", {"reasoning_effort": "none"}),
        ("gpt-5.2", "minimal", {"reasoning_effort": "low"}),
        ("gpt-5.1", "xhigh", {"reasoning_effort": "high"}),
        ("gpt-5.1-codex-max", "xhigh", {"reasoning_effort": "xhigh"}),
        ("gpt-5.6", "max", {"reasoning_effort": "max"}),
        ("gpt-6-sol", "none", {"reasoning_effort": "none"}),
        ("gpt-6.1-sol", "none", {"reasoning_effort": "low"}),
        ("gpt-5", "none", {"reasoning_effort": "minimal"}),
        ("gpt-5", "minimal", {"reasoning_effort": "minimal"}),
        ("gpt-5", "xhigh", {"reasoning_effort": "high"}),
        ("gemini-3-flash", "minimal", {"reasoning_effort": "minimal"}),
        ("any", "xhigh", {"reasoning_effort": "high"}),
        ("o3-mini", "none", {"reasoning_effort": "low"}),
        ("o3", "max", {"reasoning_effort": "high"}),
        ("any", "medium", {"reasoning_effort": "medium"}),
        ("any", "none", {}),
        ("any", None, {}),
    ],
)
def test_the_effort_is_written_in_the_models_words(model: str, effort: Effort | None, fields: JsonObject) -> None:
    body = body_of(replace(request(), model=model, effort=effort))
    assert {key: body[key] for key in body if "reasoning" in key} == fields


def test_the_effort_goes_openrouters_way_or_nowhere_where_the_target_says_so() -> None:
    router = replace(OPENAI, base_url="https://openrouter.ai/api/v1")
    assert body_of(request(effort="max"), router)["reasoning"] == {"effort": "max"}
    assert body_of(request(effort="none"), router)["reasoning"] == {"enabled": False}
    assert "reasoning_effort" not in body_of(
        request(effort="high"), replace(OPENAI, options=WireOptions(effort="none"))
    )


def test_further_fields_of_a_target_are_sent() -> None:
    target = replace(OPENAI, options=WireOptions(extra_body={"usage": {"include": True}, "temperature": 0}))
    body = body_of(request(), target)
    assert (body["usage"], body["temperature"]) == ({"include": True}, 0)


def test_cache_markers_are_sent_only_where_asked_for() -> None:
    asked = request(user("a"), said("b"), user("c"), said("d"), user("e"))
    assert b"cache_control" not in encode(body_of(asked))
    body = encode(body_of(asked, replace(OPENAI, options=WireOptions(cache_markers=True))))
    assert body.count(b"cache_control") == 3


@pytest.mark.parametrize(
    ("stream_fields", "sent"),
    [
        ({"reasoning_content": "hm"}, {"reasoning_content": "hm"}),
        (
            {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x", "index": 0}]},
            {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x", "index": 0}]},
        ),
        ({"reasoning": "hm"}, {}),
        ({"content": "<think>hm</think>"}, {"content": "<think>\nhm\n</think>\n\n"}),
    ],
)
def test_reasoning_goes_back_with_calls_to_the_model_it_came_from(stream_fields: Any, sent: JsonObject) -> None:
    body = sse(delta(**stream_fields), delta(tool_calls=call(arguments="{}")), delta("tool_calls"))
    answer = answer_of(chat_stream(), body).message
    asked = request(user("a"), answer, results("c1"))
    plain = {"role", "content", "tool_calls"}
    back = chat_messages(asked, OPENAI)[2]
    assert {key: back[key] for key in back if key not in plain or key in sent} == sent
    for other in (replace(asked, model="another"), asked):
        target = OPENAI if other.model == "another" else replace(OPENAI, provider="another")
        assert set(chat_messages(other, target)[2]) == plain
        assert chat_messages(other, target)[2]["content"] is None


def test_pieces_of_reasoning_details_go_back_joined() -> None:
    body = sse(
        delta(reasoning_details=[{"type": "reasoning.text", "text": "a", "index": 0, "format": None}]),
        delta(reasoning_details=[{"type": "reasoning.text", "text": "b", "index": 0, "signature": "s"}]),
        delta(tool_calls=call(arguments="{}")),
        delta("tool_calls"),
    )
    part = answer_of(chat_stream(), body).message.parts[0]
    assert isinstance(part, ReasoningPart)
    assert (part.replay or {})["fields"] == {
        "reasoning_details": [
            {"type": "reasoning.text", "text": "ab", "index": 0, "format": None, "signature": "s"},
        ]
    }


def test_geminis_thought_signature_goes_back_with_its_call() -> None:
    extra = {"google": {"thought_signature": "sig"}}
    signed = [{**call(arguments="{}")[0], "extra_content": extra}]
    answer = answer_of(chat_stream(), sse(delta(tool_calls=signed), delta("tool_calls"))).message
    back = chat_messages(request(user("a"), answer, results("c1")), OPENAI)[2]
    assert back["tool_calls"][0]["extra_content"] == extra
    assert [p for p in answer.parts if isinstance(p, ToolCallPart)] == [called("c1")]


def test_lone_surrogates_never_reach_a_server() -> None:
    assert encode({"a": "x\ud83dy\udcff"}).decode() == '{"a":"x\ufffdy\ufffd"}'
    assert encode({"a": "\ud83d\ude00"}).decode() == '{"a":"😀"}'


def test_a_request_for_words_alone_offers_no_tools() -> None:
    asked = replace(request(user("hi")), answer_only=True)
    assert asked.tools
    assert "tools" not in body_of(asked)
