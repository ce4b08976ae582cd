"""Which endpoints there are and where each comes from: settings, environment keys, servers on loopback, `offline`.

What is wrong is data (`Notice`), never an exception: the rest stays usable. A key goes to its own provider's host, or
to the address that the user set for that provider, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from maia.core.events import Notice
from maia.core.secret import Secret
from maia.llm.addresses import (
    checked_key,
    checked_max_output,
    checked_suffix,
    checked_url,
    is_versioned,
    same_host,
    usual_paths,
    warn_in_clear,
)
from maia.llm.endpoint import OFFLINE_ENDPOINT, Endpoint, GetJson
from maia.llm.endpoint_entries import from_entries
from maia.llm.loopback import on_loopback
from maia.llm.providers import PROVIDERS, ListStyle, Served
from maia.llm.target import WireOptions, WireTarget


@dataclass(frozen=True, slots=True)
class Configured:
    """The endpoints in the order of preference, without those on loopback nobody named, and what was wrong."""

    endpoints: tuple[Endpoint, ...]
    notices: tuple[Notice, ...] = ()

    @property
    def has_server(self) -> bool:
        """Whether anything is configured or found beside the built-in `offline`."""
        return any(endpoint.target is not None for endpoint in self.endpoints)


def configured(settings: Mapping[str, object], env: Mapping[str, str]) -> Configured:
    """Endpoints of the settings (T1.04, T1.05), then of the keys in the environment. Pure; `offline` is not among them.

    `settings` is the plain mapping of a settings file: `LiteLLM_URL`, `OpenAI_EndPoint`, `LiteLLM_Models`,
    `LiteLLM_API_Key`, `MaxOutputTokens`, `endpoints`.
    """
    notices: list[Notice] = []
    found = [*_litellm(settings, env, notices), *from_entries(settings, env, notices), *_from_keys(env, notices)]
    limit = checked_max_output(settings, notices)
    return Configured(tuple(_with_limit(endpoint, limit) for endpoint in _first_of_each(found)), tuple(notices))


def _first_of_each(endpoints: list[Endpoint]) -> Iterator[Endpoint]:
    """One endpoint a name: what the user wrote comes before what the environment offers."""
    seen: set[str] = set()
    for endpoint in endpoints:
        if endpoint.name not in seen:
            seen.add(endpoint.name)
            yield endpoint


def _with_limit(endpoint: Endpoint, limit: int | None) -> Endpoint:
    target = endpoint.target
    if target is None or limit is None or target.max_output_tokens is not None:
        return endpoint
    return replace(endpoint, target=replace(target, max_output_tokens=limit))


def with_entries(found: Configured, entries: Mapping[str, object], env: Mapping[str, str]) -> Configured:
    """The endpoints with further ones, written as those of the setting `endpoints`; what was there before comes first.

    A server that was found on this machine at one of their addresses is the added one.
    """
    notices = list(found.notices)
    added = list(from_entries({"endpoints": entries}, env, notices))
    urls = {endpoint.target.base_url.rstrip("/") for endpoint in added if endpoint.target}
    kept = [
        endpoint
        for endpoint in found.endpoints
        if endpoint.source != "loopback" or endpoint.target is None or endpoint.target.base_url.rstrip("/") not in urls
    ]
    return Configured(tuple(_first_of_each([*kept, *added])), tuple(notices))


# LiteLLM by the settings of the source ------------------------------------------------------------------------------


def _litellm(settings: Mapping[str, object], env: Mapping[str, str], notices: list[Notice]) -> Iterator[Endpoint]:
    given = settings.get("LiteLLM_URL")
    if given is None:
        if "OpenAI_EndPoint" in settings or "LiteLLM_Models" in settings:
            notices.append(Notice("warn", "models.suffix_without_url", {"setting": "LiteLLM_URL"}))
        return
    base = checked_url(given, "LiteLLM_URL", notices)
    if base is None:
        return
    version = "" if is_versioned(base) else "/v1"
    chat = checked_suffix(settings, "OpenAI_EndPoint", f"{version}/chat/completions", notices)
    models = checked_suffix(settings, "LiteLLM_Models", f"{version}/models", notices)
    key = checked_key(settings.get("LiteLLM_API_Key") or env.get("LITELLM_API_KEY"), "LiteLLM_API_Key", notices)
    warn_in_clear(base, key, "LiteLLM_URL", notices)
    yield Endpoint("litellm", "settings", WireTarget("litellm", "openai-chat", base, chat, key), models, "litellm")


# Keys in the environment --------------------------------------------------------------------------------------------


def _from_keys(env: Mapping[str, str], notices: list[Notice]) -> Iterator[Endpoint]:
    for provider in PROVIDERS:
        given = env.get(provider.base_var, "").strip() if provider.base_var else ""
        bearer = next((name for name in provider.bearer_vars if env.get(name, "").strip()), "")
        source = next((name for name in provider.key_vars if env.get(name, "").strip()), "") or bearer
        if not source and not given:
            continue
        base = checked_url(given, provider.base_var, notices) if given else provider.base_url
        if base is None:
            continue  # the key must not go to the vendor when the user wanted another place
        key = checked_key(env.get(source), source, notices) if source else None
        if source and key is None:
            continue
        warn_in_clear(base, key, provider.base_var, notices)
        yield _from_key(provider, base, key, source or provider.base_var, is_bearer=source == bearer)


def _from_key(provider: Served, base: str, key: Secret | None, source: str, *, is_bearer: bool) -> Endpoint:
    own = same_host(base, provider.base_url)
    if own and not urlsplit(base).path.strip("/"):
        base = provider.base_url  # the vendor's host alone, without its version
    chat, models = usual_paths(provider.format, base, provider)
    if not own and provider.format == "openai-chat":
        chat, models = provider.chat_path, provider.list_path  # OPENAI_BASE_URL holds the version by convention
    options = WireOptions(auth="bearer" if is_bearer and key else None, effort=provider.effort)
    target = WireTarget(provider.name, provider.format, base, chat, key, options=options)
    style: ListStyle = "anthropic" if provider.format == "anthropic-messages" else "openai"
    return Endpoint(provider.name, source, target, models, style, prefer=provider.prefer)


# The set-up that is offered -----------------------------------------------------------------------------------------


async def discover(
    settings: Mapping[str, object], env: Mapping[str, str], get_json: GetJson, *, always_local: bool = False
) -> Configured:
    """What is configured; servers on loopback when that is nothing, or `always_local`; always `offline`, last."""
    found = configured(settings, env)
    local = await on_loopback(get_json, env) if always_local or not found.endpoints else ()
    named = {endpoint.name for endpoint in found.endpoints}
    urls = {endpoint.target.base_url.rstrip("/") for endpoint in found.endpoints if endpoint.target}
    more = (point for point in local if point.name not in named and point.target and point.target.base_url not in urls)
    return Configured((*found.endpoints, *more, OFFLINE_ENDPOINT), found.notices)
