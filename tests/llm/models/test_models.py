import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes import fake_llm

from maia.core.endings import Failure
from maia.core.errors import ModelFailed
from maia.llm.endpoint import OFFLINE_ENDPOINT, Endpoint
from maia.llm.endpoints import configured
from maia.llm.models import (
    OFFLINE_MODEL,
    ModelInfo,
    described,
    list_all,
    list_models,
    model_row,
    window_in_force,
)
from maia.llm.pricing import Price, flat
from maia.llm.target import WireTarget
from maia.llm.transport import get_json

FAR = "https://far.example/v1"


def endpoint(style: str = "openai", base: str = FAR, name: str = "work", **more: Any) -> Endpoint:
    return Endpoint(name, "settings", WireTarget(name, "openai-chat", base), "/models", style, **more)


def answering(pages: dict[str, Any]) -> Callable[[WireTarget, str], Any]:
    async def get(target: WireTarget, path: str) -> Any:
        page = pages.get(target.base_url.removeprefix("https://far.example") + path, pages.get(path))
        if page is None:
            raise ModelFailed(Failure("not_llm", status=404))
        return page

    return get


def listed(rows: Any, style: str = "openai", pages: dict[str, Any] | None = None, **more: Any) -> list[ModelInfo]:
    return list(asyncio.run(list_models(endpoint(style, **more), answering({"/models": rows, **(pages or {})}))))


# What servers say ----------------------------------------------------------------------------------------------------

ROWS: dict[str, tuple[dict[str, Any], int | None, int | None]] = {
    "openai says nothing": ({"id": "m", "object": "model"}, None, None),
    "litellm": ({"id": "m", "max_input_tokens": 90_000, "max_output_tokens": 9_000}, 90_000, 9_000),
    "openrouter": (
        {"id": "m", "context_length": 90_000, "top_provider": {"max_completion_tokens": 9_000}},
        90_000,
        9_000,
    ),
    "groq": ({"id": "m", "context_window": 90_000, "max_completion_tokens": 9_000}, 90_000, 9_000),
    "mistral": ({"id": "m", "max_context_length": 90_000}, 90_000, None),
    "vllm": ({"id": "m", "max_model_len": 90_000}, 90_000, None),
    "as text": ({"id": "m", "context_length": "90000"}, 90_000, None),
    "as a float": ({"id": "m", "context_length": 90000.0}, 90_000, None),
    "digits that are no number": ({"id": "m", "context_length": "²"}, None, None),
    "more digits than Python reads": ({"id": "m", "context_length": "9" * 5_000}, None, None),
    "beyond any window": ({"id": "m", "context_length": 1e300, "max_output_tokens": 10**30}, None, None),
    "infinite": ({"id": "m", "context_length": float("inf")}, None, None),
    "zero is unknown": ({"id": "m", "context_length": 0}, None, None),
    "minus one is unknown": ({"id": "m", "context_length": -1}, None, None),
    "true is no number": ({"id": "m", "context_length": True}, None, None),
    "null": ({"id": "m", "context_length": None}, None, None),
    "of another type": ({"id": "m", "context_length": {"a": 1}, "top_provider": 7}, None, None),
}


@pytest.mark.parametrize(("row", "window", "output"), ROWS.values(), ids=ROWS.keys())
def test_the_window_is_read_wherever_a_server_writes_it(row: dict, window: int | None, output: int | None) -> None:
    (model,) = listed({"data": [row]})
    assert (model.window, model.max_output, model.window_from) == (window, output, "server" if window else None)


def test_anthropics_list_is_read() -> None:
    row = {
        "id": "claude-sonnet-4-5-20250929",
        "type": "model",
        "display_name": "Claude Sonnet 4.5",
        "max_input_tokens": 200_000,
        "max_tokens": 64_000,
    }
    (model,) = listed({"data": [row], "has_more": False}, "anthropic")
    assert (model.id, model.window, model.max_output, model.usable) == (row["id"], 200_000, 64_000, True)


def test_what_the_server_does_not_say_comes_from_the_catalogue() -> None:
    (model,) = listed({"data": [{"id": "gpt-4o"}]})
    assert model == ModelInfo("gpt-4o", "work", 128_000, "catalogue", 16_384, (), True)


