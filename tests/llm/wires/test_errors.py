from __future__ import annotations

import time
from email.utils import formatdate

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from maia.core.endings import Failure
from maia.llm.errors import (
    MAX_TEXT,
    clean,
    failure_from_error,
    failure_from_response,
    is_quota,
    kind_of,
    retry_after,
    without,
)

OVERFLOWS = [
    ("Anthropic", 400, "prompt is too long: 210000 tokens > 200000 maximum"),
    ("Bedrock", 400, "Input is too long for requested model."),
    ("OpenAI", 400, "Your input exceeds the context window of this model."),
    ("OpenAI's code", 400, "context_length_exceeded"),
    ("Azure", 400, "This model's maximum context length is 8192 tokens, however you requested 9000 tokens"),
    ("vLLM", 400, "This model's maximum context length is 4096 tokens. Please reduce the length of the messages."),
    ("OpenRouter", 400, "This endpoint's maximum context length is 131072 tokens."),
    ("Gemini", 400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
    ("xAI", 400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
    ("Groq", 413, "Please reduce the length of the messages or completion."),
    ("Mistral", 400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"),
    ("Mistral's code", 422, "prompt_too_long"),
    ("Mistral's other code", 422, "model_context_exceeded"),
    ("Copilot", 400, "prompt token count of 130000 exceeds the limit of 128000"),
    ("llama.cpp", 400, "the request exceeds the available context size, try increasing it"),
    ("LM Studio", 400, "the number of tokens to keep is greater than the context length"),
    ("MiniMax", 400, "context window exceeds limit (2013)"),
    ("Kimi", 400, "Your request exceeded model token limit: 262144"),
    ("Z.AI", 400, "model_context_window_exceeded"),
    ("LiteLLM", 400, "litellm.ContextWindowExceededError: litellm.BadRequestError: …"),
    ("Anthropic with its answer", 400, "input length and `max_tokens` exceed context limit: 199999 + 8192 > 200000"),
]


@pytest.mark.parametrize(("status", "text"), [o[1:] for o in OVERFLOWS], ids=[o[0] for o in OVERFLOWS])
def test_every_providers_word_for_a_full_window_is_understood(status: int, text: str) -> None:
    assert kind_of(status, "", text) == "too_long"


ANSWERS = [
    ("tokens per minute are no full window", 429, "too large: tokens per min (TPM): Limit 30000", "rate_limit"),
    ("… even without a status", None, "30000 tokens per minute, not maximum context length", "rate_limit"),
    ("a wrong key", 401, '{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}', "auth"),
    ("a forbidden key", 403, '{"error":{"message":"forbidden"}}', "auth"),
    ("LiteLLM, wrong key", 400, '{"error":{"message":"No connected db.","type":"no_db_connection"}}', "auth"),
    ("Gemini, wrong key", 400, '{"error":{"message":"API key not valid.","status":"INVALID_ARGUMENT"}}', "auth"),
    ("no money", 402, '{"error":{"message":"Insufficient Balance"}}', "rate_limit"),
    ("quota", 429, '{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}', "rate_limit"),
    ("Anthropic, no credit", 400, '{"error":{"message":"Your credit balance is too low to access"}}', "rate_limit"),
    ("no such model", 404, '{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}', "rejected"),
    ("Ollama, no such model", 404, '{"error":"model \'x\' not found, try pulling it first"}', "rejected"),
    ("Anthropic, no such model", 404, '{"error":{"type":"not_found_error","message":"model: x"}}', "rejected"),
    ("LiteLLM, no such model", 400, '{"error":{"message":"Invalid model name passed in model=x"}}', "rejected"),
    ("a wrong path", 404, "404 page not found", "not_llm"),
    ("a wrong path of FastAPI", 404, '{"detail":"Not Found"}', "not_llm"),
    ("a page", 200, "<!doctype html><title>Welcome to nginx!</title>", "not_llm"),
    ("a page not found", 404, "<html><head><title>404 Not Found</title></head></html>", "not_llm"),
    ("JSON of something else", 200, '{"hello": 1}', "not_llm"),
    ("a method that is not there", 405, "Method Not Allowed", "not_llm"),
    ("a redirect", 302, "", "not_llm"),
    ("a filter", 400, '{"error":{"message":"the content management policy","code":"content_filter"}}', "rejected"),
    ("a bad field", 422, '{"detail":[{"msg":"field required","type":"missing"}]}', "rejected"),
    ("a timeout of the server", 408, "Request Timeout", "timeout"),
    ("a timeout of a gateway", 504, "<html><title>504 Gateway Time-out</title></html>", "timeout"),
    ("overloaded", 529, '{"error":{"type":"overloaded_error","message":"Overloaded"}}', "overloaded"),
    ("unavailable", 503, "Service Unavailable", "overloaded"),
    ("llama.cpp while it loads", 503, '{"error":{"message":"Loading model","code":503}}', "overloaded"),
    ("a bad gateway", 502, "<html><title>502 Bad Gateway</title></html>", "overloaded"),
    ("an inner error", 500, '{"error":{"message":"boom"}}', "overloaded"),
    ("Cerebras, too long, without a body", 413, "", "too_long"),
    ("Cerebras, too long, without a body", 400, "", "too_long"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "kind"), [a[1:] for a in ANSWERS], ids=[a[0] for a in ANSWERS])
def test_every_answer_has_its_kind(status: int | None, body: str, kind: str) -> None:
    if status is None:
        assert kind_of(None, "", body) == kind
    else:
        assert failure_from_response(status, {}, body.encode(), "host").kind == kind


def test_litellm_without_a_key_answers_500_and_means_the_key() -> None:
    headers = {"content-type": "text/plain"}
    asked = failure_from_response(500, headers, b"Internal Server Error", "host", has_key=False)
    assert asked.kind == "auth"
    assert failure_from_response(500, headers, b"Internal Server Error", "host", has_key=True).kind == "overloaded"


TEXTS = [
    ('{"error":{"message":"no","type":"t","code":"c"}}', "c", "no"),
    ('{"error":{"message":"no","type":"t"}}', "t", "no"),
    ('{"error":"no"}', "", "no"),
    ('{"detail":"no"}', "", "no"),
    ('{"detail":[{"msg":"no","type":"missing"}]}', "missing", "no"),
    ('{"message":"no","code":"c"}', "c", "no"),
    ('[{"error":{"message":"no","status":"S"}}]', "S", "no"),
    ('{"errors":[{"message":"no"}]}', "", "no"),
    ('{"error":{"message":"Provider error","code":400,"metadata":{"raw":"{\\"message\\":\\"no\\"}"}}}',
     "400", "Provider error: no"),
    ("<html><head><title>Nope</title></head><body>x</body></html>", "", "Nope"),
    ("<html><body><script>1</script>a <b>no</b></body></html>", "", "a no"),
    ("plain\n words", "", "plain words"),
    ("", "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("body", "code", "text"), TEXTS)
def test_the_most_telling_words_are_taken_from_the_body(body: str, code: str, text: str) -> None:
    failure = failure_from_response(400, {}, body.encode(), "host")
    assert (failure.code, failure.provider_text) == (code, text)


def test_words_are_bounded_and_hold_no_key() -> None:
    assert len(clean("x" * 10_000)) == MAX_TEXT
    assert clean("key my-secret-key is bad", ["my-secret-key"]) == "key •••• is bad"
    assert clean("Incorrect API key provided: sk-proj-abc******xyz.") == "Incorrect API key provided: ••••."
    assert clean("skipping1234 skeletons, task-1234567") == "skipping1234 skeletons, task-1234567"
    assert "topsecret" not in clean('{"authorization": "Bearer topsecret"}')
    failure = Failure("auth", "h", 401, "code-my-key", "text my-key")
    assert without(failure, ["my-key"]) == Failure("auth", "h", 401, "code-••••", "text ••••")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after-ms": "9" * 400}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_the_wait_a_server_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_the_wait_may_be_a_date() -> None:
    wait = retry_after({"retry-after": formatdate(time.time() + 30, usegmt=True)})
    assert wait is not None
    assert 27 < wait <= 31


@pytest.mark.parametrize(
    ("failure", "used_up"),
    [
        (Failure("rate_limit", status=402), True),
        (Failure("rate_limit", status=429, code="insufficient_quota"), True),
        (Failure("rate_limit", status=429, provider_text="You exceeded your current quota"), True),
        (Failure("rate_limit", status=429, provider_text="slow down"), False),
        (Failure("overloaded", status=503, provider_text="insufficient_quota"), False),
    ],
)
def test_money_that_is_used_up_is_told_from_a_rate(failure: Failure, used_up: bool) -> None:
    assert is_quota(failure) is used_up


ERROR_KEYS = st.sampled_from(["error", "code", "status", "status_code", "type", "message", "metadata", "raw", "detail"])
ERRORS = st.dictionaries(
    ERROR_KEYS,
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.sampled_from(["²²²", "429"]),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(ERROR_KEYS, inner, max_size=4),
        max_leaves=8,
    ),
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # nested data on a busy machine
@given(ERRORS)
@example({"error": {"code": "²²²", "message": "digits that are no number"}})
@example({"error": {"code": "429", "message": "slow down"}})
def test_any_error_object_is_a_failure(error: dict[str, object]) -> None:
    failure = failure_from_error(error, "host")
    assert failure.host == "host"
    assert failure.status is None or 0 <= failure.status <= 999
