from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from maia.core.costs import Usage
from maia.core.endings import Failure
from maia.core.events import (
    BrokenCall,
    RetryScheduled,
    TextDelta,
    ToolCallDrafted,
    WireAnswer,
    WireEvent,
    WireFailed,
)
from maia.core.jsonvalue import JsonObject
from maia.core.messages import TextPart, ToolCallPart, UserMessage
from maia.core.requests import ModelRequest, Section
from maia.core.secret import Secret
from maia.llm.open import open_wire
from maia.llm.target import WireFormat, WireOptions, WireTarget
from maia.llm.wires import http
from tests.fakes import fake_llm
from tests.llm.wires.driving import BASH
from tests.llm.wires.serving import STREAM_HEAD, Asked, serving

PATHS: dict[WireFormat, str] = {"openai-chat": "/v1/chat/completions", "anthropic-messages": "/v1/messages"}
FORMATS = list(PATHS)
KEY = "sk-very-secret-0123456789"


def target(url: str, form: WireFormat = "openai-chat", **options: Any) -> WireTarget:
    return WireTarget("fake", form, url, PATHS[form], key=Secret(KEY), **options)


def asking(text: str = "hi", **options: Any) -> ModelRequest:
    return ModelRequest(
        "fake-model", (Section("s", "You help."),), (UserMessage((TextPart(text),)),), (BASH,), **options
    )


async def all_events(to: WireTarget, request: ModelRequest | None = None) -> list[WireEvent]:
    wire = open_wire(to)
    try:
        return [event async for event in wire.stream(request or asking())]
    finally:
        await wire.aclose()