def test_a_server_on_this_machine_decides_about_the_window_itself() -> None:
    (model,) = listed({"data": [{"id": "gpt-oss:20b"}]}, base="http://127.0.0.1:8000/v1")
    assert (model.window, model.window_from) == (None, None)


SHAPES = {
    "data": {"data": [{"id": "a"}, {"id": "b"}]},
    "data beside an empty models": {"data": [{"id": "a"}, {"id": "b"}], "models": []},
    "models with names": {"models": [{"name": "models/a"}, {"model": "b"}]},
    "a bare list": [{"id": "a"}, {"id": "b"}],
    "a list of names": {"data": ["a", "b"]},
    "with rubbish between": {"data": [{"id": "a"}, None, {"x": 1}, 7, {"id": ""}, {"id": 3}, {"id": "b"}]},
    "the same twice": {"data": [{"id": "a"}, {"id": "a"}, {"id": "b"}]},
    "gemini's names": {"data": [{"id": "models/a"}, {"id": "models/b"}]},
}


@pytest.mark.parametrize("answer", SHAPES.values(), ids=SHAPES.keys())
def test_lists_of_every_shape_are_read(answer: Any) -> None:
    assert [model.id for model in listed(answer)] == ["a", "b"]


NO_LISTS = {
    "an object": ({"hello": "world"}, "not_llm"),
    "empty": ({}, "not_llm"),
    "a text": ("<html>", "not_llm"),
    "null": (None, "not_llm"),
    "a list of rubbish": ({"data": [{"x": 1}]}, "not_llm"),
    "an empty list": ({"data": []}, "not_configured"),
}


@pytest.mark.parametrize(("answer", "kind"), NO_LISTS.values(), ids=NO_LISTS.keys())
def test_what_is_no_list_of_models_is_a_clear_failure(answer: Any, kind: str) -> None:
    async def get(_target: WireTarget, _path: str) -> Any:
        return answer

    with pytest.raises(ModelFailed) as caught:
        asyncio.run(list_models(endpoint(), get))
    assert (caught.value.failure.kind, caught.value.failure.host) == (kind, "far.example")


def test_models_that_do_not_chat_come_last_and_are_marked() -> None:
    names = ["text-embedding-3-small", "whisper-1", "gpt-4o", "dall-e-3", "gpt-4o-realtime-preview", "tts-1"]
    rows = [*({"id": name} for name in names), {"id": "x", "mode": "embedding"}, {"id": "y", "mode": "chat"}]
    models = listed({"data": rows})
    assert [(model.id, model.usable) for model in models[:2]] == [("gpt-4o", True), ("y", True)]
    assert len(models) == 8
    assert not any(model.usable for model in models[2:])


def test_pictures_are_told_by_the_server_before_the_catalogue() -> None:
    rows = [
        {"id": "a", "architecture": {"input_modalities": ["text", "image"]}},
        {"id": "gpt-4o", "supports_vision": False},
        {"id": "b", "capabilities": {"vision": True}},
        {"id": "c"},
    ]
    assert [model.images for model in listed({"data": rows})] == [True, False, True, None]


# Prices --------------------------------------------------------------------------------------------------------------


def test_litellms_prices_are_per_token_and_two_zeros_say_nothing() -> None:
    info = {
        "data": [
            {"model_name": "a", "model_info": {"input_cost_per_token": 3e-6, "output_cost_per_token": 1.5e-5}},
            {"model_name": "b", "model_info": {"input_cost_per_token": 0, "output_cost_per_token": 0}},
            {"model_name": "c", "model_info": {"input_cost_per_token": None}},
        ]
    }
    models = listed({"data": [{"id": "a"}, {"id": "b"}, {"id": "c"}]}, "litellm", {"/model/info": info})
    assert [model.price for model in models] == [Price(flat(3.0), flat(15.0)), None, None]


def test_openrouters_prices_are_texts_and_zero_is_free_there() -> None:
    rows = [
        {"id": "a", "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"}},
        {"id": "b:free", "pricing": {"prompt": "0", "completion": "0"}},
        {"id": "auto", "pricing": {"prompt": "-1", "completion": "-1"}},
    ]
    models = listed({"data": rows}, name="openrouter")
    assert models[0].price == Price(flat(3.0), flat(15.0), flat(0.3))
    assert models[1].price is not None
    assert models[1].price.is_free
    assert models[2].price is None


