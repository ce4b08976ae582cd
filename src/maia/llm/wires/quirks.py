"""What an endpoint turned out to refuse, learned from its answers, so that the same request succeeds the next time."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Literal

from maia.core.endings import Failure
from maia.core.jsonvalue import JsonObject
from maia.llm.wires.names import IdForm

MIN_OUTPUT: Final = 256
"""Less room for an answer than this is no room: then the input itself is too long."""


@dataclass(frozen=True, slots=True)
class Quirks:
    """Learned once for an endpoint; `max_output` only for one request."""

    include_usage: bool = True
    effort: bool = True
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    call_ids: IdForm = "any"
    max_output: int | None = None

    def output_limit(self, asked: int | None) -> int | None:
        """The output limit to send: what was asked, lowered to what the server said it can give."""
        if self.max_output is None:
            return asked
        return self.max_output if asked is None else min(asked, self.max_output)


def adapted(quirks: Quirks, body: JsonObject, failure: Failure) -> Quirks | None:
    """Quirks with which the same request may succeed, or None when the failure has another cause.

    Only a refusal (HTTP 400, 404, 413, 422) that names a field which was sent counts, and each field only once.
    """
    if failure.status not in (400, 404, 413, 422):
        return None
    text = failure.provider_text
    ids = _refused_ids(text)
    if ids is not None and ids != quirks.call_ids:
        return replace(quirks, call_ids=ids)
    limit = body.get("max_tokens") or body.get("max_completion_tokens")
    if "stream_options" in body and re.search("stream_options|include_usage", text):
        return replace(quirks, include_usage=False)
    if "max_tokens" in body and "max_completion_tokens" in text and re.search(r"(?i)unsupported|not supported", text):
        return replace(quirks, max_tokens_field="max_completion_tokens")
    if isinstance(limit, int):
        room = output_room(text)
        if room is not None and MIN_OUTPUT <= room < limit and quirks.max_output is None:
            return replace(quirks, max_output=room)
    effort_keys = ("reasoning_effort", "reasoning", "thinking", "output_config")
    if quirks.effort and any(key in body for key in effort_keys) and re.search("(?i)reasoning|thinking|effort", text):
        return replace(quirks, effort=False)
    return None


_REFUSED_ID: Final = r"(?is)(?:tool_calls\S*\.id|tool[ _]call[ _]id|call_id)\b.{0,300}?\blength (?:of )?(?P<length>\d+)"


def _refused_ids(text: str) -> IdForm | None:
    """The ids that a refusal asks for. OpenAI: `'messages[1].tool_calls[0].id': string too long. Expected a string with
    maximum length 40`. Mistral: `Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9`.
    """
    found = re.search(_REFUSED_ID, text)
    if found is None:
        return None
    return "nine" if found["length"] == "9" else "short"


_WINDOW_MINUS_INPUT: Final = (
    # Anthropic: input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000
    r"exceed context limit: (?P<input>\d+) \+ \d+ > (?P<window>\d+)",
    # OpenAI, vLLM: maximum context length is 8192 tokens. However, you requested 9000 tokens (1000 in the messages, …
    r"maximum context length is (?P<window>\d+) tokens.*?\((?:about )?(?P<input>\d+) (?:in the messages|of text input)",
    # vLLM: is too large: 9999. This model's maximum context length is 32768 tokens and your request has 1200 input
    r"maximum context length is (?P<window>\d+) tokens and your request has (?P<input>\d+) input",
)
_MOST: Final = (
    r"max_tokens: \d+ > (?P<most>\d+)",  # Anthropic: which is the maximum allowed number of output tokens
    r"at most (?P<most>\d+) completion tokens",  # OpenAI
    r"less than or equal to [`'\"]?(?P<most>\d+)",  # Groq
    r"max_(?:completion_)?tokens\D{0,40}\[\s*1\s*,\s*(?P<most>\d+)\s*\]",  # DeepSeek, Alibaba
)


def output_room(text: str) -> int | None:
    """The most output tokens that a refusal says are possible, or None when it speaks of something else.

    This is the third case beside "too long" and "fine": only `max_tokens` is too big (anchors: context overflow).
    """
    text = text.replace(",", "") if re.search(r"\d,\d{3}", text) else text
    for pattern in _WINDOW_MINUS_INPUT:
        if found := re.search(pattern, text, re.DOTALL):
            return int(found["window"]) - int(found["input"]) - 16  # a few tokens of structure differ between counts
    for pattern in _MOST:
        if found := re.search(pattern, text):
            return int(found["most"])
    return None
