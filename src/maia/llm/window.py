"""How much a model can read: the manual setting, the server's word, the catalogue, else the model itself (T3.01)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from maia.core.errors import ModelFailed
from maia.core.events import Notice, TextDelta, WireFailed
from maia.core.jsonvalue import JsonObject
from maia.core.messages import TextPart, UserMessage
from maia.core.ports import WindowSource, Wire
from maia.core.requests import ModelRequest
from maia.llm.models import ModelInfo

Ask: TypeAlias = Callable[[str], Awaitable[str]]
"""Puts a question to the model and gives its answer; raises `ModelFailed`."""

ASK_SECONDS: Final = 60.0
SMALLEST: Final = 1_000
GREATEST: Final = 100_000_000
"""Beyond this a number is no size of a context."""

QUESTION: Final = (
    "What is the maximum size of your context window, in tokens? "
    "Answer with one number only, for example 128000. If you do not know, answer: unknown"
)


@dataclass(frozen=True, slots=True)
class WindowFound:
    """The window in tokens, None where nobody knows; `notice` is what the door says of it (INFO or WARN)."""

    tokens: int | None
    source: WindowSource
    notice: Notice


async def find_window(
    model: ModelInfo,
    settings: Mapping[str, object],
    ask: Ask | None = None,
    in_force: Callable[[], Awaitable[int | None]] | None = None,
    seconds: float = ASK_SECONDS,
) -> WindowFound:
    """The first of: setting, server, catalogue, the model's own word. Raises nothing but `asyncio.CancelledError`.

    `settings` holds `MaxContextTokens` and `ContextSizes`; `in_force` asks a local server again; `ask` puts the
    question to the model, None where that is not wanted.
    """
    if tokens := window_setting(model, settings):
        return _found(model, tokens, "setting")
    if model.window and model.window_from == "server":
        return _found(model, model.window, "server")
    if in_force and (tokens := await in_force()):
        return _found(model, tokens, "server")
    if model.window:
        return _found(model, model.window, "catalogue")
    if ask is None:
        return _unknown(model, "models.window_unknown")
    try:
        async with asyncio.timeout(seconds):
            answer = await ask(QUESTION)
    except TimeoutError:
        return _unknown(model, "models.window_timeout", seconds=round(seconds))
    except ModelFailed as failed:
        return _unknown(model, "models.window_failed", kind=failed.failure.kind, detail=failed.failure.provider_text)
    if tokens := parse_token_count(answer):
        return _found(model, tokens, "model")
    return _unknown(model, "models.window_unreadable", answer=answer.strip()[:80])


def _found(model: ModelInfo, tokens: int, source: WindowSource) -> WindowFound:
    notice = Notice("info", f"models.window_{source}", {"model": model.id, "tokens": short_count(tokens)})
    return WindowFound(tokens, source, notice)


def _unknown(model: ModelInfo, key: str, **values: object) -> WindowFound:
    return WindowFound(None, "unknown", Notice("warn", key, {"model": model.id, **values}))


def short_count(tokens: int) -> str:
    """`200k`, `1M`, `1.05M`, `8192`: a size as people say it."""
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if tokens >= size and tokens * 100 % size == 0:
            return f"{tokens / size:g}{unit}"
    return str(tokens)


def window_setting(model: ModelInfo, settings: Mapping[str, object]) -> int | None:
    """The manual setting: `ContextSizes` for this model (id, `provider/id`, or a part of its name), else
    `MaxContextTokens`. Values are numbers or text such as `"200k"`; what cannot be read counts as not set.
    """
    sizes = settings.get("ContextSizes")
    if isinstance(sizes, dict):
        table = {name.lower(): value for name, value in cast(JsonObject, sizes).items()}
        names = (model.full_name.lower(), model.id.lower())
        parts = sorted((name for name in table if name and name in names[0]), key=len, reverse=True)
        for name in (*names, *parts):
            if tokens := _as_count(table.get(name)):
                return tokens
    return _as_count(settings.get("MaxContextTokens"))


def _as_count(value: object) -> int | None:
    if isinstance(value, str):
        return parse_token_count(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= SMALLEST else None


# Reading what a model answers ---------------------------------------------------------------------------------------

_GAP = "[ \u00a0\u202f\u2009\u2007'’_]"
_NUMBER = re.compile(
    rf"""
    (?<![\w.,^*/-])(?P<digits>\d{{1,3}}(?:{_GAP}\d{{3}})+|\d{{1,3}}(?:,\d{{3}})+|\d{{1,3}}(?:\.\d{{3}})+|\d+)
    (?P<fraction>[.,]\d{{1,2}}|[.,]\d{{3,}}(?={_GAP}*(?:[kKmM]\b|mill|mio)))?
    (?:{_GAP}*(?P<unit>[kK]i?|[mM]|mill?iers?|thousand|mille|millions?|mio)\b)?
    (?![\w^])
    """,
    re.VERBOSE,
)
_UNITS: Final = {"k": 1_000, "m": 1_000_000}
_RANGE = re.compile(
    rf"\d{_GAP}*(?:k|m|tokens?|jetons?)?{_GAP}*(?:-|–|—|to|à|and|et|or|ou|\.\.|…){_GAP}*\d", re.IGNORECASE
)
_POWER = re.compile(r"\d\s*(?:\^|\*\*|×|\*|e\+?(?=\d))\s*\d|[⁰¹²³⁴-⁹]|puissance|power", re.IGNORECASE)


def parse_token_count(answer: str) -> int | None:
    """The one size that an answer names, from 1,000 tokens upward, or None (decisions §12).

    Understood: `128000`, `128 000 tokens` with any space, `128,000`, `128.000`, `200k`, `1,5 million`, `1.5M`; k is
    1,000 and M is 1,000,000. Several different sizes, a range, a power or a negative number are unreadable.
    """
    text = re.sub(r"(?<!\d)\*\*([^*\n]+)\*\*(?!\d)", r"\1", answer.strip())  # bold in Markdown is no power
    if len(text) > 2_000 or _RANGE.search(text) or _POWER.search(text) or re.search(r"(?<!\w)[-−]\s*\d", text):
        return None
    sizes = {size for found in _NUMBER.finditer(text) if (size := _size(found)) is not None}
    return next(iter(sizes)) if len(sizes) == 1 else None


def _size(found: re.Match[str]) -> int | None:
    unit = (found["unit"] or "").lower()
    digits = re.sub(r"\D", "", found["digits"])
    if not unit:
        whole = int(digits) if not found["fraction"] else 0
        return whole if SMALLEST <= whole <= GREATEST else None
    factor = _UNITS["m" if unit.startswith(("mio", "million")) or unit == "m" else "k"]
    if re.search(r"[.,]", found["digits"]) and not found["fraction"]:
        return None  # "1.500 M" may be one and a half or fifteen hundred
    size = round(float(digits + (found["fraction"] or "").replace(",", ".")) * factor)
    return size if SMALLEST <= size <= GREATEST else None


# Asking -------------------------------------------------------------------------------------------------------------


def ask_over(wire: Wire, model: str) -> Ask:
    """The question as one plain call of a model, without tools or history."""

    async def ask(question: str) -> str:
        text, failure = "", None
        async for event in wire.stream(ModelRequest(model, (), (UserMessage((TextPart(question),)),))):
            if isinstance(event, TextDelta):
                text += event.text
            elif isinstance(event, WireFailed):
                failure = event.failure
        if failure is not None:
            raise ModelFailed(failure)
        return text

    return ask
