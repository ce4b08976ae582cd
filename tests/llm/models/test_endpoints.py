import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.endings import Failure
from maia.core.errors import ModelFailed
from maia.core.events import Notice
from maia.core.secret import Secret
from maia.i18n.catalogue import Catalogue
from maia.llm.endpoint import OFFLINE_ENDPOINT, Endpoint
from maia.llm.endpoints import configured, discover
from maia.llm.loopback import on_loopback
from maia.llm.providers import BY_NAME, PROVIDERS
from maia.llm.target import WireOptions, WireTarget
from maia.llm.transport import join_url

KEY = "sk-" + "x" * 20


def one(settings: dict[str, Any], env: dict[str, str] | None = None) -> Endpoint:
    found = configured(settings, env or {})
    assert found.notices == ()
    (endpoint,) = found.endpoints
    return endpoint


def urls(endpoint: Endpoint) -> tuple[str, str]:
    assert endpoint.target is not None
    base = endpoint.target.base_url
    return join_url(base, endpoint.target.chat_path), join_url(base, endpoint.list_path)


SUFFIXES = {
    "as the source writes them": ("https://l.example/api", "/chat/completions", "/models"),
    "slash at the end of the URL": ("https://l.example/api/", "/chat/completions", "/models"),
    "no slash in front of the suffix": ("https://l.example/api", "chat/completions", "models"),
    "slashes on both": ("https://l.example/api/", "/chat/completions", "/models"),
}


@pytest.mark.parametrize(("url", "chat", "models"), SUFFIXES.values(), ids=SUFFIXES.keys())
def test_requests_go_to_the_url_and_its_suffixes_with_one_slash_between(url: str, chat: str, models: str) -> None:
    endpoint = one({"LiteLLM_URL": url, "OpenAI_EndPoint": chat, "LiteLLM_Models": models})
    assert urls(endpoint) == ("https://l.example/api/chat/completions", "https://l.example/api/models")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:4000", "http://127.0.0.1:4000/v1"),
        ("http://127.0.0.1:4000/v1", "http://127.0.0.1:4000/v1"),
        ("http://127.0.0.1:4000/v1/", "http://127.0.0.1:4000/v1"),
        ("https://l.example/team/v2beta", "https://l.example/team/v2beta"),
    ],
)
def test_without_suffixes_the_usual_paths_follow_the_url_and_v1_is_there_once(url: str, expected: str) -> None:
    assert urls(one({"LiteLLM_URL": url})) == (f"{expected}/chat/completions", f"{expected}/models")


def test_an_unusual_suffix_is_taken_exactly() -> None:
    endpoint = one({"LiteLLM_URL": "https://a.example", "OpenAI_EndPoint": "/openai/d/x?api-version=2024"})
    assert urls(endpoint)[0] == "https://a.example/openai/d/x?api-version=2024"


def test_an_empty_suffix_is_the_url_itself() -> None:
    assert urls(one({"LiteLLM_URL": "https://a.example/chat", "OpenAI_EndPoint": ""}))[0] == "https://a.example/chat"


def test_the_whole_endpoint_of_the_settings_is_litellm_with_its_key_and_output_limit() -> None:
    settings = {
        "LiteLLM_URL": "https://l.example",
        "OpenAI_EndPoint": "/v1/chat/completions",
        "LiteLLM_Models": "/v1/models",
        "LiteLLM_API_Key": Secret(KEY),
        "MaxOutputTokens": 4096,
    }
    target = WireTarget(
        "litellm", "openai-chat", "https://l.example", "/v1/chat/completions", Secret(KEY), max_output_tokens=4096
    )
    assert one(settings) == Endpoint("litellm", "settings", target, "/v1/models", "litellm")


