"""Where a wire sends its requests: one endpoint with its format, key and habits, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from maia.core.jsonvalue import JsonValue
from maia.core.secret import Secret

WireFormat: TypeAlias = Literal["openai-chat", "anthropic-messages", "other"]

EffortControl: TypeAlias = Literal[
    "none",  # the model has no such control: the effort is left out
    "openai",  # reasoning_effort: none | minimal | low | medium | high | xhigh | max
    "openrouter",  # reasoning: {effort: …}
    "anthropic-budget",  # thinking: {type: enabled, budget_tokens: N}
    "anthropic-adaptive",  # thinking: {type: adaptive} and output_config: {effort: …}
]
"""How an endpoint or model takes the effort of a request."""


@dataclass(frozen=True, slots=True)
class WireOptions:
    """Habits of an endpoint that are not in its format. Every default suits an unknown compatible gateway.

    `auth` None means: `bearer` for openai-chat, `x-api-key` for anthropic-messages. `effort` None means: chosen by the
    wire from the format and the model's name. `max_tokens_field` None means: `max_tokens` (T1.04), except for the
    reasoning models of api.openai.com. `include_usage` asks for a usage chunk and is dropped by itself where a server
    rejects it. `cache_markers` None means: on for anthropic-messages, off for openai-chat. `extra_body` is merged into
    every request body last (for `other`: into the model settings). `system_name` is, for `other`, the provider prefix
    that pydantic-ai knows (`google`, `openai-responses`, `bedrock`…).
    """

    auth: Literal["bearer", "x-api-key", "none"] | None = None
    effort: EffortControl | None = None
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    include_usage: bool = True
    cache_markers: bool | None = None
    extra_body: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    system_name: str = ""


@dataclass(frozen=True, slots=True)
class WireTarget:
    """One endpoint. Requests go to `base_url + chat_path` (T1.05), joined by exactly one slash.

    For anthropic-messages `base_url` ends before `/v1` and `chat_path` is `/v1/messages`. `headers` are sent with every
    request and may hold secrets: they are never shown. `idle_timeout` is the longest silence in seconds, before the
    first byte as between two; `max_output_tokens` is sent when a request names none (None: nothing is sent, except
    that anthropic-messages must send one and takes 8,192).
    """

    provider: str
    format: WireFormat
    base_url: str
    chat_path: str = "/chat/completions"
    key: Secret | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    idle_timeout: float = 120.0
    connect_timeout: float = 10.0
    max_output_tokens: int | None = None
    options: WireOptions = WireOptions()
