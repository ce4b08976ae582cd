"""Every other provider, through `pydantic_ai.direct` (extra `maia[providers]`); the only importer of pydantic_ai.

Its models speak to the provider; the loop, the retries and the messages on disk stay ours (libraries.md §1).
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, cast

from maia.core.costs import Usage
from maia.core.endings import Failure, StopReason
from maia.core.errors import NotConfigured
from maia.core.events import WireEvent
from maia.core.jsonvalue import JsonObject
from maia.core.messages import AssistantMessage, ImagePart, ReasoningPart, TextPart, ToolCallPart
from maia.core.requests import Effort, ModelRequest
from maia.llm.causes import failure_from_exception
from maia.llm.errors import failure_from_response, without
from maia.llm.retry import retrying
from maia.llm.target import WireTarget
from maia.llm.wires.answer import Answer
from maia.llm.wires.history import Asked, alternating

if TYPE_CHECKING:
    from pydantic_ai import messages as theirs
    from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
    from pydantic_ai.providers import Provider
    from pydantic_ai.settings import ModelSettings

NAME: Final = "other"

_STOPS: Final[dict[str | None, StopReason]] = {
    "stop": "end",
    "length": "length",
    "content_filter": "refusal",
    "tool_call": "tool_calls",
    None: "end",
}
_THINKING: Final[dict[Effort, bool | str]] = {
    "none": False,
    "minimal": "minimal",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "xhigh",
    "max": "max",
}

MakeModel = Callable[[str], "Model[Any]"]


class OtherWire:
    """A `Wire` over a pydantic-ai model. Raises `NotConfigured` at once when the extra is not installed."""

    def __init__(self, target: WireTarget, make_model: MakeModel | None = None) -> None:
        """`make_model` gives the pydantic-ai model for a model's name; tests pass their own."""
        if find_spec("pydantic_ai") is None:
            raise NotConfigured("failure.extra_missing", provider=target.provider, extra="maia[providers]")
        self.target = target
        self._make = make_model or self._infer
        self._models: dict[str, Model[Any]] = {}
        self._opened = AsyncExitStack()
        self._secrets = [target.key.reveal()] if target.key else []

    @property
    def provider(self) -> str:
        return self.target.provider

    async def stream(self, request: ModelRequest) -> AsyncGenerator[WireEvent]:
        """Deltas, then one `WireAnswer` or `WireFailed` (see `core.ports.Wire`)."""
        async with aclosing(retrying(lambda: self._attempt(request))) as events:
            async for event in events:
                yield event

    async def aclose(self) -> None:
        """Close the clients of the models. The next call opens new ones."""
        self._models.clear()
        await self._opened.aclose()

    async def _model(self, name: str) -> Model[Any]:
        if name not in self._models:
            self._models[name] = await self._opened.enter_async_context(self._make(name))
        return self._models[name]

    async def _attempt(self, request: ModelRequest) -> AsyncGenerator[WireEvent]:
        answer = Answer(request, wire=NAME, provider=self.provider, limit=self.target.max_output_tokens)
        try:
            from pydantic_ai.direct import model_request_stream

            model = await self._model(request.model)
            history = to_theirs(request, self.target)
            async with model_request_stream(
                model,
                history,
                model_settings=_settings(request, self.target),
                model_request_parameters=_parameters(request),
            ) as stream:
                async for event in stream:
                    for ours in _ours(answer, event):
                        yield ours
                last = _end(answer, stream, request, self.target)
        except Exception as error:
            failure = without(failure_of(error, self.provider), self._secrets)
            if failure.kind == "network" and answer.has_content():
                failure = replace(failure, kind="incomplete", provider_text="")  # the answer broke off
            last = answer.fail(failure)
        for ours in last:
            yield ours

    def _infer(self, name: str) -> Model[Any]:
        from pydantic_ai.models import infer_model

        return infer_model(f"{self.target.options.system_name or self.provider}:{name}", self._provider)

    def _provider(self, name: str) -> Provider[Any]:
        from pydantic_ai.providers import infer_provider_class

        given: JsonObject = {}
        if self.target.key:
            given["api_key"] = self.target.key.reveal()
        if self.target.base_url:
            given["base_url"] = self.target.base_url
        return infer_provider_class(name)(**given)


# Ours to theirs -----------------------------------------------------------------------------------------------------


def to_theirs(request: ModelRequest, target: WireTarget) -> list[theirs.ModelMessage]:
    """The request's system text and history as pydantic-ai messages."""
    from pydantic_ai import messages as theirs

    messages: list[theirs.ModelMessage] = []
    opening: list[theirs.ModelRequestPart] = []
    if system := "\n\n".join(section.text for section in request.system if section.text):
        opening.append(theirs.SystemPromptPart(system))
    for turn in alternating(request.messages):
        if isinstance(turn, AssistantMessage):
            messages.append(_response(turn, request, target))
            continue
        messages.append(theirs.ModelRequest([*opening, *_asked(turn)]))
        opening = []
    return messages


def _asked(turn: Asked) -> list[theirs.ModelRequestPart]:
    import base64

    from pydantic_ai import messages as theirs

    parts: list[theirs.ModelRequestPart] = [
        theirs.ToolReturnPart(r.name, r.text, r.call_id, outcome="failed" if r.is_error else "success")
        for r in turn.results
    ]
    content: list[theirs.UserContent] = [
        theirs.BinaryContent(base64.b64decode(part.data), media_type=part.media_type)
        if isinstance(part, ImagePart)
        else part.text
        for part in turn.parts
    ]
    return [*parts, theirs.UserPromptPart(content)] if content else parts


