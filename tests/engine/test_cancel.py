"""A turn stopped at every step of the event loop: its events stay whole and its history can be sent."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import pytest

from maia.core.endings import Failure
from maia.core.events import (
    Answered,
    ApprovalAnswered,
    ApprovalRequested,
    Event,
    ReasoningDelta,
    RetryScheduled,
    TextDelta,
    ToolCallFinished,
    TurnEnded,
)
from maia.core.jsonvalue import JsonObject
from maia.core.messages import AssistantMessage, Message, ToolCallPart, ToolMessage
from maia.core.permission import Answer, Verdict
from maia.core.ports import Hands
from maia.core.results import ToolResult
from maia.core.submission import Submission
from maia.engine.conversation import Conversation
from maia.engine.transcript import Transcript
from maia.store.journal import read_records
from tests.engine.doubles import FakeJudge, FakeTool, FakeWire, call, call_answer, conversation, text_answer

pytestmark = pytest.mark.anyio

How: TypeAlias = Literal["stop", "stop again and again", "cancel the reader", "close"]
FURTHER = 200
"""More steps than the turn has."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def _slow(_args: JsonObject, hands: Hands) -> ToolResult:
    hands.emit("half ")
    await asyncio.sleep(0)
    hands.emit("way")
    await asyncio.sleep(0)
    return ToolResult("slow ran")


def _crash(_args: JsonObject, _hands: Hands) -> ToolResult:
    raise RuntimeError("a defect")


def _wire() -> FakeWire:
    calls = (call("Slow", "a", path="x"), call("Slow", "b", path="x"), call("Crash", "c"), call("Ask", "d"))
    first = [TextDelta("I "), 0, ReasoningDelta("hm"), 0, TextDelta("look"), 0]
    retry = [RetryScheduled(1, 0.0, Failure("network")), 0]
    return FakeWire(
        [*first, *call_answer(*calls, call("Unknown", "e"), text="I look")[1:]],
        [*retry, *call_answer(call("Slow", "f"), call("Ask", "g", path="y"))],
        [TextDelta("done"), 0, *text_answer("done")[1:]],
    )


def _talk(folder: Path, wire: FakeWire) -> Conversation:
    judge = FakeJudge(Slow=Verdict.ALLOW, Crash=Verdict.ALLOW, Ask=Verdict.ASK)
    return conversation(folder, wire, FakeTool("Slow", _slow), FakeTool("Crash", _crash), FakeTool("Ask"), judge=judge)


async def _read(talk: Conversation, text: str, events: list[Event]) -> None:
    async for event in talk.turn(Submission(text)):
        events.append(event)
        if isinstance(event, ApprovalRequested):
            asyncio.get_running_loop().call_soon(talk.answer, event.approval_id, Answer("once"))


async def _end(talk: Conversation, reader: asyncio.Task[None], how: How) -> None:
    match how:
        case "stop":
            talk.stop()
        case "stop again and again":
            for _ in range(5):
                talk.stop()
                await asyncio.sleep(0)
        case "cancel the reader":
            reader.cancel()
        case "close":
            await talk.close()
    await asyncio.gather(reader, return_exceptions=True)


def _is_whole(messages: Sequence[Message]) -> bool:
    """Whether roles alternate and the results after an answer are those of its calls, in order."""
    asked: list[str] = []
    for before, message in zip((None, *messages), messages, strict=False):
        if type(before) is type(message):
            return False
        results = [result.call_id for result in message.results] if isinstance(message, ToolMessage) else []
        if results != asked:
            return False
        parts = message.parts if isinstance(message, AssistantMessage) else ()
        asked = [part.call_id for part in parts if isinstance(part, ToolCallPart)]
    return not asked


def _assert_whole(events: Sequence[Event]) -> None:
    answers = [event.message for event in events if isinstance(event, Answered)]
    calls = [part.call_id for answer in answers for part in answer.parts if isinstance(part, ToolCallPart)]
    assert Counter(calls) == Counter(event.call_id for event in events if isinstance(event, ToolCallFinished))
    asked = {event.approval_id for event in events if isinstance(event, ApprovalRequested)}
    assert asked == {event.approval_id for event in events if isinstance(event, ApprovalAnswered)}
    assert [type(event) is TurnEnded for event in events] == [False] * (len(events) - 1) + [True]


@pytest.mark.parametrize("how", ["stop", "stop again and again", "cancel the reader", "close"])
async def test_a_turn_ended_at_any_step_leaves_whole_events_and_a_history_to_send(tmp_path: Path, how: How) -> None:
    before = asyncio.all_tasks()
    for steps in range(FURTHER):
        folder = tmp_path / str(steps)
        folder.mkdir()
        wire = _wire()
        talk = _talk(folder, wire)
        async for _ in talk.open():
            pass
        events: list[Event] = []
        reader = asyncio.create_task(_read(talk, "go", events))
        for _ in range(steps):
            await asyncio.sleep(0)
        is_over = reader.done()
        await _end(talk, reader, how)
        if events and how != "cancel the reader":
            _assert_whole(events)
        if how != "close":
            await _read(talk, "again", events)
            assert all(_is_whole(request.messages) for request in wire.requests), steps
        live = talk.transcript.messages()
        await talk.close()
        assert _is_whole(live)
        for path in (folder / ".maia" / ".sessions").glob("*.jsonl"):
            assert Transcript.of(record.event for record in read_records(path).records).messages() == live
        assert asyncio.all_tasks() == before
        if is_over:
            return
    pytest.fail("the turn never ends")
