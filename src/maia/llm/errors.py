"""What a provider's status, code or text means: one table from answers to `Failure`.

Sources: the error pages of the providers, pi `overflow.ts`, vibe `exceptions.py`, and LiteLLM as it was found to answer
(500 without a key, 400 "No connected db" with a wrong one).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, cast

from maia.core.endings import Failure, FailureKind
from maia.core.jsontext import read_json
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.secret import MASK

MAX_TEXT: Final = 2_000
"""Code points of a provider's words that are kept."""


@dataclass(frozen=True, slots=True)
class Row:
    """Matches when every given condition holds: one of the statuses, and the text (code and words) by pattern."""

    kind: FailureKind
    statuses: frozenset[int] = frozenset()
    text: str = ""


def _statuses(*statuses: int) -> frozenset[int]:
    return frozenset(statuses)


_OVERFLOW: Final = (
    r"prompt is too long",  # Anthropic
    r"input is too long for requested model",  # Bedrock
    r"exceeds the context window",  # OpenAI
    r"context_length_exceeded",  # OpenAI's code
    r"maximum context length",  # Azure, vLLM, OpenRouter, Mistral
    r"input token count.{0,40}exceeds the maximum",  # Gemini
    r"maximum prompt length is \d+",  # xAI
    r"reduce the length of the messages",  # Groq
    r"prompt_too_long|model_context_exceeded",  # Mistral's codes (422)
    r"exceeds the limit of \d+",  # Copilot
    r"exceeds the available context size|exceed_context_size_error",  # llama.cpp
    r"greater than the context length",  # LM Studio
    r"context window exceeds limit",  # MiniMax
    r"exceeded model token limit",  # Kimi
    r"model_context_window_exceeded",  # Z.AI
    r"input length and `?max_tokens`? exceed context limit",  # Anthropic, where lowering max_tokens did not help
    r"ContextWindowExceededError",  # LiteLLM
    r"context size has been exceeded|too many input tokens|input tokens? exceeds? ",
)

_QUOTA: Final = (
    "insufficient_quota|exceeded your current quota|insufficient.{0,10}(balance|credits|funds)|billing_(hard_)?limit"
    "|credit balance is too low|out of credits|payment required|ExceededBudget|budget has been exceeded|quota_exceeded"
)

TABLE: Final = (
    # The order decides: a row wins over those below it.
    Row("rate_limit", _statuses(402)),
    Row("rate_limit", text=_QUOTA),
    Row("rate_limit", _statuses(429)),  # before overflow: "too many tokens per minute" is no full window
    Row("rate_limit", text=r"tokens per (minute|min|day)|requests per (minute|min|day)|rate_limit_(error|exceeded)"),
    Row("too_long", text="|".join(_OVERFLOW)),
    Row("auth", _statuses(401)),
    Row(
        "auth", _statuses(400, 403), r"api.?key|no_db_connection|No connected db|unauthori[sz]ed|permission|credential"
    ),
    Row("auth", text=r"^(authentication|permission)_error|invalid_api_key|invalid x-api-key|Incorrect API key"),
    Row("rejected", text=r"content_policy|content_filter|content management policy|moderation|ResponsibleAI"),
    Row("auth", _statuses(403)),
    Row("timeout", _statuses(408, 504, 524, 522, 598)),
    Row("overloaded", _statuses(529, 503, 502, 520, 521, 523)),
    Row("overloaded", text=r"overloaded|engine_overloaded|server is busy|at capacity|model is (currently )?loading"),
    Row("overloaded", text=r"^(api_error|server_error|internal_error|internal_server_error)\b"),
    Row("timeout", text=r"timeout_error|timed? ?out"),
    Row("rejected", _statuses(400, 404, 409, 410, 413, 415, 422, 451)),
    Row("rejected", text=r"invalid_request|not_found_error|tool_use_failed|bad request|model_not_found"),
    Row("not_llm", _statuses(405, 406, 301, 302, 303, 307, 308)),
    Row("other"),
)

_NOT_RETRIED_QUOTA: Final = _QUOTA


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


def kind_of(status: int | None, code: str, text: str) -> FailureKind:
    """The first row of the table that fits."""
    words = f"{code}\n{text}" if code else text
    for row in TABLE:
        if row.statuses and status not in row.statuses:
            continue
        if row.text and not any(_pattern(row.text).search(part) for part in (words, text)):
            continue
        return row.kind
    return "other"


def is_quota(failure: Failure) -> bool:
    """Whether waiting does not help: the money is used up, not the rate."""
    return failure.kind == "rate_limit" and (
        failure.status == 402
        or _pattern(_NOT_RETRIED_QUOTA).search(f"{failure.code} {failure.provider_text}") is not None
    )


# From an answer to a failure ----------------------------------------------------------------------------------------


