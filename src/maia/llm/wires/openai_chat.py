"""OpenAI chat completions: the request body, and what each chunk of the stream means. Pure; the driver does the I/O.

Sources: platform.openai.com/docs/api-reference/chat, and the ways of OpenRouter, Groq, DeepSeek, Mistral, Moonshot,
Z.AI, xAI, LiteLLM, llama.cpp and Snowflake as recorded or documented by them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Final, cast

from maia.core.costs import Usage
from maia.core.endings import StopReason
from maia.core.events import WireEvent
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.messages import AssistantMessage, ImagePart, ReasoningPart, TextPart, ToolCallPart, UserPart
from maia.core.requests import ModelRequest, ToolSpec
from maia.llm.assemble import fresh_id
from maia.llm.errors import failure_from_error
from maia.llm.target import WireTarget
from maia.llm.wires.effort import effort_fields
from maia.llm.wires.history import Asked, alternating
from maia.llm.wires.names import IdForm, fit_id, fit_name
from maia.llm.wires.numbers import tokens_of
from maia.llm.wires.quirks import Quirks
from maia.llm.wires.stream import Format, Stream

NAME: Final = "openai-chat"

_STOPS: Final[Mapping[str, StopReason]] = {
    "stop": "end",
    "eos": "end",
    "end_turn": "end",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "refusal",
    "refusal": "refusal",
    "safety": "refusal",
    "sensitive": "refusal",  # Z.AI
    "model_context_window_exceeded": "context_full",  # Z.AI
    "stop_sequence": "stop_sequence",
}


# The request --------------------------------------------------------------------------------------------------------


def chat_body(request: ModelRequest, target: WireTarget, quirks: Quirks) -> JsonObject:
    """The body of a streamed request. Keys come in a fixed order, the growing history last but for small settings."""
    body: JsonObject = {"model": request.model, "stream": True}
    if quirks.include_usage and target.options.include_usage:
        body["stream_options"] = {"include_usage": True}
    limit = quirks.output_limit(request.max_output_tokens or target.max_output_tokens)
    if limit is not None:
        body[quirks.max_tokens_field or target.options.max_tokens_field or _max_tokens_field(target)] = limit
    if quirks.effort:
        body |= effort_fields(request, target, limit)
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.stop_sequences:
        body["stop"] = list(request.stop_sequences)
    if request.tools and not request.answer_only:  # small models call even under `tool_choice: none`
        body["tools"] = [_tool(tool) for tool in request.tools]
    body["messages"] = chat_messages(request, target, quirks.call_ids)
    if target.options.cache_markers:
        _mark_caches(body["messages"])
    return body | dict(target.options.extra_body)


def _max_tokens_field(target: WireTarget) -> str:
    """OpenAI's own reasoning models refuse `max_tokens`; gateways often know nothing else (T1.04)."""
    host = target.base_url.partition("://")[2].partition("/")[0]
    return "max_completion_tokens" if host == "api.openai.com" or host.endswith(".openai.azure.com") else "max_tokens"


def _tool(tool: ToolSpec) -> JsonObject:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def chat_messages(request: ModelRequest, target: WireTarget, ids: IdForm = "any") -> list[JsonObject]:
    """System, then turns in alternation. A result is a message of its own; what the user said after it follows."""
    messages: list[JsonObject] = []
    is_mistral = "mistral.ai" in target.base_url
    form: IdForm = "nine" if is_mistral else ids
    if system := "\n\n".join(section.text for section in request.system if section.text):
        messages.append({"role": "system", "content": system})
    for turn in alternating(request.messages):
        match turn:
            case Asked(results, parts):
                messages += (
                    {"role": "tool", "tool_call_id": fit_id(r.call_id, form), "content": r.text} for r in results
                )
                if results and parts and is_mistral:
                    # Mistral refuses a user message right after a tool result.
                    messages.append({"role": "assistant", "content": "OK."})
                if parts:
                    messages.append({"role": "user", "content": _content(parts)})
            case AssistantMessage():
                messages.append(_assistant(turn, request, target, form))
    return messages