def test_the_key_may_come_from_the_environment_and_the_settings_come_first() -> None:
    url = {"LiteLLM_URL": "https://l.example"}
    env = {"LITELLM_API_KEY": "env-key"}
    assert one(url, env).target.key == Secret("env-key")
    assert one(url | {"LiteLLM_API_Key": "own-key"}, env).target.key == Secret("own-key")
    assert one(url).target.key is None


@pytest.mark.parametrize(
    ("raw", "clean"), [(f"  {KEY}\n", KEY), (f'"{KEY}"', KEY), (f"Bearer {KEY}", KEY), (f"'{KEY}'", KEY)]
)
def test_a_pasted_key_is_freed_of_blanks_quotes_and_bearer(raw: str, clean: str) -> None:
    assert one({"LiteLLM_URL": "https://l.example", "LiteLLM_API_Key": raw}).target.key == Secret(clean)


BAD_URLS = {
    "empty": ("", "models.not_a_url"),
    "number": (42, "models.not_a_url"),
    "null": (None, None),
    "list": (["https://a"], "models.not_a_url"),
    "words": ("my server", "models.not_a_url"),
    "no scheme": ("localhost:4000", "models.no_scheme"),
    "host only": ("l.example", "models.no_scheme"),
    "other scheme": ("ftp://l.example", "models.not_http"),
    "file": ("file:///etc/passwd", "models.not_http"),
    "no host": ("http://", "models.not_a_url"),
    "bad port": ("http://h:99999999", "models.not_a_url"),
    "bad brackets": ("http://[::1", "models.not_a_url"),
    "line feed": ("http://h\nX: y", "models.not_a_url"),
    "password": ("https://me:pw@l.example", "models.url_with_password"),
    "query": ("https://l.example/?x=1", "models.url_with_query"),
    "fragment": ("https://l.example/#a", "models.url_with_query"),
}


@pytest.mark.parametrize(("url", "key"), BAD_URLS.values(), ids=BAD_URLS.keys())
def test_a_bad_url_is_a_notice_and_the_rest_still_works(url: object, key: str | None) -> None:
    found = configured({"LiteLLM_URL": url}, {"OPENAI_API_KEY": KEY})
    assert [notice.key for notice in found.notices] == ([key] if key else [])
    assert [endpoint.name for endpoint in found.endpoints] == ["openai"]


def test_a_password_in_a_url_is_never_shown() -> None:
    (notice,) = configured({"LiteLLM_URL": "https://me:hunter2@l.example"}, {}).notices
    assert "hunter2" not in repr(notice)


@pytest.mark.parametrize("key", ["***", "$MY_KEY", "${MY_KEY}", "clé", "a b", "a\nb", 7, "\x00"])
def test_a_key_that_no_header_can_carry_is_a_notice_without_the_key(key: object) -> None:
    found = configured({"LiteLLM_URL": "https://l.example", "LiteLLM_API_Key": key}, {})
    assert found.notices == (Notice("warn", "models.bad_key", {"setting": "LiteLLM_API_Key"}),)
    assert found.endpoints[0].target.key is None


def test_a_suffix_that_is_a_whole_url_is_refused_because_the_key_would_go_there() -> None:
    found = configured({"LiteLLM_URL": "https://l.example", "OpenAI_EndPoint": "https://evil.example/x"}, {})
    assert [notice.key for notice in found.notices] == ["models.bad_suffix"]
    assert urls(found.endpoints[0])[0] == "https://l.example/v1/chat/completions"


@pytest.mark.parametrize("value", [0, -1, True, "4096", 1.5, []])
def test_a_bad_output_limit_is_a_notice_and_ignored(value: object) -> None:
    found = configured({"LiteLLM_URL": "https://l.example", "MaxOutputTokens": value}, {})
    assert [notice.key for notice in found.notices] == ["models.bad_max_output"]
    assert found.endpoints[0].target.max_output_tokens is None


def test_a_suffix_without_a_url_says_what_is_missing() -> None:
    assert configured({"OpenAI_EndPoint": "/x"}, {}).notices == (
        Notice("warn", "models.suffix_without_url", {"setting": "LiteLLM_URL"}),
    )


