"""Lists the models of an endpoint and joins what the server says of each with the catalogue."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, cast

from maia.core.endings import Failure
from maia.core.errors import ModelFailed
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.requests import Effort
from maia.llm.catalogue import facts_of
from maia.llm.endpoint import OFFLINE, OFFLINE_WINDOW, Endpoint, GetJson
from maia.llm.pricing import Price, flat
from maia.llm.target import WireTarget

WindowFrom: TypeAlias = Literal["server", "catalogue"]


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model as it can be chosen. Tokens; None is unknown. `efforts` empty: it has no such control.

    `price` is what its server declares; the catalogue's prices are asked for when a cost is shown. `usable` is False
    for models that do not chat (embeddings, speech, pictures): they are never chosen unasked.
    """

    id: str
    provider: str
    window: int | None = None
    window_from: WindowFrom | None = None
    max_output: int | None = None
    efforts: tuple[Effort, ...] | None = None
    images: bool | None = None
    price: Price | None = None
    usable: bool = True
    tools: bool | None = None

    @property
    def is_built_in(self) -> bool:
        """Whether it is the model that plays without any server."""
        return self.provider == OFFLINE

    @property
    def full_name(self) -> str:
        """`provider/id`: names it even where two endpoints list the same id."""
        return f"{self.provider}/{self.id}"


@dataclass(frozen=True, slots=True)
class Listing:
    """The models of several endpoints, in the order of the endpoints, and those that could not be listed."""

    models: tuple[ModelInfo, ...]
    failures: tuple[tuple[Endpoint, Failure], ...] = ()


OFFLINE_MODEL: Final = ModelInfo(
    OFFLINE, OFFLINE, OFFLINE_WINDOW, "catalogue", efforts=(), images=False, price=Price(flat(0), flat(0))
)


async def list_all(endpoints: Sequence[Endpoint], get_json: GetJson) -> Listing:
    """The models of all endpoints, asked at once. One that fails is named with its failure; nothing is raised."""
    answers = await asyncio.gather(*(_listed_or_failure(endpoint, get_json) for endpoint in endpoints))
    models: list[ModelInfo] = []
    failures: list[tuple[Endpoint, Failure]] = []
    for endpoint, answer in zip(endpoints, answers, strict=True):
        if isinstance(answer, Failure):
            failures.append((endpoint, answer))
        else:
            models += answer
    return Listing(tuple(models), tuple(failures))


async def _listed_or_failure(endpoint: Endpoint, get_json: GetJson) -> tuple[ModelInfo, ...] | Failure:
    try:
        return await list_models(endpoint, get_json)
    except ModelFailed as failed:
        return failed.failure


async def list_models(endpoint: Endpoint, get_json: GetJson) -> tuple[ModelInfo, ...]:
    """The models of one endpoint, those that chat first, otherwise in the server's order.

    Models named in the settings need no server. Raises `ModelFailed`: refused, no answer, or no list of models.
    """
    target = endpoint.target
    if target is None:
        return (OFFLINE_MODEL,)
    if endpoint.models or endpoint.style == "none":
        return tuple(described(name, endpoint) for name in endpoint.models)
    answer = await get_json(target, endpoint.list_path)
    rows = _rows(answer)
    if rows is None:
        raise ModelFailed(Failure("not_llm", _host(target), 200, provider_text=_head(answer)))
    if not rows:
        raise ModelFailed(Failure("not_configured", _host(target), 200, code="no_models"))
    said = await _said_elsewhere(endpoint, target, get_json) if not all(_window(row) for row in rows) else {}
    models = [_model(row, said.get(_id(row), {}), endpoint) for row in rows]
    return tuple(sorted(_unique(models), key=lambda model: not model.usable))


def _unique(models: Iterable[ModelInfo]) -> list[ModelInfo]:
    """One model an id: balancers list a model once a deployment."""
    return list({model.id: model for model in reversed(list(models))}.values())[::-1]


def _host(target: WireTarget) -> str:
    return re.sub(r"^\w+://|/.*$", "", target.base_url)


def _head(answer: JsonValue) -> str:
    return str(answer)[:200]


def _rows(answer: JsonValue) -> list[JsonObject] | None:
    """The list in an answer: under `data` or `models`, or the answer itself; None when there is no list of models."""
    found: Any = answer
    if isinstance(answer, dict):
        body = cast(JsonObject, answer)
        found = next((body[key] for key in ("data", "models") if isinstance(body.get(key), list)), None)
    if not isinstance(found, list):
        return None
    entries = cast("list[Any]", found)
    rows = [cast(JsonObject, {"id": row} if isinstance(row, str) else row) for row in entries if row]
    good = [row for row in rows if isinstance(cast(object, row), dict) and _id(row)]
    return good if good or not rows else None