# Where servers say more ----------------------------------------------------------------------------------------------


def test_litellms_model_info_names_the_windows_and_the_smallest_deployment_counts() -> None:
    info = {
        "data": [
            {"model_name": "a", "model_info": {"max_input_tokens": 90_000, "max_tokens": 128_000, "mode": "chat"}},
            {"model_name": "a", "model_info": {"max_input_tokens": 60_000}},
            {"model_name": "e", "model_info": {"mode": "embedding"}},
        ]
    }
    models = listed({"data": [{"id": "a"}, {"id": "e"}]}, "litellm", {"/model/info": info})
    assert [(m.id, m.window, m.usable) for m in models] == [("a", 60_000, True), ("e", None, False)]


def test_a_litellm_without_model_info_still_lists() -> None:
    assert [model.id for model in listed({"data": [{"id": "a"}]}, "litellm")] == ["a"]


def test_ollamas_and_lm_studios_windows_in_force_are_those_of_loaded_models() -> None:
    rows = {"data": [{"id": "a"}, {"id": "b"}]}
    local = {"base": "http://127.0.0.1:1/v1"}
    loaded = {"models": [{"name": "a", "model": "a", "context_length": 4_096}]}
    studio = {
        "data": [
            {"id": "a", "max_context_length": 131_072, "loaded_context_length": 4_096},
            {"id": "b", "max_context_length": 9_999},
        ]
    }
    for style, page in (("ollama", {"/api/ps": loaded}), ("lmstudio", {"/api/v0/models": studio})):
        models = listed(rows, style, page, **local)
        assert [(m.id, m.window) for m in models] == [("a", 4_096), ("b", None)]


@pytest.mark.parametrize(
    ("props", "window"),
    [({"default_generation_settings": {"n_ctx": 8192}}, 8192), ({"n_ctx": 4096}, 4096), ({}, None), ([], None)],
)
def test_llama_server_tells_its_window_when_asked_again(props: Any, window: int | None) -> None:
    local = endpoint("llama-server", "http://127.0.0.1:1/v1")
    get = answering({"/props": props})
    assert asyncio.run(window_in_force(local, ModelInfo("q", "work"), get)) == window


def test_a_far_server_is_not_asked_again() -> None:
    async def get(_target: WireTarget, path: str) -> Any:
        raise AssertionError(path)

    assert asyncio.run(window_in_force(endpoint(), ModelInfo("q", "work"), get)) is None
    assert asyncio.run(window_in_force(endpoint(), ModelInfo("q", "work", 5_000, "server"), get)) == 5_000


# Several endpoints ---------------------------------------------------------------------------------------------------


def test_all_endpoints_are_listed_at_once_and_a_failing_one_is_named() -> None:
    good, bad = endpoint(models=("a", "b")), endpoint(name="broken", base="https://broken.example")

    async def get(_target: WireTarget, _path: str) -> Any:
        raise ModelFailed(Failure("network", "broken.example"))

    listing = asyncio.run(list_all([good, bad, OFFLINE_ENDPOINT], get))
    assert [model.full_name for model in listing.models] == ["work/a", "work/b", "offline/offline"]
    assert listing.failures == ((bad, Failure("network", "broken.example")),)


def test_offline_is_free_and_needs_nothing() -> None:
    assert OFFLINE_MODEL.price is not None
    assert OFFLINE_MODEL.price.is_free
    assert OFFLINE_MODEL.window == 100_000
    assert described("offline", OFFLINE_ENDPOINT) is OFFLINE_MODEL


def test_a_row_for_machines_has_every_fact() -> None:
    model = ModelInfo("a", "w", 5_000, "server", 100, ("low",), True, Price(flat(3), flat(15)))
    assert model_row(model) == {
        "id": "a",
        "provider": "w",
        "contextWindow": 5_000,
        "contextWindowSource": "server",
        "maxOutputTokens": 100,
        "efforts": ["low"],
        "images": True,
        "price": {"input": 3, "output": 15},
        "usable": True,
        "tools": None,
    }
    assert model_row(ModelInfo("a", "w"))["price"] is None