def test_a_key_over_plain_http_to_another_machine_is_warned_about_and_on_loopback_not() -> None:
    far = configured({"LiteLLM_URL": "http://10.0.0.5:4000", "LiteLLM_API_Key": KEY}, {})
    near = configured({"LiteLLM_URL": "http://127.0.0.1:4000", "LiteLLM_API_Key": KEY}, {})
    assert [notice.key for notice in far.notices] == ["models.key_in_clear"]
    assert KEY not in repr(far)
    assert near.notices == ()


# Keys in the environment ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_a_providers_key_goes_to_its_own_host(provider) -> None:
    endpoint = one({}, {provider.key_vars[0]: KEY})
    assert (endpoint.name, endpoint.source) == (provider.name, provider.key_vars[0])
    assert endpoint.target.base_url == provider.base_url
    assert endpoint.target.key == Secret(KEY)
    assert endpoint.target.base_url.startswith("https://")


def test_a_base_url_moves_its_own_provider_only() -> None:
    env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "https://gw.example/v1", "GROQ_API_KEY": "gsk-" + "y" * 9}
    openai, groq = configured({}, env).endpoints
    assert (openai.target.base_url, openai.target.key) == ("https://gw.example/v1", Secret(KEY))
    assert groq.target.base_url == BY_NAME["groq"].base_url


def test_a_base_url_without_a_key_is_a_server_without_one() -> None:
    endpoint = one({}, {"OPENAI_BASE_URL": "http://127.0.0.1:8000/v1"})
    assert (endpoint.target.key, endpoint.source) == (None, "OPENAI_BASE_URL")
    assert urls(endpoint)[0] == "http://127.0.0.1:8000/v1/chat/completions"


def test_a_broken_base_url_does_not_send_the_key_to_the_vendor_instead() -> None:
    found = configured({}, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "gateway.example"})
    assert found.endpoints == ()
    assert [notice.key for notice in found.notices] == ["models.no_scheme"]


def test_the_vendors_host_without_its_version_gets_it() -> None:
    endpoint = one({}, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "https://api.openai.com"})
    assert urls(endpoint)[0] == "https://api.openai.com/v1/chat/completions"