def _response(message: AssistantMessage, request: ModelRequest, target: WireTarget) -> theirs.ModelResponse:
    from pydantic_ai import messages as theirs

    calls = {part.call_id: part for part in message.parts if isinstance(part, ToolCallPart)}
    for part in message.parts:
        if isinstance(part, ReasoningPart) and part.wire == NAME and part.replay is not None:
            kept = _replayed(part.replay, calls, request, target)
            if kept is not None:
                return kept
    parts: list[theirs.ModelResponsePart] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            parts.append(theirs.TextPart(part.text))
        elif isinstance(part, ToolCallPart):
            parts.append(theirs.ToolCallPart(part.name, part.arguments, part.call_id))
    return theirs.ModelResponse(parts)


def _replayed(
    replay: JsonObject, calls: dict[str, ToolCallPart], request: ModelRequest, target: WireTarget
) -> theirs.ModelResponse | None:
    """The response as it was received, with signatures and details; None where another model gave it."""
    from pydantic_ai import messages as theirs

    if replay.get("for") != [target.provider, request.model]:
        return None
    response = theirs.ModelMessagesTypeAdapter.validate_python([replay["response"]])[0]
    if not isinstance(response, theirs.ModelResponse):
        return None
    response.parts = [
        part for part in response.parts if not isinstance(part, theirs.ToolCallPart) or part.tool_call_id in calls
    ]
    kept = {part.tool_call_id for part in response.parts if isinstance(part, theirs.ToolCallPart)}
    return response if kept == set(calls) else None


def _parameters(request: ModelRequest) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    tools = [
        ToolDefinition(
            name=tool.name, parameters_json_schema=tool.parameters, description=tool.description, strict=False
        )
        for tool in request.tools
    ]
    return ModelRequestParameters(function_tools=[] if request.answer_only else tools)


def _settings(request: ModelRequest, target: WireTarget) -> ModelSettings:
    settings: JsonObject = {"timeout": target.idle_timeout, "max_retries": 0}
    if limit := request.max_output_tokens or target.max_output_tokens:
        settings["max_tokens"] = limit
    if request.temperature is not None:
        settings["temperature"] = request.temperature
    if request.stop_sequences:
        settings["stop_sequences"] = list(request.stop_sequences)
    if request.effort is not None and target.options.effort != "none":
        settings["thinking"] = _THINKING[request.effort]
    if target.headers:
        settings["extra_headers"] = dict(target.headers)
    return cast("ModelSettings", settings | dict(target.options.extra_body))


# Theirs to ours -----------------------------------------------------------------------------------------------------


def _ours(answer: Answer, event: theirs.ModelResponseStreamEvent) -> list[WireEvent]:
    from pydantic_ai import messages as theirs

    match event:
        case theirs.PartStartEvent(index=index, part=part):
            match part:
                case theirs.TextPart(content=text):
                    return answer.text(text) if text else []
                case theirs.ThinkingPart(content=text):
                    return answer.reasoning(text)
                case theirs.ToolCallPart():
                    return answer.call(index=index, call_id=part.tool_call_id, name=part.tool_name, arguments=part.args)
                case _:
                    return []
        case theirs.PartDeltaEvent(index=index, delta=delta):
            match delta:
                case theirs.TextPartDelta(content_delta=text):
                    return answer.text(text) if text else []
                case theirs.ThinkingPartDelta(content_delta=text):
                    return answer.reasoning(text or "")
                case theirs.ToolCallPartDelta():
                    return answer.call(index=index, name=delta.tool_name_delta or "", arguments=delta.args_delta)
                case _:
                    return []
        case _:
            return []


def _end(answer: Answer, stream: StreamedResponse, request: ModelRequest, target: WireTarget) -> list[WireEvent]:
    from pydantic_ai import messages as theirs

    response = stream.get()
    usage = stream.usage
    cached, written = usage.cache_read_tokens, usage.cache_write_tokens
    if usage.input_tokens or usage.output_tokens:
        answer.usage = Usage(
            max(0, usage.input_tokens - cached - written),
            usage.output_tokens,
            cached,
            written,
            usage.output_reasoning_tokens,
        )
    answer.model = response.model_name or request.model
    if response.state not in ("complete", "suspended"):
        return answer.incomplete(target.provider)
    if any(getattr(part, name, None) for part in response.parts for name in ("signature", "provider_details")):
        whole = theirs.ModelMessagesTypeAdapter.dump_python([response], mode="json")[0]
        answer.run("reasoning").replay = {"for": [target.provider, request.model], "response": whole}
    raw = str((response.provider_details or {}).get("finish_reason") or response.finish_reason or "")
    return answer.end(_STOPS.get(response.finish_reason, "unknown"), raw)


def failure_of(error: Exception, provider: str) -> Failure:
    """The failure behind an exception of pydantic-ai or of the SDK below it."""
    from pydantic_ai import exceptions

    match error:
        case exceptions.ModelHTTPError():
            body = error.body if isinstance(error.body, (str, bytes)) else json.dumps(error.body, default=str)
            data = body.encode() if isinstance(body, str) else body
            return failure_from_response(error.status_code, error.headers or {}, data, provider)
        case exceptions.ModelTimeoutError():
            return Failure("timeout", provider, provider_text=error.message)
        case exceptions.ModelConnectionError():
            return Failure("network", provider, provider_text=error.message)
        case exceptions.ModelAPIError():
            body = json.dumps(error.body or error.message, default=str).encode()
            return failure_from_response(500, {}, body, provider)
        case exceptions.ContentFilterError():
            return Failure("rejected", provider, code="content_filter", provider_text=error.message)
        case exceptions.UnexpectedModelBehavior():
            return Failure("incomplete", provider, provider_text=error.message)
        case exceptions.UserError() | ImportError():
            return Failure("not_configured", provider, provider_text=str(error))
        case _:
            return failure_from_exception(error, provider)
