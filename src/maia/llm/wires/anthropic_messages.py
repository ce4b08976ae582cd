"""Anthropic messages: the request body, and what each event of the stream means. Pure; the driver does the I/O.

Sources: docs.anthropic.com/en/api/messages and /messages-streaming, extended thinking, prompt caching; and the ways of
MiniMax, Z.AI and Kimi, which speak the same format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast

from maia.core.costs import Usage
from maia.core.endings import StopReason
from maia.core.events import WireEvent
from maia.core.jsonvalue import JsonObject
from maia.core.messages import (
    AssistantMessage,
    ImagePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserPart,
)
from maia.core.requests import ModelRequest
from maia.llm.assemble import fresh_id
from maia.llm.errors import failure_from_error
from maia.llm.target import WireTarget
from maia.llm.wires.effort import BUDGETS, control_of, effort_fields
from maia.llm.wires.history import Asked, Turn, alternating
from maia.llm.wires.names import fit_id, fit_name
from maia.llm.wires.numbers import tokens_of
from maia.llm.wires.quirks import Quirks
from maia.llm.wires.stream import Format, Stream

NAME: Final = "anthropic-messages"
DEFAULT_OUTPUT: Final = 8_192
"""`max_tokens` is mandatory here; this is sent when nobody named one (plus the thinking budget, if any)."""

_EPHEMERAL: Final = {"type": "ephemeral"}

_STOPS: Final[Mapping[str, StopReason]] = {
    "end_turn": "end",
    "pause_turn": "end",
    "stop": "end",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "stop_sequence": "stop_sequence",
    "refusal": "refusal",
    "model_context_window_exceeded": "context_full",
}


# The request --------------------------------------------------------------------------------------------------------


def messages_body(request: ModelRequest, target: WireTarget, quirks: Quirks) -> JsonObject:
    """The body of a streamed request. At most four cache markers: tools, system, and the last two user turns."""
    turns = alternating(request.messages)
    fields: JsonObject = {}
    budget = 0
    if quirks.effort and not _thinking_impossible(turns, request, target):
        asked = request.max_output_tokens or target.max_output_tokens
        if asked is None and control_of(request.model, target) == "anthropic-budget":
            budget = BUDGETS.get(request.effort or "none", 0)
        fields = effort_fields(request, target, asked or DEFAULT_OUTPUT + 2 * budget)
    limit = quirks.output_limit(request.max_output_tokens or target.max_output_tokens or DEFAULT_OUTPUT + budget)
    marked = target.options.cache_markers is not False
    body: JsonObject = {"model": request.model, "max_tokens": limit, "stream": True, **_fitting(fields, limit or 0)}
    if request.tools:
        tools = [{"name": t.name, "description": t.description, "input_schema": t.parameters} for t in request.tools]
        body["tools"] = _marked(tools) if marked else tools
        if request.answer_only:
            body["tool_choice"] = {"type": "none"}  # a history with calls needs its tools
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.stop_sequences:
        body["stop_sequences"] = list(request.stop_sequences)
    if system := [{"type": "text", "text": section.text} for section in request.system if section.text.strip()]:
        body["system"] = _marked(system) if marked else system
    body["messages"] = _messages(turns, request, marked)
    return body | dict(target.options.extra_body)


def _fitting(fields: JsonObject, limit: int) -> JsonObject:
    """A thinking budget must be below the output limit, also when that was lowered."""
    budget = cast(JsonObject, fields.get("thinking", {})).get("budget_tokens")
    return {} if isinstance(budget, int) and budget >= limit else fields


def _thinking_impossible(turns: list[Turn], request: ModelRequest, target: WireTarget) -> bool:
    """With a thinking budget, a tool loop that began without signed thinking cannot go on with it (HTTP 400)."""
    if control_of(request.model, target) != "anthropic-budget" or len(turns) < 2:
        return False
    asked, answer = turns[-1], turns[-2]
    if not isinstance(asked, Asked) or not asked.results or not isinstance(answer, AssistantMessage):
        return False
    return not any(isinstance(part, ReasoningPart) and _block(part, request) for part in answer.parts)


def _messages(turns: list[Turn], request: ModelRequest, marked: bool) -> list[JsonObject]:
    messages: list[JsonObject] = []
    if turns and isinstance(turns[0], AssistantMessage):
        messages.append({"role": "user", "content": [{"type": "text", "text": "(continued)"}]})
    for turn in turns:
        match turn:
            case Asked(results, parts):
                content = [*map(_result, results), *_user_blocks(parts)]
                messages.append({"role": "user", "content": content or [{"type": "text", "text": "(empty)"}]})
            case AssistantMessage(parts):
                blocks = [block for part in parts if (block := _assistant_block(part, request))]
                messages.append({"role": "assistant", "content": blocks})
    if turns and isinstance(turns[-1], AssistantMessage):  # newer models refuse to go on with an answer of their own
        messages.append({"role": "user", "content": [{"type": "text", "text": "(continue)"}]})
    if marked:
        for message in [m for m in messages if m["role"] == "user"][-2:]:
            message["content"] = _marked(message["content"])
    return messages


def _marked(blocks: list[JsonObject]) -> list[JsonObject]:
    return [*blocks[:-1], {**blocks[-1], "cache_control": _EPHEMERAL}]


def _user_blocks(parts: Iterable[UserPart]) -> list[JsonObject]:
    blocks: list[JsonObject] = []
    for part in parts:
        if isinstance(part, ImagePart):
            source = {"type": "base64", "media_type": part.media_type, "data": part.data}
            blocks.append({"type": "image", "source": source})
        elif part.text.strip():
            blocks.append({"type": "text", "text": part.text})
    return blocks


def _result(result: ToolResultPart) -> JsonObject:
    body: JsonObject = {"type": "tool_result", "tool_use_id": fit_id(result.call_id, "letters"), "content": result.text}
    return body | {"is_error": True} if result.is_error else body


def _assistant_block(part: TextPart | ReasoningPart | ToolCallPart, request: ModelRequest) -> JsonObject | None:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text} if text.strip() else None
        case ReasoningPart():
            return _block(part, request)
        case ToolCallPart(call_id, name, arguments):
            return {"type": "tool_use", "id": fit_id(call_id, "letters"), "name": fit_name(name), "input": arguments}


def _block(part: ReasoningPart, request: ModelRequest) -> JsonObject | None:
    """The thinking block to send back: only to the model that signed it."""
    if part.wire != NAME or part.replay is None or part.replay.get("for") != request.model:
        return None
    return part.replay.get("block")


# The stream ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Block:
    """An open content block. Blocks of server tools, citations and kinds yet unknown are `other`: passed over."""

    kind: Literal["text", "thinking", "tool_use", "other"]
    index: int
    call_id: str = ""
    name: str = ""
    signature: str = ""


class MessageStream(Stream):
    """Events in, ours out."""

    wire = NAME

    def __init__(
        self, request: ModelRequest, target: WireTarget, host: str, new_id: Callable[[], str] = fresh_id
    ) -> None:
        super().__init__(request, target, host, new_id)
        self._model = request.model
        self._blocks: dict[int, _Block] = {}
        self._usage: JsonObject = {}

    def take(self, body: JsonObject, event: str) -> list[WireEvent]:
        kind = str(body.get("type") or event)
        if kind == "error" or "error" in body:
            self._failure = failure_from_error(body, self._host)
            self.recognised = self.done = True
            return []
        if kind in _EVENTS:
            self.recognised = True
            return _EVENTS[kind](self, body)
        return []

    def whole(self, body: JsonObject) -> list[WireEvent]:
        if body.get("type") == "error" or "error" in body:
            return self.take(body, "error")
        content = body.get("content")
        if not isinstance(content, list):
            return []
        events = self._message_start({"message": {**body, "content": []}})
        for index, block in enumerate(cast("list[JsonObject]", content)):
            events += self._block_start({"index": index, "content_block": block})
            events += self._block_stop({"index": index})
        events += self._message_delta({"delta": body, "usage": body.get("usage")})
        self.recognised = self.done = True
        return events

    def _conclude(self) -> StopReason:
        return _STOPS.get(self._raw_stop, "unknown") if self._raw_stop else "end"

    def _message_start(self, body: JsonObject) -> list[WireEvent]:
        message = cast(JsonObject, body.get("message") or {})
        if model := message.get("model"):
            self._answer.model = str(model)
        self._add_usage(message.get("usage"))
        return []

    def _block_start(self, body: JsonObject) -> list[WireEvent]:
        content = cast(JsonObject, body.get("content_block") or {})
        index = int(body.get("index") or 0)
        kind = str(content.get("type"))
        events: list[WireEvent] = []
        block = _Block("other", index)
        match kind:
            case "text":
                block.kind = "text"
                events += self._text(str(content.get("text") or ""))
            case "thinking":
                block.kind = "thinking"
                block.signature = str(content.get("signature") or "")
                self._answer.run("reasoning")
                events += self._answer.reasoning(str(content.get("thinking") or ""))
            case "redacted_thinking":
                self._keep({"type": kind, "data": content.get("data")})
            case "tool_use":
                block.kind = "tool_use"
                block.call_id, block.name = str(content.get("id") or ""), str(content.get("name") or "")
                # The input is empty here and follows in pieces; a whole answer and some gateways have all of it here.
                arguments = content.get("input") or None
                events += self._call(block, arguments)
            case _:
                pass
        self._blocks[index] = block
        return events

    def _block_delta(self, body: JsonObject) -> list[WireEvent]:
        delta = cast(JsonObject, body.get("delta") or {})
        block = self._blocks.setdefault(int(body.get("index") or 0), _Block("other", int(body.get("index") or 0)))
        match delta.get("type"):
            case "text_delta":
                return self._text(str(delta.get("text") or ""))
            case "thinking_delta":
                block.kind = "thinking"
                return self._answer.reasoning(str(delta.get("thinking") or ""))
            case "signature_delta":
                block.signature += str(delta.get("signature") or "")
            case "input_json_delta" if block.kind == "tool_use":
                return self._call(block, delta.get("partial_json"))
            case _:
                pass
        return []

    def _block_stop(self, body: JsonObject) -> list[WireEvent]:
        block = self._blocks.get(int(body.get("index") or 0))
        if block is not None and block.kind == "thinking":
            run = self._answer.run("reasoning")
            self._keep({"type": "thinking", "thinking": run.text, "signature": block.signature})
        return []

    def _message_delta(self, body: JsonObject) -> list[WireEvent]:
        self._add_usage(body.get("usage"))
        delta = cast(JsonObject, body.get("delta") or {})
        if stop := delta.get("stop_reason"):
            self._raw_stop = str(stop)
            self.finished = True
        return []

    def _message_stop(self, _body: JsonObject) -> list[WireEvent]:
        self.finished = self.done = True
        return []

    def _ping(self, _body: JsonObject) -> list[WireEvent]:
        return []

    def _text(self, text: str) -> list[WireEvent]:
        return self._answer.text(text) if text else []

    def _call(self, block: _Block, arguments: object) -> list[WireEvent]:
        return self._answer.call(index=block.index, call_id=block.call_id, name=block.name, arguments=arguments)

    def _keep(self, block: JsonObject) -> None:
        """Close the reasoning that is open with the block that must go back unchanged."""
        if block["type"] == "redacted_thinking" and self._answer.runs and not self._answer.runs[-1].closed:
            self._answer.runs[-1].closed = True
        run = self._answer.run("reasoning")
        run.replay = {"for": self._model, "block": block}
        run.closed = True

    def _add_usage(self, usage: object) -> None:
        if not isinstance(usage, dict):
            return
        given = cast(JsonObject, usage)
        self._usage |= {key: value for key, value in given.items() if value is not None}
        self._answer.usage = messages_usage(self._usage)
        self._take_cost(given)


_EVENTS: Final[Mapping[str, Callable[[MessageStream, JsonObject], list[WireEvent]]]] = {
    "message_start": MessageStream._message_start,  # pyright: ignore[reportPrivateUsage] - the class's own table
    "content_block_start": MessageStream._block_start,  # pyright: ignore[reportPrivateUsage]
    "content_block_delta": MessageStream._block_delta,  # pyright: ignore[reportPrivateUsage]
    "content_block_stop": MessageStream._block_stop,  # pyright: ignore[reportPrivateUsage]
    "message_delta": MessageStream._message_delta,  # pyright: ignore[reportPrivateUsage]
    "message_stop": MessageStream._message_stop,  # pyright: ignore[reportPrivateUsage]
    "ping": MessageStream._ping,  # pyright: ignore[reportPrivateUsage]
}


def messages_usage(usage: JsonObject) -> Usage:
    """Usage as Anthropic counts it: `input_tokens` leaves out what the cache gave or took."""
    details = cast(JsonObject, usage.get("output_tokens_details") or {})
    return Usage(
        tokens_of(usage.get("input_tokens")),
        tokens_of(usage.get("output_tokens")),
        tokens_of(usage.get("cache_read_input_tokens")),
        tokens_of(usage.get("cache_creation_input_tokens")),
        tokens_of(details.get("thinking_tokens")),
    )


ANTHROPIC_MESSAGES: Final = Format(messages_body, MessageStream)
