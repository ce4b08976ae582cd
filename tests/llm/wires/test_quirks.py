from __future__ import annotations

import pytest

from maia.core.endings import Failure
from maia.core.jsonvalue import JsonObject
from maia.llm.wires.quirks import Quirks, adapted, output_room

ROOMS = [
    ("Anthropic, window", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", 9984),
    ("Anthropic, model", "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens", 64000),
    ("OpenAI, model", "max_tokens is too large: 9. This model supports at most 16,384 completion tokens", 16384),
    ("OpenAI, window", "maximum context length is 8192 tokens. However, you requested 9000 tokens "
     "(1000 in the messages, 8000 in the completion).", 7176),
    ("vLLM, window", "'max_tokens' is too large: 9. This model's maximum context length is 4096 tokens and your "
     "request has 1200 input tokens (9 > 4096 - 1200).", 2880),
    ("OpenRouter, window", "maximum context length is 131072 tokens. However, you requested about 140000 tokens "
     "(1000 of text input, 139000 in the output)", 130056),
    ("Groq, model", "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens`", 8192),
    ("DeepSeek, model", "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),
    ("Alibaba, model", "Range of max_tokens should be [1, 8192]", 8192),
    ("a full window says nothing of it", "prompt is too long: 210000 tokens > 200000 maximum", None),
    ("something else", "invalid model", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "room"), [r[1:] for r in ROOMS], ids=[r[0] for r in ROOMS])
def test_the_room_for_an_answer_is_read_from_the_refusal(text: str, room: int | None) -> None:
    assert output_room(text) == room


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        ({}, Failure("rejected", status=400, provider_text="unknown field stream_options")),
        ({"stream_options": {}}, Failure("rejected", status=400, provider_text="no such model")),
        ({"stream_options": {}}, Failure("overloaded", status=503, provider_text="stream_options")),
        ({"max_tokens": 5000}, Failure("too_long", status=400, provider_text="exceed context limit: 100 + 50 > 120")),
        ({"max_tokens": 50}, Failure("rejected", status=400, provider_text="at most 900 completion tokens")),
        ({}, Failure("rejected", status=400, provider_text="at most 900 completion tokens")),
    ],
    ids=["not sent", "another reason", "not a refusal", "no room", "already less", "no limit sent"],
)
def test_nothing_is_changed_for_another_reason(body: JsonObject, failure: Failure) -> None:
    assert adapted(Quirks(), body, failure) is None


def test_a_lowered_limit_never_raises_what_was_asked() -> None:
    assert Quirks(max_output=500).output_limit(100) == 100
    assert Quirks(max_output=500).output_limit(900) == 500
    assert Quirks(max_output=500).output_limit(None) == 500
    assert Quirks().output_limit(None) is None