def events_from(to: WireTarget, request: ModelRequest | None = None) -> list[WireEvent]:
    return asyncio.run(all_events(to, request))


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(test())


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits of retries are noted, not waited."""
    waits: list[float] = []
    original = http.retrying

    async def at_once(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(http, "retrying", lambda attempt: original(attempt, sleep=at_once, chance=lambda: 0.5))  # pyright: ignore
    return waits


# Every scenario of the fake server, in both formats -----------------------------------------------------------------

HELLO = TextPart("Hello from the fake model.")


def last_of(events: list[WireEvent]) -> WireAnswer:
    last = events[-1]
    assert isinstance(last, WireAnswer), last
    return last


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("scenario", ["text", "bytes", "slow"])
def test_a_text_answer(form: WireFormat, scenario: str) -> None:
    with fake_llm(scenario, delay=0.2) as server:
        events = events_from(target(server.url, form))
    assert [e.text for e in events if isinstance(e, TextDelta)] == ["Hello from th", "e fake model."]
    answer = last_of(events)
    assert (answer.message.parts, answer.stop, answer.usage) == ((HELLO,), "end", Usage(12, 3))


@pytest.mark.parametrize("form", FORMATS)
def test_a_big_answer(form: WireFormat) -> None:
    with fake_llm("big", big_chars=60_000) as server:
        answer = last_of(events_from(target(server.url, form)))
    assert answer.message.parts == (TextPart("x" * 60_000),)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("scenario", "count"), [("tool", 1), ("tool2", 2), ("frag", 1)])
def test_tool_calls(form: WireFormat, scenario: str, count: int) -> None:
    with fake_llm(scenario) as server:
        events = events_from(target(server.url, form))
    answer = last_of(events)
    calls = [part for part in answer.message.parts if isinstance(part, ToolCallPart)]
    assert [(call.name, call.arguments) for call in calls] == [("Bash", {"command": "echo hi"})] * count
    assert len({call.call_id for call in calls}) == count
    assert answer.stop == "tool_calls"
    assert ToolCallDrafted(0, "Bash", 22) in events


@pytest.mark.parametrize("form", FORMATS)
def test_calls_that_the_prompt_names(form: WireFormat) -> None:
    with fake_llm("prompt") as server:
        request = asking('CALL {"name": "Read", "arguments": {"path": "é"}}')
        answer = last_of(events_from(target(server.url, form), request))
    assert [(p.name, p.arguments) for p in answer.message.parts if isinstance(p, ToolCallPart)] == [
        ("Read", {"path": "é"})
    ]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("scenario", "stop"), [("truncated", "length"), ("lying", "tool_calls")])
def test_a_cut_call_is_broken_also_where_the_server_lies(form: WireFormat, scenario: str, stop: str) -> None:
    with fake_llm(scenario) as server:
        answer = last_of(events_from(target(server.url, form)))
    assert [(b.name, b.received_chars, b.head) for b in answer.broken] == [("Bash", 11, '{"command":')]
    assert isinstance(answer.broken[0], BrokenCall)
    assert (answer.message.parts, answer.stop) == ((), stop)


@pytest.mark.parametrize("form", FORMATS)
def test_an_overflow(form: WireFormat) -> None:
    with fake_llm("overflow") as server:
        events = events_from(target(server.url, form))
    [failed] = events
    assert isinstance(failed, WireFailed)
    assert (failed.failure.kind, failed.failure.status) == ("too_long", 400)
    assert failed.failure.provider_text == "prompt is too long: 210000 tokens > 200000 maximum"


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("scenario", "kind"), [("rate", "rate_limit"), ("busy", "overloaded")])
def test_a_busy_server_is_asked_again_after_the_time_it_names(
    form: WireFormat, scenario: str, kind: str, no_waiting: list[float]
) -> None:
    with fake_llm(scenario, fail_times=2) as server:
        events = events_from(target(server.url, form))
    retries = [e for e in events if isinstance(e, RetryScheduled)]
    assert [(r.attempt, r.delay, r.failure.kind) for r in retries] == [(1, 1.0, kind), (2, 1.0, kind)]
    assert no_waiting == [1.0, 1.0]
    assert last_of(events).message.parts == (HELLO,)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("scenario", ["rate", "busy"])
def test_a_server_that_stays_busy_fails_after_four_tries(form: WireFormat, scenario: str) -> None:
    with fake_llm(scenario, fail_times=99) as server:
        events = events_from(target(server.url, form))
        assert len(server.chats()) == 4
    assert [type(e).__name__ for e in events] == ["RetryScheduled"] * 3 + ["WireFailed"]


@pytest.mark.parametrize("form", FORMATS)
def test_an_answer_that_breaks_off_is_incomplete_keeps_its_text_and_is_never_asked_again(form: WireFormat) -> None:
    with fake_llm("cut") as server:
        events = events_from(target(server.url, form))
        assert len(server.chats()) == 1
    assert events[0] == TextDelta("Hello from th")
    failed = events[-1]
    assert isinstance(failed, WireFailed)
    assert (failed.failure.kind, failed.partial.parts) == ("incomplete", (TextPart("Hello from th"),))


@pytest.mark.parametrize("form", FORMATS)
def test_a_whole_turn_with_a_result(form: WireFormat) -> None:
    from tests.llm.wires.driving import results

    with fake_llm("tool") as server:
        first = last_of(events_from(target(server.url, form)))
        call_id = next(p.call_id for p in first.message.parts if isinstance(p, ToolCallPart))
        asked = asking()
        history = (*asked.messages, first.message, results(call_id))
        second = last_of(events_from(target(server.url, form), ModelRequest("fake-model", (), history, (BASH,))))
    assert second.message.parts == (HELLO,)


# What only a server of our own can do -------------------------------------------------------------------------------


def chat(*chunks: JsonObject) -> list[bytes]:
    return [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks] + [b"data: [DONE]\n\n"]


def delta(finish: str | None = None, **fields: Any) -> JsonObject:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


ANSWER = chat(delta(content="Hello"), delta("stop"))


async def answered(asked: Asked) -> None:
    await asked.stream(*ANSWER)


def refusal(message: str, status: int = 400, **fields: Any) -> Callable[[Asked], Awaitable[None]]:
    body = json.dumps({"error": {"message": message, **fields}}).encode()
    return lambda asked: asked.answer(status, body)


REFUSALS = [
    (
        "stream_options",
        "Unrecognized request argument supplied: stream_options",
        {},
        lambda body: "stream_options" not in body,
    ),
    (
        "reasoning_effort",
        "Unsupported value: 'reasoning_effort' is not supported with this model",
        {"effort": "high"},
        lambda body: "reasoning_effort" not in body,
    ),
    (
        "max_tokens by its other name",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        {"max_output_tokens": 100},
        lambda body: "max_tokens" not in body and body["max_completion_tokens"] == 100,
    ),
    (
        "OpenAI: an output too big for the model",
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, not 100000.",
        {"max_output_tokens": 100_000},
        lambda body: body["max_tokens"] == 16384,
    ),
    (
        "Anthropic: an output too big for the rest of the window",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
        {"max_output_tokens": 20_000},
        lambda body: body["max_tokens"] == 9984,
    ),
    (
        "vLLM: an output too big for the rest of the window",
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (1000 in the messages, "
        "8000 in the completion). Please reduce the length of the messages or completion.",
        {"max_output_tokens": 8000},
        lambda body: body["max_tokens"] == 7176,
    ),
    (
        "DeepSeek: an output out of range",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
        {"max_output_tokens": 9000},
        lambda body: body["max_tokens"] == 8192,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("message", "options", "good"), [r[1:] for r in REFUSALS], ids=[r[0] for r in REFUSALS])
def test_a_field_that_a_server_refuses_is_changed_and_the_request_sent_again_once(
    message: str, options: dict[str, Any], good: Callable[[JsonObject], bool]
) -> None:
    async def test() -> None:
        async def picky(asked: Asked) -> None:
            await (answered(asked) if good(asked.json) else refusal(message)(asked))

        async with serving(picky) as server:
            events = await all_events(target(server.url), asking(**options))
            assert last_of(events).message.parts == (TextPart("Hello"),)
            assert len(server.asked) == 2

    run(test)


def test_what_an_endpoint_refuses_is_remembered_for_the_next_call() -> None:
    async def test() -> None:
        async def picky(asked: Asked) -> None:
            known = "stream_options" not in asked.json
            await (answered(asked) if known else refusal("unknown field stream_options")(asked))

        async with serving(picky) as server:
            wire = open_wire(target(server.url))
            for _ in range(2):
                assert isinstance([e async for e in wire.stream(asking())][-1], WireAnswer)
            await wire.aclose()
            assert ["stream_options" in asked.json for asked in server.asked] == [True, False, False]

    run(test)


def test_a_server_that_refuses_everything_is_not_asked_for_ever() -> None:
    async def test() -> None:
        message = "stream_options, reasoning_effort and max_tokens: at most 300 completion tokens are supported"
        async with serving(refusal(message)) as server:
            events = await all_events(target(server.url), asking(effort="high", max_output_tokens=1000))
            assert isinstance(events[-1], WireFailed)
            assert len(server.asked) <= 5

    run(test)


def test_an_input_that_leaves_no_room_is_too_long() -> None:
    async def test() -> None:
        message = "input length and `max_tokens` exceed context limit: 199990 + 20000 > 200000"
        async with serving(refusal(message)) as server:
            [failed] = await all_events(target(server.url), asking(max_output_tokens=20_000))
            assert isinstance(failed, WireFailed)
            assert failed.failure.kind == "too_long"
            assert len(server.asked) == 1

    run(test)


def test_an_answer_in_one_piece_to_a_streamed_request() -> None:
    async def test() -> None:
        body = {"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 2}}

        async def whole(asked: Asked) -> None:
            await asked.answer(200, json.dumps(body).encode(), x_litellm_response_cost="0.25")

        async with serving(whole) as server:
            events = await all_events(target(server.url))
            assert events[0] == TextDelta("Hello")
            assert (last_of(events).cost_usd, last_of(events).usage) == (0.25, Usage(2))

    run(test)


@pytest.mark.parametrize(
    ("status", "body", "content_type", "kind"),
    [
        (200, b"<!doctype html><title>Welcome to nginx!</title>", "text/html", "not_llm"),
        (200, b"<!doctype html><title>Welcome to nginx!</title>", "text/event-stream", "not_llm"),
        (200, b"Ollama is running", "text/plain", "not_llm"),
        (200, b'{"hello": 1}', "application/json", "not_llm"),
        (200, b"{}", "application/json", "not_llm"),
        (200, b"[1]", "application/json", "not_llm"),
        (200, b"", "text/event-stream", "incomplete"),
        (200, b'{"error": {"message": "bad key", "code": 401}}', "application/json", "auth"),
        (404, b"404 page not found", "text/plain", "not_llm"),
        (404, b'{"error":{"message":"model x not found"}}', "application/json", "rejected"),
        (401, b'{"error":{"message":"no"}}', "application/json", "auth"),
        (500, b"Internal Server Error", "text/plain", "overloaded"),
    ],
)
@pytest.mark.parametrize("form", FORMATS)
def test_a_server_that_is_no_model_server_or_refuses_is_told_apart(
    form: WireFormat, status: int, body: bytes, content_type: str, kind: str
) -> None:
    async def test() -> None:
        async with serving(lambda asked: asked.answer(status, body, content_type=content_type)) as server:
            failed = (await all_events(target(server.url, form)))[-1]
            assert isinstance(failed, WireFailed)
            assert failed.failure.kind == kind

    run(test)


def test_a_key_that_a_server_echoes_never_shows() -> None:
    async def test() -> None:
        async with serving(refusal(f"the key {KEY} is bad", 401)) as server:
            failed = (await all_events(target(server.url)))[-1]
            assert isinstance(failed, WireFailed)
            assert failed.failure.provider_text == "the key •••• is bad"
        body = chat({"error": {"message": f"the key {KEY} is bad"}})

        async with serving(lambda asked: asked.stream(*body)) as server:
            failed = (await all_events(target(server.url)))[-1]
            assert isinstance(failed, WireFailed)
            assert KEY not in repr(failed)

    run(test)


def test_an_error_in_the_stream_before_the_first_word_is_tried_again() -> None:
    async def test() -> None:
        async def first_busy(asked: Asked) -> None:
            error = {"error": {"message": "Overloaded", "type": "overloaded_error"}}
            await asked.stream(*(chat(error) if len(server.asked) == 1 else ANSWER))

        async with serving(first_busy) as server:
            events = await all_events(target(server.url))
            assert [type(e).__name__ for e in events] == ["RetryScheduled", "TextDelta", "WireAnswer"]

    run(test)


def test_an_error_after_the_first_word_is_never_tried_again() -> None:
    async def test() -> None:
        error = {"error": {"message": "Overloaded", "type": "overloaded_error"}}
        async with serving(lambda asked: asked.stream(*chat(delta(content="Hel"), error))) as server:
            events = await all_events(target(server.url))
            assert [type(e).__name__ for e in events] == ["TextDelta", "WireFailed"]
            assert len(server.asked) == 1

    run(test)


def test_a_server_that_never_closes_its_stream_does_not_hold_a_finished_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "GRACE", 0.2)

    async def test() -> None:
        async def hangs(asked: Asked) -> None:
            await asked.send(STREAM_HEAD)
            await asked.chunk(ANSWER[0] + ANSWER[1])
            await asked.gone()

        async with serving(hangs) as server:
            start = time.monotonic()
            assert last_of(await all_events(target(server.url))).stop == "end"
            assert time.monotonic() - start < 30

    run(test)


def test_a_connection_reset_after_the_end_does_not_matter() -> None:
    async def test() -> None:
        async def resets(asked: Asked) -> None:
            await asked.send(STREAM_HEAD)
            await asked.chunk(ANSWER[0] + ANSWER[1])
            asked.writer.close()

        async with serving(resets) as server:
            assert last_of(await all_events(target(server.url))).stop == "end"

    run(test)


def test_the_calls_of_a_wire_share_one_connection() -> None:
    async def test() -> None:
        async with serving(answered) as server:
            wire = open_wire(target(server.url))
            for _ in range(3):
                assert last_of([e async for e in wire.stream(asking())]).stop == "end"
            await wire.aclose()
            assert (len(server.asked), server.connections) == (3, 1)

    run(test)


@pytest.mark.parametrize("content_type", ["application/json", "text/html", "text/plain", "application/octet-stream"])
def test_a_stream_under_a_wrong_media_type_is_read(content_type: str) -> None:
    async def test() -> None:
        body = b"".join(ANSWER)
        async with serving(lambda asked: asked.answer(200, body, content_type=content_type)) as server:
            answer = last_of(await all_events(target(server.url)))
            assert (answer.message.parts, answer.stop) == ((TextPart("Hello"),), "end")

    run(test)


def test_an_answer_in_one_piece_under_the_media_type_of_a_stream_is_read() -> None:
    async def test() -> None:
        body = json.dumps({"choices": [{"message": {"content": "x" * 9000}, "finish_reason": "stop"}]}).encode()
        async with serving(lambda asked: asked.answer(200, body, content_type="text/event-stream")) as server:
            answer = last_of(await all_events(target(server.url)))
            assert answer.message.parts == (TextPart("x" * 9000),)

    run(test)


def test_text_that_is_no_frame_is_quoted_when_the_answer_never_ends() -> None:
    async def test() -> None:
        frames = [ANSWER[0], b"data: upstream connect error\n\n"]
        async with serving(lambda asked: asked.stream(*frames)) as server:
            failed = (await all_events(target(server.url)))[-1]
            assert isinstance(failed, WireFailed)
            assert (failed.failure.kind, failed.failure.provider_text) == ("incomplete", "upstream connect error")

    run(test)


def test_a_connection_that_went_stale_between_two_calls_is_opened_again() -> None:
    async def test() -> None:
        async def once(asked: Asked) -> None:
            await answered(asked)
            asked.writer.close()

        async with serving(once) as server:
            wire = open_wire(target(server.url))
            for _ in range(3):
                events = [e async for e in wire.stream(asking())]
                assert last_of(events).stop == "end"
            await wire.aclose()

    run(test)


@pytest.mark.parametrize("how", ["cancel", "close"])
def test_stopping_an_answer_closes_the_connection_at_once(how: str) -> None:
    async def test() -> None:
        closed = asyncio.Event()

        async def forever(asked: Asked) -> None:
            await asked.send(STREAM_HEAD)
            await asked.chunk(ANSWER[0])
            await asked.gone()
            closed.set()

        async with serving(forever) as server:
            wire = open_wire(target(server.url))
            shown = asyncio.Event()

            async def read() -> None:
                async with aclosing(wire.stream(asking())) as events:
                    async for _ in events:
                        shown.set()
                        if how == "close":
                            return

            task = asyncio.create_task(read())
            await asyncio.wait_for(shown.wait(), 30)
            if how == "cancel":
                task.cancel()
            await asyncio.wait([task])
            assert task.cancelled() is (how == "cancel")
            await asyncio.wait_for(closed.wait(), 30)
            await wire.aclose()

    run(test)


def test_a_defect_becomes_a_failure_not_an_exception() -> None:
    async def test() -> None:
        options = WireOptions(extra_body={"bad": object()})
        async with serving(answered) as server:
            [failed] = await all_events(target(server.url, options=options))
            assert isinstance(failed, WireFailed)
            assert (failed.failure.kind, failed.failure.code) == ("other", "TypeError")
            assert server.asked == []

    run(test)


def test_the_whole_exchange_is_logged_without_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "llm.log"
    monkeypatch.setenv("MAIA_DEBUG_LLM", str(log))

    async def test() -> None:
        async def echoes(asked: Asked) -> None:
            await asked.stream(f": {KEY}\n\n".encode(), *ANSWER)

        async with serving(echoes) as server:
            await all_events(target(server.url), asking("my question"))

    run(test)
    text = log.read_text()
    assert "POST http://127.0.0.1" in text
    assert "my question" in text
    assert 'data: {"choices"' in text
    assert "data: [DONE]" in text
    assert KEY not in text
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_failure_names_the_server() -> None:
    events = events_from(target("http://127.0.0.1:1"))
    failed = events[-1]
    assert isinstance(failed, WireFailed)
    assert failed.failure == Failure(
        "network", "127.0.0.1:1", code="ConnectError", provider_text="Connection refused", cause="refused"
    )
    assert [type(e).__name__ for e in events] == ["RetryScheduled", "WireFailed"]