def _content(parts: Iterable[UserPart]) -> JsonValue:
    parts = tuple(parts)
    if not any(isinstance(part, ImagePart) for part in parts):
        return "\n\n".join(part.text for part in parts if isinstance(part, TextPart))
    return [
        {"type": "text", "text": part.text}
        if isinstance(part, TextPart)
        else {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{part.data}"}}
        for part in parts
    ]


def _assistant(message: AssistantMessage, request: ModelRequest, target: WireTarget, form: IdForm) -> JsonObject:
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    text = "".join(part.text for part in message.parts if isinstance(part, TextPart))
    body: JsonObject = {"role": "assistant", "content": text or None}
    if not calls:
        return body
    extras: JsonObject = {}
    for part in message.parts:
        if isinstance(part, ReasoningPart) and _is_ours(part, request, target):
            # Reasoning goes back only with calls: DeepSeek, Kimi, MiniMax and OpenRouter ask for it there, and
            # everywhere else it is ignored at best.
            replay = cast(JsonObject, part.replay)
            body |= replay.get("fields", {})
            extras |= replay.get("calls", {})
            if tag := replay.get("inline"):
                body["content"] = f"<{tag}>\n{part.text}\n</{tag}>\n\n{text}"
    body["tool_calls"] = [_call(call, form, extras.get(call.call_id)) for call in calls]
    return body


def _is_ours(part: ReasoningPart, request: ModelRequest, target: WireTarget) -> bool:
    replay = part.replay
    return replay is not None and part.wire == NAME and replay.get("for") == [target.provider, request.model]


def _call(call: ToolCallPart, form: IdForm, extra: JsonValue) -> JsonObject:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    body: JsonObject = {
        "id": fit_id(call.call_id, form),
        "type": "function",
        "function": {"name": fit_name(call.name), "arguments": arguments},
    }
    return body | {"extra_content": extra} if extra else body


def _mark_caches(messages: list[JsonObject]) -> None:
    """Anthropic models behind OpenRouter or LiteLLM take cache markers inside content parts."""
    last_two = [m for m in messages if m["role"] == "user"][-2:]
    for message in [*(m for m in messages[:1] if m["role"] == "system"), *last_two]:
        content = message["content"]
        parts: list[JsonObject] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        parts[-1] = {**parts[-1], "cache_control": {"type": "ephemeral"}}
        message["content"] = parts


# The stream ---------------------------------------------------------------------------------------------------------


class ChatStream(Stream):
    """Chunks in, events out."""

    wire = NAME

    def __init__(
        self, request: ModelRequest, target: WireTarget, host: str, new_id: Callable[[], str] = fresh_id
    ) -> None:
        super().__init__(request, target, host, new_id)
        self._for = [target.provider, request.model]
        self._refused = False
        self._reasons_by_content = False
        self._details: list[_Detail] = []
        self._extras: dict[int, JsonValue] = {}

    def take(self, body: JsonObject, event: str = "") -> list[WireEvent]:
        """One chunk, or a whole answer that was not streamed (`event` is `error` where a frame says so)."""
        if (body.get("error") or event == "error") and not self.finished:  # OpenRouter adds one to a finished answer
            self._failure = failure_from_error(body, self._host)
            self.done = True
        if model := body.get("model"):
            self._answer.model = str(model)
        usage = body.get("usage") or cast(JsonObject, body.get("x_groq") or {}).get("usage")
        choices = body.get("choices")
        if usage:
            self._take_usage(usage)
        if not isinstance(choices, list):
            return []
        self.recognised = True
        events: list[WireEvent] = []
        for choice in cast("list[JsonObject]", choices):
            if choice.get("index") in (0, None):
                events += self._take_choice(choice)
        return events

    def whole(self, body: JsonObject) -> list[WireEvent]:
        events = self.take(body)
        self.done = self.done or self.recognised
        return events

    def _take_choice(self, choice: JsonObject) -> list[WireEvent]:
        events: list[WireEvent] = []
        delta = choice.get("delta") or choice.get("message")
        if delta:
            content = delta.get("content")
            events += self._take_reasoning(delta)
            if content:
                events += self._take_content(content)
            if calls := delta.get("tool_calls"):
                for position, call in enumerate(calls):
                    events += self._take_call(call, position if "message" in choice else None)
            if call := delta.get("function_call"):
                events += self._take_call({"index": 0, "function": call}, None)
            if refusal := delta.get("refusal"):
                self._refused = True
                events += self._answer.text(str(refusal))
        if reason := choice.get("finish_reason"):
            self._raw_stop = str(reason)
            self.finished = True
        return events

    def _take_content(self, content: JsonValue) -> list[WireEvent]:
        if isinstance(content, str):
            return self._answer.text(content)
        events: list[WireEvent] = []
        for part in cast("list[JsonObject]", content):  # Mistral streams parts, its thinking among them
            if isinstance(part.get("thinking"), list):
                events += self._answer.reasoning("".join(str(item.get("text") or "") for item in part["thinking"]))
            elif part.get("text"):
                events += self._answer.text(str(part["text"]))
        return events

    def _take_reasoning(self, delta: JsonObject) -> list[WireEvent]:
        details = cast("list[JsonObject]", delta.get("reasoning_details") or [])
        for detail in details:
            if not self._details or not self._details[-1].take(detail):
                self._details.append(_Detail(detail))
        for name in ("reasoning_content", "reasoning"):
            text = delta.get(name)
            if isinstance(text, str) and text:
                self._reasons_by_content |= name == "reasoning_content"
                return self._answer.reasoning(text)
        return self._answer.reasoning("".join(str(d.get("text") or d.get("summary") or "") for d in details))

    def _take_call(self, call: JsonObject, position: int | None) -> list[WireEvent]:
        function = cast(JsonObject, call.get("function") or {})
        index = call.get("index")
        events = self._answer.call(
            index=index if isinstance(index, int) else position,
            call_id=str(call.get("id") or ""),
            name=str(function.get("name") or ""),
            arguments=function.get("arguments"),
        )
        if extra := call.get("extra_content"):  # Gemini's thought signatures, which must come back with the call
            self._extras[len(self._answer.drafts.drafts) - 1] = extra
        return events

    def _take_usage(self, usage: JsonObject) -> None:
        self._answer.usage = chat_usage(usage)
        self._take_cost(usage)

    def _is_over(self) -> bool:
        return self.finished or (self.done and self._answer.has_content())

    def _conclude(self) -> StopReason:
        self._keep_replay()
        return "refusal" if self._refused else _stop(self._raw_stop)

    def _keep_replay(self) -> None:
        """Put what the provider wants back with the next request into the reasoning of this answer."""
        replay: JsonObject = {}
        if self._details:
            replay["fields"] = {"reasoning_details": [detail.whole() for detail in self._details]}
        elif self._reasons_by_content:
            replay["fields"] = {"reasoning_content": self._answer.reasoning_text()}
        if self._answer.inline_tag:
            replay["inline"] = self._answer.inline_tag
        if self._extras:
            self._answer.drafts.settle()
            replay["calls"] = {self._answer.drafts.drafts[n].call_id: extra for n, extra in self._extras.items()}
        if replay:
            self._answer.run("reasoning").replay = {"for": self._for, **replay}


def _stop(raw: str) -> StopReason:
    """The server's word, normalised; an answer that ended by [DONE] without a word just ended (Snowflake)."""
    return _STOPS.get(raw.lower(), "unknown") if raw else "end"


class _Detail:
    """One reasoning detail of OpenRouter while it streams in pieces; joined, it must go back as one."""

    def __init__(self, first: JsonObject) -> None:
        self._body: JsonObject = {}
        self._pieces: dict[str, list[str]] = {}
        self._kind = (first.get("type"), first.get("index"))
        self.take(first)

    def take(self, detail: JsonObject) -> bool:
        """Add a piece; False when it belongs to another detail."""
        if (detail.get("type"), detail.get("index")) != self._kind:
            return False
        for key, value in detail.items():
            if key in ("text", "summary", "data") and isinstance(value, str):
                self._pieces.setdefault(key, []).append(value)
            if value is not None or key not in self._body:
                self._body[key] = value
        return True

    def whole(self) -> JsonObject:
        return self._body | {key: "".join(pieces) for key, pieces in self._pieces.items()}


def chat_usage(usage: JsonObject) -> Usage:
    """Usage of any compatible server. `prompt_tokens` includes what the cache gave; some leave reasoning out of
    `completion_tokens` (xAI, Gemini), which the total tells.
    """

    def number(*path: str) -> int:
        value: JsonValue = usage
        for key in path:
            value = cast(JsonObject, value).get(key) if isinstance(value, dict) else None
        return tokens_of(value)

    prompt, output, reasoning = (
        number("prompt_tokens"),
        number("completion_tokens"),
        number("completion_tokens_details", "reasoning_tokens"),
    )
    read = (
        number("prompt_tokens_details", "cached_tokens")
        or number("prompt_cache_hit_tokens")
        or number("cache_read_input_tokens")
        or number("cached_tokens")
    )
    write = number("prompt_tokens_details", "cache_write_tokens") or number("cache_creation_input_tokens")
    if reasoning and number("total_tokens") == prompt + output + reasoning:
        output += reasoning
    return Usage(max(0, prompt - read - write), output, read, write, min(reasoning, output) if output else reasoning)


OPENAI_CHAT: Final = Format(chat_body, ChatStream)
