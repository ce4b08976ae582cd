"""Where a key's address leads, by what names people call a provider, and what Hermes Agent calls each.

The Hermes names are those of the registry of hermes-agent 0.19.0 (`hermes_cli/auth.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from maia.core.providers import BY_NAME, GENERIC_VARS, PROVIDERS, Domain, Provider
from maia.core.weburl import WebUrl, is_loopback_host, read_url

CUSTOM: Final = "custom"
"""The name that a key has at an address of which we do not know the owner."""


@dataclass(frozen=True, slots=True)
class Hermes:
    """What Hermes Agent reads: its id for `--provider`, the variables of the key and the one of the address.

    `base_url` is its own address for the provider where that is another one than ours.
    """

    provider: str
    key_vars: tuple[str, ...]
    base_var: str = ""
    base_url: str = ""


NO_PLUGIN: Final = "custom"
"""Hermes's id for a provider that it has no plugin for: it reads CUSTOM_BASE_URL, and the key from a variable whose
name it makes of the host's last label but one (`_host_derived_api_key` in its `runtime_provider.py`)."""

CUSTOM_HERMES: Final = Hermes("openai-api", ("OPENAI_API_KEY",), "OPENAI_BASE_URL")
"""An address of which we do not know the owner. Hermes's own `custom` takes a key only from its `config.yaml`, which is
the user's."""

_PLUGINS: Final[Mapping[str, str]] = {
    "anthropic": "anthropic",
    "openai": "openai-api",
    "minimax": "minimax",
    "minimax-cn": "minimax-cn",
    "kimi": "kimi-coding",
    "deepseek": "deepseek",
    "dashscope": "alibaba",
    "openrouter": "openrouter",
    "xai": "xai",
    "fireworks": "fireworks",
    "nvidia": "nvidia",
    "stepfun": "stepfun",
    "novita": "novita",
    "deepinfra": "deepinfra",
    "bedrock": "bedrock",
}
"""Plugins that read a provider's own first variable and its usual variable of the address."""

_ODD: Final[Mapping[str, Hermes]] = {
    # Hermes reads GOOGLE_API_KEY first: with GEMINI_API_KEY alone, an older one would win.
    "google": Hermes(
        "gemini",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        "GEMINI_BASE_URL",
        "https://generativelanguage.googleapis.com/v1beta",
    ),
    # Hermes reads GLM_API_KEY; the second name is for readers of the older layout.
    "zai": Hermes("zai", ("GLM_API_KEY", "ZAI_ANTHROPIC_FALLBACK_KEY"), "GLM_BASE_URL"),
    "moonshot": Hermes("kimi-coding", ("KIMI_API_KEY",), "KIMI_BASE_URL"),
    "moonshot-cn": Hermes("kimi-coding-cn", ("KIMI_CN_API_KEY",)),
    "replicate": Hermes(NO_PLUGIN, ("REPLICATE_API_KEY",), "CUSTOM_BASE_URL"),
    "baichuan": Hermes(NO_PLUGIN, ("BAICHUAN_AI_API_KEY",), "CUSTOM_BASE_URL"),
    "ark": Hermes(NO_PLUGIN, ("VOLCES_API_KEY",), "CUSTOM_BASE_URL"),
    "huggingface": Hermes("huggingface", ("HF_TOKEN",), "HF_BASE_URL"),
    "github-models": Hermes(
        "copilot", ("COPILOT_GITHUB_TOKEN",), "COPILOT_API_BASE_URL", "https://api.githubcopilot.com"
    ),
    "azure-openai": Hermes("azure-foundry", ("AZURE_FOUNDRY_API_KEY",), "AZURE_FOUNDRY_BASE_URL"),
    "databricks": Hermes(NO_PLUGIN, ("DATABRICKS_API_KEY",), "CUSTOM_BASE_URL"),
    CUSTOM: CUSTOM_HERMES,
}


def hermes_of(provider: Provider) -> Hermes:
    """What Hermes reads for a provider; without a plugin, the key of the variable that it makes of the host."""
    if (odd := _ODD.get(provider.name)) is not None:
        return odd
    plugin, first = _PLUGINS.get(provider.name), provider.key_vars[:1]
    return Hermes(plugin, first, provider.base_var) if plugin else Hermes(NO_PLUGIN, first, "CUSTOM_BASE_URL")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an address leads: the URL as parsed, and the provider whose host it is, or None for anybody else's."""

    url: WebUrl
    provider: Provider | None
    region: str = ""
    documented: bool = True

    @property
    def host(self) -> str:
        return self.url.host

    @property
    def is_loopback(self) -> bool:
        return is_loopback_host(self.host)


def place_of(text: str) -> Place | None:
    """The place that an address names, compared as a parsed host (C2.01); None when it is no usable address."""
    url = read_url(text)
    if not isinstance(url, WebUrl):
        return None
    found = _owner(url.host)
    if found is None:
        return Place(url, None)
    provider, domain = found
    return Place(url, provider, domain.region or provider.region, domain.documented)


def default_place(provider: Provider) -> Place | None:
    """A provider's own address."""
    return place_of(provider.base_url) if provider.base_url else None


def _owner(host: str) -> tuple[Provider, Domain] | None:
    """The longest domain that holds the host wins, so `openai.azure.com` is not `azure.com`'s or OpenAI's."""
    labels = host.split(".")
    table = _domains()
    for start in range(len(labels) - 1):
        if found := table.get(".".join(labels[start:])):
            return found
    return None


@cache
def _domains() -> dict[str, tuple[Provider, Domain]]:
    return {domain.name: (provider, domain) for provider in PROVIDERS for domain in provider.domains}


@cache
def by_hint() -> dict[str, Provider]:
    """Names by which people call a provider, in lower case."""
    return {name: provider for provider in PROVIDERS for name in (provider.name, *provider.aliases)}


@cache
def own_vars() -> dict[str, tuple[Provider, ...]]:
    """Each provider's own variables; `KIMI_API_KEY` is used for Kimi Code and for Moonshot."""
    found: dict[str, tuple[Provider, ...]] = {}
    for provider in PROVIDERS:
        for name in provider.key_vars:
            found[name] = (*found.get(name, ()), provider)
    return found


def usual_address(variable: str) -> str:
    """Where programs send the key of a variable that say nothing else; empty where its name tells nobody."""
    if variable in GENERIC_VARS:
        return BY_NAME["anthropic"].base_url
    return next((provider.base_url for provider in own_vars().get(variable, ())), "")


@cache
def shared_vars() -> dict[str, Provider]:
    """Variables that count only where an address or a hint already names their provider."""
    return {name: provider for provider in PROVIDERS for name in provider.shared_vars}