def failure_from_response(
    status: int, headers: Mapping[str, str], body: bytes, host: str, *, has_key: bool = True
) -> Failure:
    """The failure that an HTTP answer tells. `body` may be cut; texts are bounded and have their secrets removed."""
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    code, text = _code_and_text(_json(body))
    if not text and not code:
        text = _plain(body, media_type)
    kind = kind_of(status, code, text)
    if _is_html(body, media_type) and kind in ("rejected", "other", "not_llm"):
        kind = "not_llm"
    elif status in (400, 413) and not code and not text:
        kind = "too_long"  # Cerebras says it without a word
    elif status == 404 and not code and not _names_a_model(text):
        kind = "not_llm"  # a wrong path: a model server that lacks the model says so
    elif status == 500 and not has_key and text.strip() == "Internal Server Error":
        kind = "auth"  # LiteLLM without a database, asked without a key
    elif kind == "other" and 500 <= status < 600:
        kind = "overloaded"
    elif 200 <= status < 300:
        kind = kind if code or kind != "other" else "not_llm"
    if location := headers.get("location"):
        text = f"{text} → {location}".strip()
    return Failure(kind, host, status, code, clean(text), retry_after(headers))


def failure_from_error(error: JsonObject, host: str) -> Failure:
    """The failure that an error object inside a stream tells."""
    code, text = _code_and_text(error)
    status = next((int(part) for part in (code, *_statuses_in(error)) if re.fullmatch("[0-9]{3}", part)), None)
    return Failure(kind_of(status, code, text), host, status, code, clean(text or json.dumps(error)))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: `Retry-After` as seconds or HTTP date (RFC 9110 §10.2.3), or in ms."""
    value = headers.get("retry-after-ms", "")
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", value):
        return float(value) / 1000
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", value):
        return float(value)
    return _until(value) if value else None


def _until(date: str) -> float | None:
    import time
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


# Words --------------------------------------------------------------------------------------------------------------

_TOKENS: Final = (
    r"\b(?:(?:sk|pk|rk|xai|gsk|hf|ghp|gho|github_pat|glpat)[-_]|AIza|AKIA)[A-Za-z0-9_\-*]{6,}"
    r"|(?<=Bearer )[^\s\"']{6,}"
    r"|(?<=x-api-key: )[^\s\"']{6,}"
)


def clean(text: str, secrets: Iterable[str] = ()) -> str:
    """Words of a provider without anything that looks like a key, and at most `MAX_TEXT` code points."""
    for secret in secrets:
        if len(secret) >= 4:
            text = text.replace(secret, MASK)
    return _pattern(_TOKENS).sub(MASK, text)[:MAX_TEXT]


def without(failure: Failure, secrets: Iterable[str]) -> Failure:
    """The failure without these secrets in any of its words."""
    secrets = tuple(secrets)
    return replace(failure, provider_text=clean(failure.provider_text, secrets), code=clean(failure.code, secrets))


def _json(body: bytes) -> JsonValue:
    try:
        return read_json(body)
    except ValueError:
        return None


def _code_and_text(value: JsonValue) -> tuple[str, str]:
    """The machine code and the most telling message inside an error's JSON, wherever this provider puts them."""
    if isinstance(value, list):
        return _code_and_text(value[0]) if value else ("", "")  # pyright: ignore[reportUnknownArgumentType] - any JSON
    if isinstance(value, str):
        return "", value
    if not isinstance(value, dict):
        return "", ""
    body = cast(JsonObject, value)
    for key in ("error", "errors", "detail"):
        if body.get(key) and isinstance(body[key], (dict, list)):
            code, text = _code_and_text(body[key])
            if text:
                return code, text
    words = [str(body[k]) for k in ("code", "type", "status") if _is_word(body.get(k))]
    code = next((word for word in words if not word.isdigit()), "") or str(body.get("code") or "")
    text = next((str(body[k]) for k in ("message", "msg", "error", "detail", "title") if _is_word(body.get(k))), "")
    metadata = body.get("metadata")
    raw: JsonValue = cast(JsonObject, metadata).get("raw") if isinstance(metadata, dict) else None
    if raw:  # OpenRouter wraps the provider's own words: "Provider returned error"
        inner = _code_and_text(_json(raw.encode()) if isinstance(raw, str) else raw)[1] or str(raw)
        text = f"{text}: {inner}"
    return code, text


def _is_word(value: JsonValue) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value != "error"


def _statuses_in(error: JsonObject) -> list[str]:
    inner = error.get("error")
    places = [error, cast(JsonObject, inner)] if isinstance(inner, dict) else [error]
    return [str(place[key]) for place in places for key in ("status_code", "code", "status") if key in place]


def _is_html(body: bytes, media_type: str) -> bool:
    return media_type in ("text/html", "application/xhtml+xml") or body.lstrip()[:15].lower().startswith(
        (b"<!doctype html", b"<html")
    )


def _plain(body: bytes, media_type: str) -> str:
    text = body[: 8 * MAX_TEXT].decode("utf-8", "replace")
    if _is_html(body, media_type):
        title = _pattern(r"<title[^>]*>(.*?)</title>").search(text)
        text = title[1] if title else _pattern(r"<(script|style).*?</\1>|<[^>]*>").sub(" ", text)
    return " ".join(text.split())


def _names_a_model(text: str) -> bool:
    return _pattern(r"model|deployment|engine").search(text) is not None
