from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from maia.core.costs import Usage
from maia.core.errors import NotConfigured
from maia.core.events import ReasoningDelta, RetryScheduled, TextDelta, WireAnswer, WireEvent, WireFailed
from maia.core.messages import AssistantMessage, ImagePart, ReasoningPart, TextPart, ToolCallPart, UserMessage
from maia.core.requests import ModelRequest
from maia.core.secret import Secret
from maia.llm.open import open_wire
from maia.llm.target import WireOptions, WireTarget
from tests.fakes import fake_llm
from tests.llm.wires.driving import called, request, results, said, user

pytest.importorskip("pydantic_ai", reason="needs the extra maia[providers]")

from pydantic_ai import messages as theirs
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.function import (
    AgentInfo,
    DeltaThinkingCalls,
    DeltaThinkingPart,
    DeltaToolCall,
    DeltaToolCalls,
    FunctionModel,
)

from maia.llm.wires import other
from maia.llm.wires.other import OtherWire, to_theirs

TARGET = WireTarget("fake", "other", "")
Piece = str | DeltaToolCalls | DeltaThinkingCalls


def events_of(*pieces: Piece | Exception, asked: ModelRequest | None = None) -> list[WireEvent]:
    async def stream(_messages: list[theirs.ModelMessage], _info: AgentInfo) -> AsyncIterator[Piece]:
        for piece in pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    wire = OtherWire(TARGET, lambda _name: FunctionModel(stream_function=stream))

    async def collect() -> list[WireEvent]:
        return [event async for event in wire.stream(asked or request())]

    return asyncio.run(collect())


def test_text_thinking_and_calls_are_mapped() -> None:
    events = events_of(
        {0: DeltaThinkingPart(content="hm")},
        "Hel",
        "lo",
        {2: DeltaToolCall(name="Read", json_args='{"path":', tool_call_id="c1")},
        {2: DeltaToolCall(json_args='"a"}')},
    )
    assert [e for e in events if isinstance(e, (TextDelta, ReasoningDelta))] == [
        ReasoningDelta("hm"),
        TextDelta("Hel"),
        TextDelta("lo"),
    ]
    last = events[-1]
    assert isinstance(last, WireAnswer)
    assert last.message.parts == (ReasoningPart("hm", "other"), TextPart("Hello"), called("c1", path="a"))
    assert last.stop == "tool_calls"


def test_a_cut_call_is_broken() -> None:
    last = events_of({0: DeltaToolCall(name="Read", json_args='{"path":', tool_call_id="c1")})[-1]
    assert isinstance(last, WireAnswer)
    assert [(b.name, b.received_chars) for b in last.broken] == [("Read", 8)]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ModelHTTPError(401, "m", {"message": "bad"}), "auth"),
        (ModelHTTPError(400, "m", {"error": {"message": "prompt is too long: 3 > 2"}}), "too_long"),
        (ConnectionResetError("gone"), "network"),
        (TypeError("defect"), "other"),
    ],
)
def test_their_exceptions_become_failures(error: Exception, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(_seconds: float) -> None: ...

    retrying = other.retrying
    monkeypatch.setattr(other, "retrying", lambda attempt: retrying(attempt, sleep=at_once))  # pyright: ignore
    last = events_of(error)[-1]
    assert isinstance(last, WireFailed)
    assert last.failure.kind == kind


def test_our_history_becomes_theirs() -> None:
    image = UserMessage((TextPart("see"), ImagePart("image/png", "AAAA")))
    asked = request(user("a"), said("Hm", called("c1", path="x"), called("c2")), results("c1"), image)
    shown = [
        (type(part).__name__, getattr(part, "content", None) or getattr(part, "args", None))
        for message in to_theirs(asked, TARGET)
        for part in message.parts
    ]
    assert shown[:5] == [
        ("SystemPromptPart", "You help."),
        ("UserPromptPart", ["a"]),
        ("TextPart", "Hm"),
        ("ToolCallPart", {"path": "x"}),
        ("ToolReturnPart", "result of c1"),
    ]
    name, content = shown[5]
    assert (name, content[0], content[1].media_type) == ("UserPromptPart", "see", "image/png")


def test_signed_thinking_goes_back_whole_to_the_model_it_came_from() -> None:
    response = theirs.ModelResponse(
        [
            theirs.ThinkingPart("hm", signature="sig", provider_name="x"),
            theirs.ToolCallPart("Read", {"path": "a"}, "c1", provider_details={"thought_signature": "s"}),
        ]
    )
    kept = theirs.ModelMessagesTypeAdapter.dump_python([response], mode="json")[0]
    part = ReasoningPart("hm", "other", {"for": ["fake", "m"], "response": kept})
    answer = AssistantMessage((part, called("c1", path="a")), "m", "fake")
    back = to_theirs(request(user("a"), answer, results("c1")), TARGET)[1]
    assert [(type(p).__name__, p.provider_details) for p in back.parts if isinstance(p, theirs.ToolCallPart)] == [
        ("ToolCallPart", {"thought_signature": "s"})
    ]
    other_model = to_theirs(ModelRequest("m2", (), (user("a"), answer, results("c1"))), TARGET)[1]
    assert [type(p).__name__ for p in other_model.parts] == ["ToolCallPart"]


def test_a_missing_extra_is_told_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other, "find_spec", lambda _name: None)  # pyright: ignore
    with pytest.raises(NotConfigured) as caught:
        open_wire(TARGET)
    assert caught.value.key == "failure.extra_missing"
    assert caught.value.values == {"provider": "fake", "extra": "maia[providers]"}


def test_a_provider_nobody_knows_is_not_configured() -> None:
    async def collect() -> list[WireEvent]:
        wire = open_wire(WireTarget("nobody-knows", "other", ""))
        return [event async for event in wire.stream(request())]

    last = asyncio.run(collect())[-1]
    assert isinstance(last, WireFailed)
    assert last.failure.kind in ("not_configured", "other")


def real(system: str, url: str) -> list[WireEvent]:
    options = WireOptions(system_name=system)
    wire = open_wire(WireTarget(system, "other", url, key=Secret("sk-fake-1234567"), options=options))

    async def collect() -> list[WireEvent]:
        try:
            return [event async for event in wire.stream(request())]
        finally:
            await wire.aclose()

    return asyncio.run(collect())


PROVIDERS: list[Any] = [("openai-responses", "/v1"), ("google", "")]


@pytest.mark.parametrize(("system", "path"), PROVIDERS)
def test_real_providers_over_http(system: str, path: str) -> None:
    pytest.importorskip("openai" if "openai" in system else "google.genai")
    with fake_llm("text") as server:
        answer = real(system, server.url + path)[-1]
        assert isinstance(answer, WireAnswer)
        assert (answer.message.parts, answer.usage) == ((TextPart("Hello from the fake model."),), Usage(12, 3))
    with fake_llm("tool", tool_name="Read", tool_args='{"path": "a"}') as server:
        answer = real(system, server.url + path)[-1]
        assert isinstance(answer, WireAnswer)
        assert [(p.name, p.arguments) for p in answer.message.parts if isinstance(p, ToolCallPart)] == [
            ("Read", {"path": "a"})
        ]
    with fake_llm("overflow") as server:
        failed = real(system, server.url + path)[-1]
        assert isinstance(failed, WireFailed)
        assert failed.failure.kind == "too_long"
    with fake_llm("busy", fail_times=1) as server:
        assert isinstance(real(system, server.url + path)[0], RetryScheduled)