def _id(row: JsonObject) -> str:
    """The name to send. Gemini's compatible list says `models/NAME`, and takes NAME."""
    name = row.get("id") or row.get("model_name") or row.get("model") or row.get("name")
    return name.removeprefix("models/") if isinstance(name, str) and name.strip() else ""


# What servers say of a model ----------------------------------------------------------------------------------------

_WINDOW_FIELDS: Final = (
    "max_input_tokens",  # LiteLLM, Anthropic
    "context_length",  # OpenRouter, Together, Moonshot, Fireworks
    "context_window",  # Groq
    "max_context_length",  # Mistral
    "max_model_len",  # vLLM, SGLang
    "loaded_context_length",  # LM Studio, for a loaded model
    "contextLength",
    "context_size",
    "n_ctx",
)
_OUTPUT_FIELDS: Final = (
    "max_output_tokens",
    "max_completion_tokens",
    "max_tokens",
    "top_provider.max_completion_tokens",
)


_MOST: Final = 10**12


def _window(row: JsonObject) -> int | None:
    return _first_count(row, _WINDOW_FIELDS)


def _first_count(row: JsonObject, fields: Sequence[str]) -> int | None:
    return next((count for field in fields if (count := _count(_at(row, field)))), None)


def _at(row: JsonObject, path: str) -> Any:
    value: Any = row
    for name in path.split("."):
        value = cast(JsonObject, value).get(name) if isinstance(value, dict) else None
    return value


def _count(value: Any) -> int | None:
    """A positive whole number, also as text. Servers write 0 or -1 for unknown; beyond `_MOST` it counts nothing."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,16}\s*", value):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST else None


def _images(row: JsonObject) -> bool | None:
    modalities = _at(row, "architecture.input_modalities") or row.get("input_modalities")
    if isinstance(modalities, list):
        return "image" in modalities
    for path in ("supports_vision", "capabilities.vision", "supports_image_in", "capabilities.image_input.supported"):
        if isinstance(found := _at(row, path), bool):
            return found
    return None


def _price(row: JsonObject, endpoint: Endpoint) -> Price | None:
    """The price that a server declares, per token or per million.

    LiteLLM writes 0 for what it has no price of, so there 0 and 0 say nothing.
    """
    per_token = [_usd(_at(row, field)) for field in ("input_cost_per_token", "output_cost_per_token")]
    cached = [_usd(_at(row, f"cache_{part}_input_token_cost")) for part in ("read", "creation")]
    if None not in per_token and any(per_token):
        return _priced(per_token, cached)
    if endpoint.name == "openrouter":
        names = ("prompt", "completion", "input_cache_read", "input_cache_write")
        found = [_usd(_at(row, f"pricing.{name}")) for name in names]
        if None not in found[:2]:
            return _priced(found[:2], found[2:])
    return None


def _priced(per_token: Sequence[float | None], cached: Sequence[float | None]) -> Price:
    rates = [None if usd is None else flat(round(usd * 1_000_000, 9)) for usd in (*per_token, *cached)]
    none = flat(0)
    return Price(rates[0] or none, rates[1] or none, rates[2], rates[3])


def _usd(value: Any) -> float | None:
    try:
        usd = float(value)
    except (TypeError, ValueError):
        return None
    return usd if 0 <= usd < 1 else None


_NOT_CHAT = (
    r"embed|rerank|whisper|\btts\b|transcri|moderation|dall-e|stable-diffusion|flux|\bsora\b|\bimagen\b|\bveo\b|-image|"
    r"realtime|-audio|\bocr\b|guard\b|babbage|davinci|-instruct-0914|voice|speech|bge-|text-embedding|translat|-live-"
)


def _chats(row: JsonObject) -> bool:
    mode = row.get("mode") or row.get("type")
    if isinstance(mode, str) and mode not in ("chat", "model", "llm", "vlm", "responses", "language", "completion"):
        return False
    if _at(row, "capabilities.completion_chat") is False or row.get("active") is False:
        return False
    return not re.search(_NOT_CHAT, _id(row).lower())


def _model(row: JsonObject, more: JsonObject, endpoint: Endpoint) -> ModelInfo:
    """One row, with what `/model/info` and the like say of it (`more`)."""
    known = {**row, **{key: value for key, value in more.items() if value is not None}}
    model = described(_id(row), endpoint)
    window = _window(known)
    fields = (*_OUTPUT_FIELDS, "max_tokens") if endpoint.style == "anthropic" else _OUTPUT_FIELDS
    return replace(
        model,
        window=window or model.window,
        window_from="server" if window else model.window_from,
        max_output=_first_count(known, fields) or model.max_output,
        images=model.images if (images := _images(known)) is None else images,
        price=_price(known, endpoint),
        usable=_chats(known | {"id": _id(row)}),
        tools=_tools(known),
    )


def _tools(row: JsonObject) -> bool | None:
    """Whether it takes tools, as LiteLLM, Mistral and OpenRouter say."""
    for path in ("supports_function_calling", "capabilities.function_calling"):
        if isinstance(said := _at(row, path), bool):
            return said
    known = row.get("supported_parameters")
    return "tools" in cast("list[Any]", known) if isinstance(known, list) and known else None


def described(model_id: str, endpoint: Endpoint) -> ModelInfo:
    """A model by its name alone, with what the catalogue knows. On this machine the server decides about the window."""
    if endpoint.target is None:
        return OFFLINE_MODEL
    facts = facts_of(model_id, endpoint.target.base_url)
    window = None if endpoint.is_local and endpoint.style != "litellm" else facts.window
    return ModelInfo(
        model_id,
        endpoint.name,
        window,
        "catalogue" if window else None,
        facts.max_output,
        facts.efforts,
        facts.images,
    )


# Where a server says more -------------------------------------------------------------------------------------------


async def _said_elsewhere(endpoint: Endpoint, target: WireTarget, get_json: GetJson) -> dict[str, JsonObject]:
    """What else a server says of its models, by id; nothing where it has no such page."""
    page = _PAGES.get(endpoint.style)
    if page is None:
        return {}
    path, read = page
    try:
        return read(await get_json(_root(target), path))
    except ModelFailed:
        return {}


def _by_name(answer: JsonValue) -> dict[str, JsonObject]:
    """LiteLLM's `/model/info`: several deployments of one name: the smallest window holds for all."""
    found: dict[str, JsonObject] = {}
    for row in _rows(answer) or []:
        info = row.get("model_info")
        if isinstance(info, dict):
            body = cast(JsonObject, info)
            windows = [count for info in (found.get(_id(row), {}), body) if (count := _window(info))]
            found[_id(row)] = body | ({"max_input_tokens": min(windows)} if windows else {})
    return found