names = st.sampled_from(["data", "id", "models", "context_length", "pricing", "prompt", "model_info", "mode"])
texts = st.text(max_size=9) | st.sampled_from(["²", "9" * 5_000, "nan", "1e400", "-1"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner),
    max_leaves=12,
)


@given(json_values, st.sampled_from(["openai", "litellm", "ollama", "lmstudio"]))
def test_no_answer_whatever_is_more_than_a_failure(answer: Any, style: str) -> None:
    async def get(_target: WireTarget, _path: str) -> Any:
        return answer

    try:
        models = asyncio.run(list_models(endpoint(style), get))
    except ModelFailed:
        return
    assert all(model.id for model in models)


# A real server over HTTP ---------------------------------------------------------------------------------------------


def test_the_settings_of_the_source_list_models_and_windows_of_a_real_server() -> None:
    with fake_llm(models="sonnet,opus", context=45_000) as fake:
        settings = {
            "LiteLLM_URL": fake.url,
            "OpenAI_EndPoint": "/v1/chat/completions",
            "LiteLLM_Models": "/v1/models",
            "LiteLLM_API_Key": "sk-" + "t" * 12,
        }
        models = asyncio.run(list_models(configured(settings, {}).endpoints[0], get_json))
        paths = [request["path"] for request in fake.requests()]
    assert [(model.full_name, model.window, model.window_from) for model in models] == [
        ("litellm/sonnet", 45_000, "server"),
        ("litellm/opus", 45_000, "server"),
    ]
    assert paths == ["/v1/models", "/model/info"]


async def serving(answer: bytes | None) -> Failure:
    """The failure of listing a server that answers these bytes to everything, or nothing at all."""

    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await reader.readuntil(b"\r\n\r\n")
        if answer is not None:
            writer.write(answer)
            await writer.drain()
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        await list_models(endpoint(base=base), get_json)
    except ModelFailed as failed:
        return failed.failure
    finally:
        server.close()
        for writer in writers:
            writer.close()
            await writer.wait_closed()
    raise AssertionError("it was taken for a list of models")


def http(status: str, body: str, media_type: str = "application/json") -> bytes:
    raw = body.encode()
    return f"HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {len(raw)}\r\n\r\n".encode() + raw


WRONG = {
    "a web site": (http("200 OK", "<!doctype html><html></html>", "text/html"), {"not_llm"}),
    "another JSON service": (http("200 OK", '{"status": "ok"}'), {"not_llm"}),
    "not found": (http("404 Not Found", "nope", "text/plain"), {"not_llm"}),
    "broken JSON": (http("200 OK", '{"data": ['), {"not_llm"}),
    "no HTTP": (b"SSH-2.0-OpenSSH_9.2\r\n", {"network"}),
    "key refused": (http("401 Unauthorized", '{"error": {"message": "invalid api key"}}'), {"auth"}),
    "litellm without a key": (http("500 Internal Server Error", "Internal Server Error", "text/plain"), {"auth"}),
    "broken server": (http("502 Bad Gateway", "", "text/plain"), {"overloaded"}),
    "closed at once": (b"", {"network"}),
}


@pytest.mark.parametrize(("answer", "kinds"), WRONG.values(), ids=WRONG.keys())
def test_a_server_that_is_no_model_server_is_told_from_one_that_refuses(answer: bytes, kinds: set[str]) -> None:
    assert asyncio.run(serving(answer)).kind in kinds


def test_a_server_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maia.llm.transport.LIST_TIMEOUT", 0.2)
    assert asyncio.run(serving(None)).kind == "timeout"


@pytest.mark.parametrize(
    ("row", "takes"),
    [
        ({"supports_function_calling": False}, False),
        ({"supports_function_calling": None}, None),
        ({"capabilities": {"function_calling": True}}, True),
        ({"supported_parameters": ["temperature"]}, False),
        ({"supported_parameters": ["temperature", "tools"]}, True),
        ({}, None),
    ],
)
def test_a_server_says_whether_a_model_takes_tools(row: dict[str, Any], takes: bool | None) -> None:
    (model,) = listed({"data": [{"id": "m", **row}]})
    assert model.tools is takes
