"""Drives a format's stream over bytes without a network, and builds requests."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from maia.core.events import WireAnswer, WireEvent, WireFailed
from maia.core.messages import (
    AssistantMessage,
    Message,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from maia.core.requests import ModelRequest, Section, ToolSpec
from maia.llm.sse import Frame, FrameReader
from maia.llm.target import WireTarget
from maia.llm.wires.anthropic_messages import MessageStream
from maia.llm.wires.http import NOT_A_CHUNK
from maia.llm.wires.openai_chat import ChatStream
from maia.llm.wires.stream import Stream

OPENAI = WireTarget("fake", "openai-chat", "http://127.0.0.1:1/v1")
ANTHROPIC = WireTarget("fake", "anthropic-messages", "http://127.0.0.1:1", "/v1/messages")

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"path": {"type": "string"}}}
READ = ToolSpec("Read", "Reads a file.", SCHEMA)
BASH = ToolSpec("Bash", "Runs a command.", SCHEMA)


def user(text: str) -> UserMessage:
    return UserMessage((TextPart(text),))


def said(text: str, *calls: ToolCallPart) -> AssistantMessage:
    return AssistantMessage((TextPart(text), *calls) if text else calls, "m", "fake")


def called(call_id: str, name: str = "Read", **arguments: Any) -> ToolCallPart:
    return ToolCallPart(call_id, name, arguments)


def results(*call_ids: str, is_error: bool = False) -> ToolMessage:
    return ToolMessage(tuple(ToolResultPart(call_id, "Read", f"result of {call_id}", is_error) for call_id in call_ids))


def request(*messages: Message, tools: tuple[ToolSpec, ...] = (READ, BASH), **options: Any) -> ModelRequest:
    return ModelRequest("m", (Section("base", "You help."),), messages or (user("hi"),), tools, **options)


def counting_ids() -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"new_{next(numbers)}"


def chat_stream(asked: ModelRequest | None = None, target: WireTarget = OPENAI) -> ChatStream:
    return ChatStream(asked or request(), target, "host", counting_ids())


def message_stream(asked: ModelRequest | None = None, target: WireTarget = ANTHROPIC) -> MessageStream:
    return MessageStream(asked or request(), target, "host", counting_ids())


def events_of(stream: Stream, chunks: Iterable[bytes]) -> list[WireEvent]:
    """What the driver would yield for these bytes."""
    reader = FrameReader()
    events: list[WireEvent] = []

    def take(frames: list[Frame]) -> None:
        for frame in frames:
            try:
                events.extend(stream.feed(frame.event, frame.data))
            except NOT_A_CHUNK:
                continue

    for chunk in chunks:
        take(reader.feed(chunk))
        if stream.done:
            break
    else:
        take(reader.flush())
    return events + stream.end()


def answer_of(stream: Stream, body: bytes) -> WireAnswer:
    last = events_of(stream, [body])[-1]
    assert isinstance(last, WireAnswer), last
    return last


def failure_of(stream: Stream, body: bytes) -> WireFailed:
    last = events_of(stream, [body])[-1]
    assert isinstance(last, WireFailed), last
    return last


def pieces(body: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]