@pytest.mark.parametrize("base", ["https://gw.example", "https://gw.example/", "https://gw.example/v1"])
def test_anthropic_paths_have_the_version_once(base: str) -> None:
    endpoint = one({}, {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": base})
    assert urls(endpoint) == ("https://gw.example/v1/messages", "https://gw.example/v1/models?limit=1000")


def test_an_anthropic_token_travels_as_a_bearer_and_a_key_does_not() -> None:
    token = one({}, {"ANTHROPIC_AUTH_TOKEN": KEY})
    key = one({}, {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_AUTH_TOKEN": "other"})
    assert token.target.options == WireOptions(auth="bearer")
    assert (key.target.options, key.target.key) == (WireOptions(), Secret(KEY))


def test_an_empty_variable_is_no_key() -> None:
    assert configured({}, {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": "  "}).endpoints == ()


def test_settings_come_before_keys_and_keep_the_order() -> None:
    env = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    settings = {"LiteLLM_URL": "https://l.example", "endpoints": {"openai": {"url": "https://mine.example/v1"}}}
    found = configured(settings, env).endpoints
    assert [(e.name, e.source) for e in found] == [
        ("litellm", "settings"),
        ("openai", "settings"),
        ("anthropic", "ANTHROPIC_API_KEY"),
    ]
    assert found[1].target.key is None, "the vendor's key does not follow the name to another host"


# Several endpoints ---------------------------------------------------------------------------------------------------


def test_an_entry_of_endpoints_may_say_everything() -> None:
    entry = {
        "name": "work",
        "format": "anthropic",
        "url": "https://w.example/llm",
        "chat": "/say",
        "modelsPath": "/list",
        "keyEnv": "WORK_KEY",
        "headers": {"X-Team": "blue"},
        "maxOutputTokens": 100,
        "effort": "none",
        "idleTimeout": 30,
        "models": ["a", "b"],
    }
    endpoint = one({"endpoints": [entry]}, {"WORK_KEY": KEY})
    target = WireTarget(
        "work",
        "anthropic-messages",
        "https://w.example/llm",
        "/say",
        Secret(KEY),
        {"X-Team": "blue"},
        30.0,
        max_output_tokens=100,
        options=WireOptions(effort="none"),
    )
    assert endpoint == Endpoint("work", "settings", target, "/list", "anthropic", ("a", "b"))


def test_a_known_name_says_the_rest_and_gets_its_own_key() -> None:
    endpoint = one({"endpoints": {"mistral": {}}}, {"MISTRAL_API_KEY": KEY})
    assert urls(endpoint)[0] == "https://api.mistral.ai/v1/chat/completions"
    assert endpoint.target.key == Secret(KEY)


def test_a_local_server_may_be_named_alone() -> None:
    endpoint = one({"endpoints": {"ollama": {}}})
    assert (urls(endpoint)[1], endpoint.style) == ("http://127.0.0.1:11434/v1/models", "ollama")


BAD_ENTRIES = {
    "no list": ("text", ["models.bad_endpoints"]),
    "no object": ([7], ["models.bad_endpoint"]),
    "no name": ([{"url": "https://a.example"}], ["models.endpoint_without_name"]),
    "bad name": ([{"name": "a b", "url": "https://a.example"}], ["models.endpoint_without_name"]),
    "no url": ({"x": {}}, ["models.not_a_url"]),
    "bad format": ({"x": {"url": "https://a.example", "format": "soap"}}, ["models.bad_format"]),
    "unknown field": ({"x": {"url": "https://a.example", "keyenv_": "A", "urll": ""}}, ["models.unknown_field"]),
    "empty variable": ({"x": {"url": "https://a.example", "key_env": "A"}}, ["models.key_variable_empty"]),
    "bad headers": ({"x": {"url": "https://a.example", "headers": {"a": "b\nc"}}}, ["models.bad_headers"]),
    "bad timeout": ({"x": {"url": "https://a.example", "idle_timeout": -1}}, ["models.bad_timeout"]),
    "bad effort": ({"x": {"url": "https://a.example", "effort": "loud"}}, ["models.bad_effort_control"]),
    "bad models": ({"x": {"url": "https://a.example", "models": [1]}}, ["models.bad_models"]),
}


@pytest.mark.parametrize(("entries", "keys"), BAD_ENTRIES.values(), ids=BAD_ENTRIES.keys())
def test_what_is_wrong_in_an_entry_is_named(entries: object, keys: list[str], say: Catalogue) -> None:
    notices = configured({"endpoints": entries}, {}).notices
    assert set(keys) <= {notice.key for notice in notices}
    for notice in notices:
        assert say(notice.key, **notice.values)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
setting_names = st.sampled_from(
    ["LiteLLM_URL", "OpenAI_EndPoint", "LiteLLM_Models", "LiteLLM_API_Key", "MaxOutputTokens", "endpoints"]
)


@given(st.dictionaries(setting_names, json_values), st.dictionaries(st.sampled_from(["OPENAI_API_KEY"]), st.text()))
def test_no_settings_whatever_raise(settings: dict[str, Any], env: dict[str, str]) -> None:
    for endpoint in configured(settings, env).endpoints:
        assert endpoint.target is not None
        assert endpoint.target.base_url.lower().startswith(("http://", "https://"))


# Servers on this machine ---------------------------------------------------------------------------------------------

ANSWERS: dict[str, Any] = {
    "/health/liveliness": "I'm alive!",
    "/api/version": {"version": "0.16.1"},
    "/api/v0/models": {"object": "list", "data": [{"id": "qwen"}]},
    "/v1/models": {"object": "list", "data": [{"id": "q", "owned_by": "llamacpp"}]},
}


def found_with(answers: dict[str, Any], env: dict[str, str] | None = None, ports: set[int] | None = None) -> list[str]:
    async def get_json(target: WireTarget, path: str) -> Any:
        assert target.key is None, "a probe carries no key"
        answer = answers.get(path)
        if answer is None:
            raise ModelFailed(Failure("not_llm"))
        return await answer() if callable(answer) else answer

    async def listens(_host: str, port: int) -> bool:
        return ports is None or port in ports

    return [e.name for e in asyncio.run(on_loopback(get_json, env or {}, listens))]


def test_servers_on_their_usual_ports_are_found_in_order() -> None:
    assert found_with(ANSWERS) == ["litellm", "ollama", "lmstudio", "llama-server"]


def test_a_port_nobody_listens_on_is_not_asked() -> None:
    assert found_with(ANSWERS, ports={11434}) == ["ollama"]


def test_somebody_elses_port_is_no_model_server() -> None:
    assert found_with({path: {"hello": "world"} for path in ANSWERS}) == []


def test_a_server_that_hangs_does_not_hold_the_start_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maia.llm.loopback.ANSWER_SECONDS", 0.05)

    async def hang() -> None:
        await asyncio.sleep(60)

    assert found_with(ANSWERS | {"/api/version": hang}) == ["litellm", "lmstudio", "llama-server"]


@pytest.mark.parametrize("host", ["127.0.0.1:5555", "0.0.0.0:5555", "http://localhost:5555", "http://127.0.0.1:5555/"])
def test_ollama_is_looked_for_where_its_variable_says(host: str) -> None:
    assert found_with(ANSWERS, {"OLLAMA_HOST": host}, ports={5555}) == ["ollama"]


def test_a_remote_ollama_is_not_probed() -> None:
    assert found_with(ANSWERS, {"OLLAMA_HOST": "http://10.1.2.3:11434"}, ports={11434}) == []


def test_really_asking_a_closed_machine_loads_no_http_client() -> None:
    code = (
        "import asyncio, sys, json\n"
        "from maia.llm.endpoints import discover\n"
        "async def get_json(target, path): raise AssertionError('asked')\n"
        "import maia.llm.loopback as l; l.LOCAL_SERVERS = ()\n"
        "found = asyncio.run(discover({}, {}, get_json))\n"
        "heavy = [m for m in ('httpx2', 'toktok', 'genai_prices', 'rich', 'prompt_toolkit') if m in sys.modules]\n"
        "print(json.dumps([[e.name for e in found.endpoints], heavy]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [["offline"], []]


def test_a_refused_connection_counts_as_nobody() -> None:
    async def get_json(_target: WireTarget, path: str) -> Any:
        raise AssertionError(path)

    async def closed() -> list[Endpoint]:
        server = await asyncio.start_server(lambda _r, _w: None, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        server.close()
        await server.wait_closed()
        env = {"OLLAMA_HOST": f"127.0.0.1:{port}"}
        from maia.llm import loopback

        only_ollama = tuple(s for s in loopback.LOCAL_SERVERS if s.name == "ollama")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(loopback, "LOCAL_SERVERS", only_ollama)
            return list(await on_loopback(get_json, env))

    assert asyncio.run(closed()) == []


def test_offline_is_always_there_and_last_and_a_configured_server_stops_the_search() -> None:
    async def get_json(_target: WireTarget, path: str) -> Any:
        raise AssertionError(path)

    found = asyncio.run(discover({"LiteLLM_URL": "https://l.example"}, {}, get_json))
    assert [endpoint.name for endpoint in found.endpoints] == ["litellm", "offline"]
    assert found.endpoints[-1] is OFFLINE_ENDPOINT
    assert OFFLINE_ENDPOINT.is_local
