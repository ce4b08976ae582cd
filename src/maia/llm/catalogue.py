"""Facts of well-known models: window, output limit, effort levels, pictures, prices. Tables with source and date.

Windows and prices are in `data/models.json`, made from genai-prices by `scripts/model_catalogue.py`; output limits,
efforts and pictures, which it does not have, are in the table below. What a server says of its own model comes first.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final, TypeAlias, get_args

from maia.core.jsonvalue import JsonObject
from maia.core.requests import Effort


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a model; None is unknown, never a guess. `efforts` empty means: it has no such control."""

    window: int | None = None
    max_output: int | None = None
    efforts: tuple[Effort, ...] | None = None
    images: bool | None = None


_BUDGET: Final[tuple[Effort, ...]] = get_args(Effort)
"""Models that take a number of thinking tokens: every level is one."""
_ADAPTIVE: Final[tuple[Effort, ...]] = ("none", "low", "medium", "high", "max")
_NEWEST: Final[tuple[Effort, ...]] = ("none", "low", "medium", "high", "xhigh", "max")
_THINKING: Final[tuple[Effort, ...]] = ("low", "medium", "high", "xhigh", "max")
_THREE: Final[tuple[Effort, ...]] = ("low", "medium", "high")
_FROM_MINIMAL: Final[tuple[Effort, ...]] = ("minimal", "low", "medium", "high")
_NO_EFFORT: Final[tuple[Effort, ...]] = ()

_FAMILIES: Final[tuple[tuple[str, Facts], ...]] = (
    # platform.claude.com/docs, models overview, effort, extended thinking, 2026-11.
    (r"claude-(?:fable|mythos)-|claude-opus-5[.-]5", Facts(None, 128_000, _THINKING, True)),
    (r"claude-(?:opus|sonnet|haiku)-[5-9]|claude-opus-4[.-][7-9]", Facts(None, 128_000, _NEWEST, True)),
    (r"claude-opus-4[.-]6", Facts(None, 128_000, _ADAPTIVE, True)),
    (r"claude-sonnet-4[.-]6", Facts(None, 64_000, _ADAPTIVE, True)),
    (r"claude-opus-4[.-]5|claude-(?:sonnet|haiku)-4", Facts(None, 64_000, _BUDGET, True)),
    (r"claude-opus-4", Facts(None, 32_000, _BUDGET, True)),
    (r"claude-3[.-]7", Facts(None, 64_000, _BUDGET, True)),
    (r"claude-3[.-]5", Facts(None, 8_192, _NO_EFFORT, True)),
    (r"claude-3", Facts(None, 4_096, _NO_EFFORT, True)),
    # developers.openai.com/api/docs/models, 2026-11.
    (r"gpt-oss", Facts(131_072, 131_072, _THREE, False)),
    (r"gpt-[5-9](?:\.\d+)?-chat|chat-latest", Facts(None, 16_384, _NO_EFFORT, True)),
    (r"gpt-6\.\d", Facts(None, 128_000, _THINKING, True)),
    (r"gpt-5\.[6-9]|gpt-6", Facts(None, 128_000, _NEWEST, True)),
    (r"gpt-5\.1(?!-codex-max)", Facts(None, 128_000, ("none", "low", "medium", "high"), True)),
    (r"gpt-5\.\d", Facts(None, 128_000, ("none", "low", "medium", "high", "xhigh"), True)),
    (r"gpt-5-pro", Facts(None, 272_000, ("high",), True)),
    (r"gpt-5", Facts(None, 128_000, _FROM_MINIMAL, True)),
    (r"gpt-4\.1", Facts(1_047_576, 32_768, _NO_EFFORT, True)),
    (r"gpt-4o", Facts(None, 16_384, _NO_EFFORT, True)),
    (r"gpt-4-turbo", Facts(None, 4_096, _NO_EFFORT, True)),
    (r"gpt-(?:4|3\.5)", Facts(None, 4_096, _NO_EFFORT, False)),
    (r"\bo[134](?:-mini|-pro)?\b", Facts(None, 100_000, _THREE, True)),
    # ai.google.dev/gemini-api/docs/models and /openai, 2026-11.
    (r"gemini-(?:2\.5|[3-9])", Facts(1_048_576, 65_536, _FROM_MINIMAL, True)),
    (r"gemini-(?:1\.5|2)", Facts(None, 8_192, _NO_EFFORT, True)),
    # docs.x.ai, docs.mistral.ai, api-docs.deepseek.com, platform.moonshot.ai, docs.z.ai, console.groq.com, 2026-11.
    (r"grok-3-mini", Facts(None, None, ("low", "high"), False)),
    (r"grok-(?:[4-9]|build|code)", Facts(None, None, None, True)),
    (r"deepseek-(?:chat|v3)", Facts(None, 8_192, _NO_EFFORT, False)),
    (r"deepseek-reasoner|deepseek-r1", Facts(None, 65_536, _NO_EFFORT, False)),
    (r"kimi-k2(?:-|$)", Facts(None, None, _NO_EFFORT, False)),
    (r"kimi-k(?:2\.[5-9]|[3-9])", Facts(None, None, None, True)),
    (r"glm-[\d.]+v", Facts(None, None, None, True)),
    (r"glm-(?:4\.[5-9]|[5-9])", Facts(None, 131_072, None, False)),
    (r"pixtral|mistral-(?:medium|small-3\.[12]|large-[34])", Facts(None, None, _NO_EFFORT, True)),
    (r"codestral|devstral|ministral|mi[sx]tral", Facts(None, None, _NO_EFFORT, None)),
    # Model cards on huggingface.co; local servers mostly run them with less than the full window, so none is given.
    (r"qwen[\d.]*-?vl|llama-?4|gemma-?3|llava", Facts(None, None, None, True)),
    (r"qwen[\d.]*-?coder|llama-?[23]|smollm", Facts(None, None, _NO_EFFORT, False)),
)
"""The first pattern found in the model's name counts."""


