"""Real providers' streams: our wires and the official SDKs read the same, and a cut anywhere changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from maia.core.events import ReasoningDelta, TextDelta, WireAnswer, WireFailed
from maia.core.messages import ReasoningPart, TextPart, ToolCallPart
from maia.core.requests import ToolSpec
from maia.llm.wires.openai_chat import chat_usage
from maia.llm.wires.stream import Stream
from tests.conftest import SHARED
from tests.llm.wires.driving import chat_stream, events_of, message_stream, pieces, request


def recordings(name: str) -> list[Any]:
    path = SHARED / "recorded" / f"{name}.jsonl"
    if not path.exists():
        reason = "needs the recorded streams of ../shared, which are not part of this repository"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason))]
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [pytest.param(row, id=f"{number}-{row['host']}") for number, row in enumerate(rows)]


def client_for(body: str) -> httpx2.Client:
    def answer(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body.encode())

    return httpx2.Client(transport=httpx2.MockTransport(answer))


def stream_for(row: dict[str, Any]) -> Stream:
    body = row["request"] or {}
    tools = tuple(
        ToolSpec(function["name"], "", {})
        for tool in body.get("tools") or []
        if (function := tool.get("function") or tool).get("name")
    )
    asked = request(tools=tools)
    return message_stream(asked) if "anthropic.com" in row["host"] else chat_stream(asked)


# OpenAI -------------------------------------------------------------------------------------------------------------


def openai_reading(row: dict[str, Any]) -> SimpleNamespace:
    """What the official SDK reads, added up as its documentation says."""
    client = openai.OpenAI(api_key="none", base_url="http://test", http_client=client_for(row["stream"]), max_retries=0)
    got = SimpleNamespace(text="", reasoning="", calls={}, stop=None, usage=None, error=None)
    try:
        for chunk in client.chat.completions.create(model="m", messages=[], stream=True):
            if chunk.usage:
                got.usage = chunk.usage.model_dump()
            for choice in chunk.choices:
                add_choice(got, choice)
    except openai.APIError as error:
        got.error = error
    return got


def add_choice(got: SimpleNamespace, choice: Any) -> None:
    got.text += choice.delta.content or ""
    extra = choice.delta.model_extra or {}
    details = "".join(d.get("text") or d.get("summary") or "" for d in extra.get("reasoning_details") or [])
    got.reasoning += extra.get("reasoning_content") or extra.get("reasoning") or details
    for call in choice.delta.tool_calls or []:
        known = got.calls.setdefault(call.index, {"id": "", "name": "", "arguments": ""})
        known["id"] = known["id"] or call.id or ""
        known["name"] = known["name"] or (call.function and call.function.name) or ""
        known["arguments"] += (call.function and call.function.arguments) or ""
    got.stop = choice.finish_reason or got.stop


@pytest.mark.parametrize("row", recordings("openai_chat"))
def test_openai_chat_reads_what_the_official_sdk_reads(row: dict[str, Any]) -> None:
    theirs = openai_reading(row)
    events = events_of(stream_for(row), [row["stream"].encode()])
    last = events[-1]
    if theirs.error is not None and theirs.stop is None:
        assert isinstance(last, WireFailed)
        assert str(theirs.error.message)[:40] in last.failure.provider_text
        return
    assert isinstance(last, WireAnswer)
    written = "".join(e.text for e in events if isinstance(e, TextDelta))
    thought = "".join(e.text for e in events if isinstance(e, ReasoningDelta))
    if theirs.text.lstrip().startswith("<think>"):
        inside, _, after = theirs.text.lstrip().removeprefix("<think>").partition("</think>")
        theirs.reasoning, theirs.text = inside.lstrip("\n"), after.lstrip()
    assert (written, thought) == (theirs.text, theirs.reasoning)
    calls = [p for p in last.message.parts if isinstance(p, ToolCallPart)]
    assert [(c.call_id, c.name, c.arguments) for c in calls] == [
        (call["id"], call["name"], json.loads(call["arguments"] or "{}")) for call in theirs.calls.values()
    ]
    assert last.raw_stop == (theirs.stop or "")
    assert last.broken == ()
    if theirs.usage is not None:
        assert last.usage == chat_usage(theirs.usage)
        assert last.usage.prompt == theirs.usage["prompt_tokens"]
        assert last.usage.output == theirs.usage["completion_tokens"]


# Anthropic ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", recordings("anthropic_messages"))
def test_anthropic_messages_reads_what_the_official_sdk_reads(row: dict[str, Any]) -> None:
    client = anthropic.Anthropic(
        api_key="none", base_url="http://test", http_client=client_for(row["stream"]), max_retries=0
    )
    with client.messages.stream(model="m", max_tokens=1, messages=[]) as stream:
        theirs = stream.get_final_message()
    last = events_of(stream_for(row), [row["stream"].encode()])[-1]
    assert isinstance(last, WireAnswer)
    blocks = [block.model_dump() for block in theirs.content]
    ours = last.message.parts
    assert "".join(p.text for p in ours if isinstance(p, TextPart)) == joined(blocks, "text", "text")
    assert "".join(p.text for p in ours if isinstance(p, ReasoningPart)) == joined(blocks, "thinking", "thinking")
    assert [(p.replay or {})["block"] for p in ours if isinstance(p, ReasoningPart)] == list(signed(blocks))
    assert [(p.call_id, p.name, p.arguments) for p in ours if isinstance(p, ToolCallPart)] == [
        (b["id"], b["name"], b["input"]) for b in blocks if b["type"] == "tool_use"
    ]
    assert last.raw_stop == theirs.stop_reason
    assert last.message.model == theirs.model
    assert last.usage is not None
    assert (last.usage.input, last.usage.output, last.usage.cache_read, last.usage.cache_write) == (
        theirs.usage.input_tokens,
        theirs.usage.output_tokens,
        theirs.usage.cache_read_input_tokens or 0,
        theirs.usage.cache_creation_input_tokens or 0,
    )


def joined(blocks: list[dict[str, Any]], kind: str, field: str) -> str:
    return "".join(block[field] for block in blocks if block["type"] == kind)


def signed(blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for block in blocks:
        if block["type"] == "thinking":
            yield {"type": "thinking", "thinking": block["thinking"], "signature": block["signature"]}
        elif block["type"] == "redacted_thinking":
            yield {"type": "redacted_thinking", "data": block["data"]}


# Cuts ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", recordings("openai_chat") + recordings("anthropic_messages"))
@pytest.mark.parametrize("size", [1, 7, 1009])
def test_a_stream_cut_into_pieces_of_any_size_gives_the_same_events(row: dict[str, Any], size: int) -> None:
    body = row["stream"].encode()
    if size == 1:
        body = body[:30_000]  # every byte boundary of the first part of the longest ones is enough
    assert events_of(stream_for(row), pieces(body, size)) == events_of(stream_for(row), [body])


@pytest.mark.parametrize("row", recordings("openai_chat") + recordings("anthropic_messages"))
def test_a_stream_that_stops_early_never_gives_a_call_or_an_answer_that_was_not_whole(row: dict[str, Any]) -> None:
    body = row["stream"].encode()
    whole = events_of(stream_for(row), [body])[-1]
    for end in range(0, len(body), max(1, len(body) // 60)):
        last = events_of(stream_for(row), [body[:end]])[-1]
        if isinstance(last, WireAnswer):
            assert isinstance(whole, WireAnswer)
            assert last.message.parts[-1:] == whole.message.parts[-1:]
        else:
            assert not any(isinstance(part, ToolCallPart) for part in last.partial.parts)


def test_the_recordings_folder_is_a_folder_of_recordings(shared: Path) -> None:
    assert {p.name for p in (shared / "recorded").glob("*.jsonl")} >= {"openai_chat.jsonl", "anthropic_messages.jsonl"}