def _by_id(answer: JsonValue) -> dict[str, JsonObject]:
    """LM Studio's list: only a loaded model's length is the one in force; the greatest possible one is not."""
    return {
        _id(row): {key: value for key, value in row.items() if key != "max_context_length"}
        for row in _rows(answer) or []
    }


def _running(answer: JsonValue) -> dict[str, JsonObject]:
    """Ollama's `/api/ps`: the window in force of each loaded model."""
    return {_id(row): {"context_length": row.get("context_length")} for row in _rows(answer) or []}


_PAGES: Final[dict[str, tuple[str, Callable[[JsonValue], dict[str, JsonObject]]]]] = {
    "litellm": ("/model/info", _by_name),
    "lmstudio": ("/api/v0/models", _by_id),
    "ollama": ("/api/ps", _running),
}


async def window_in_force(endpoint: Endpoint, model: ModelInfo, get_json: GetJson) -> int | None:
    """The window that the server gives the chosen model: of its list, else of what a local server says when asked.

    llama-server tells it in `/props`, Ollama for a loaded model in `/api/ps`. Raises nothing: unknown is None.
    """
    target = endpoint.target
    if model.window_from == "server" or target is None or not endpoint.is_local:
        return model.window if model.window_from == "server" else None
    if endpoint.style in _PAGES:
        return _window((await _said_elsewhere(endpoint, target, get_json)).get(model.id, {}))
    try:
        props = await get_json(_root(target), "/props")
    except ModelFailed:
        return None
    fields = ("default_generation_settings.n_ctx", "n_ctx")
    return _first_count(cast(JsonObject, props), fields) if isinstance(props, dict) else None


def _root(target: WireTarget) -> WireTarget:
    """The server without the version at the end of its base URL."""
    return replace(target, base_url=re.sub(r"/v\d\w*/?$", "", target.base_url))


# For machines -------------------------------------------------------------------------------------------------------


def model_row(model: ModelInfo) -> JsonObject:
    """One row of `maia models --json`. Prices in US dollars a million tokens, without steps."""
    price = model.price
    return {
        "id": model.id,
        "provider": model.provider,
        "contextWindow": model.window,
        "contextWindowSource": model.window_from,
        "maxOutputTokens": model.max_output,
        "efforts": None if model.efforts is None else list(model.efforts),
        "images": model.images,
        "price": None if price is None else {"input": price.input[0][1], "output": price.output[0][1]},
        "usable": model.usable,
        "tools": model.tools,
    }