@lru_cache(maxsize=512)
def facts_of(model: str, base_url: str = "") -> Facts:
    """What the tables know of a model, by its id as the server at `base_url` lists it."""
    name = model.lower()
    family = next((facts for pattern, facts in _FAMILIES if re.search(pattern, name)), Facts())
    entry = entry_of(model, base_url)
    window = family.window or (entry or {}).get("window")
    return Facts(window, family.max_output, family.efforts, family.images)


# The data file ------------------------------------------------------------------------------------------------------

Clause: TypeAlias = list[Any]


def entry_of(model: str, base_url: str = "") -> JsonObject | None:
    """The data file's entry for a model: of the provider that `base_url` belongs to, else by the model's own name.

    Gateways name models `provider/model`, with regions and dates around it; the last part is tried, too.
    """
    for name in _spellings(model):
        for provider in _providers_for(name, base_url):
            if found := _in_provider(provider, name):
                return found
    return None


def _spellings(model: str) -> list[str]:
    name = model.lower()
    last = re.sub(r"^(?:[a-z]{2,4}\.)?(?:anthropic|meta|mistral|google|openai)\.", "", name.rsplit("/", 1)[-1])
    bare = re.sub(r"(?:-v\d+)?(?::[\w.-]+)?$|@[\w-]+$", "", last)
    dashed = re.sub(r"-(20\d\d)(\d\d)(\d\d)$", r"-\1-\2-\3", last)
    return list(dict.fromkeys((name, last, bare, dashed)))


def _providers_for(name: str, base_url: str) -> list[JsonObject]:
    providers = _data()["providers"]
    if own := [provider for provider in providers if base_url and re.match(provider["api"], base_url)]:
        return own
    return [provider for provider in providers if "match" in provider and fits(provider["match"], name)]


def _in_provider(provider: JsonObject, name: str) -> JsonObject | None:
    for model in provider["models"]:
        if fits(model["match"], name):
            return model
    for other in provider.get("fallback", ()):
        fallback = next(entry for entry in _data()["providers"] if entry["id"] == other)
        for model in fallback["models"]:
            if fits(model["match"], name):
                return model
    return None


def fits(clause: Clause, name: str) -> bool:
    """Whether a lower-case name satisfies a clause of the data file."""
    sign, value = clause
    match sign:
        case "=":
            return name == value
        case "^":
            return name.startswith(value)
        case "$":
            return name.endswith(value)
        case "~":
            return value in name
        case "/":
            return bool(re.search(value, name))
        case "|":
            return any(fits(part, name) for part in value)
        case _:
            return all(fits(part, name) for part in value)


@cache
def _data() -> JsonObject:
    return json.loads(files("maia.llm").joinpath("data/models.json").read_bytes())
