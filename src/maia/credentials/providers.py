"""Who issues keys: each provider's family, official hosts and variables, and what Hermes Agent calls them.

Hosts and variables are from each vendor's API reference (2026-11). The Hermes names are those of the registry of
hermes-agent 0.19.0 (`hermes_cli/auth.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from maia.core.weburl import WebUrl, read_url


@dataclass(frozen=True, slots=True)
class Domain:
    """Hosts that belong to a provider: the name itself and everything below it.

    `region` is the one that this host serves; `documented` False for one that works but that the vendor does not name.
    """

    name: str
    region: str = ""
    documented: bool = True


@dataclass(frozen=True, slots=True)
class Hermes:
    """What Hermes Agent reads: its id for `--provider`, the variables of the key and the one of the address.

    `base_url` is its own address for the provider where that is another one than ours.
    """

    provider: str
    key_vars: tuple[str, ...]
    base_var: str = ""
    base_url: str = ""


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider. Providers of a `family` take the same kind of key at different places (MiniMax, MiniMax China).

    `key_vars` are its own variables, the usual one first; `shared_vars` hold keys for other uses too (`GITHUB_TOKEN`),
    so they count only where an address or a hint already names the provider. `base_url` is empty where each customer
    has an own one.
    """

    name: str
    base_url: str
    domains: tuple[Domain, ...]
    key_vars: tuple[str, ...]
    family: str = ""
    base_var: str = ""
    region: str = ""
    aliases: tuple[str, ...] = ()
    shared_vars: tuple[str, ...] = ()
    hermes: Hermes | None = None

    @property
    def kin(self) -> str:
        """The family's name."""
        return self.family or self.name


GENERIC_VARS: Final = ("ANTHROPIC_AUTH_TOKEN", *(f"ANTHROPIC_AUTH_TOKEN_{n}" for n in range(1, 10)))
"""Variables in which people put anybody's key, so that the name says nothing (C3.05)."""

CUSTOM: Final = "custom"
"""The name that a key has at an address of which we do not know the owner."""


NO_PLUGIN: Final = "custom"
"""Hermes's id for a provider that it has no plugin for: it reads CUSTOM_BASE_URL, and the key from a variable whose
name it makes of the host's last label but one (`_host_derived_api_key` in its `runtime_provider.py`)."""


def _simple(
    name: str, base_url: str, domains: str, key_vars: str, hermes: str = "", aliases: str = "", derived: str = ""
) -> Provider:
    """A provider with one region. Words stand for several values.

    `hermes` is its id where Hermes has a plugin; where it has none, `derived` is the variable that Hermes makes of the
    host, if that is not the provider's own.
    """
    keys = tuple(key_vars.split())
    base_var = f"{name.upper().replace('-', '_')}_BASE_URL"
    plain = Hermes(NO_PLUGIN, (derived,) if derived else keys[:1], "CUSTOM_BASE_URL")
    theirs = Hermes(hermes, keys[:1], base_var) if hermes else plain
    return Provider(
        name,
        base_url,
        tuple(Domain(domain) for domain in domains.split()),
        keys,
        base_var=base_var,
        aliases=tuple(aliases.split()),
        hermes=theirs,
    )


PROVIDERS: Final[tuple[Provider, ...]] = (
    _simple(
        "anthropic",
        "https://api.anthropic.com",
        "anthropic.com claude.com claude.ai",
        "ANTHROPIC_API_KEY ANTHROPIC_TOKEN CLAUDE_CODE_OAUTH_TOKEN",
        "anthropic",
        "claude",
    ),
    _simple("openai", "https://api.openai.com/v1", "openai.com", "OPENAI_API_KEY", "openai-api", "openai-api"),
    Provider(
        "google",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        (Domain("generativelanguage.googleapis.com"), Domain("aiplatform.googleapis.com")),
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        base_var="GEMINI_BASE_URL",
        aliases=("gemini", "google-ai-studio"),
        # Hermes reads GOOGLE_API_KEY first: with GEMINI_API_KEY alone, an older one would win.
        hermes=Hermes(
            "gemini",
            ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
            "GEMINI_BASE_URL",
            "https://generativelanguage.googleapis.com/v1beta",
        ),
    ),
    Provider(
        "minimax",
        "https://api.minimax.io/anthropic",
        (Domain("minimax.io", "global"), Domain("minimax.com", "global", documented=False)),
        ("MINIMAX_API_KEY",),
        family="minimax",
        base_var="MINIMAX_BASE_URL",
        region="global",
        aliases=("minimax-global", "minimax-intl"),
        hermes=Hermes("minimax", ("MINIMAX_API_KEY",), "MINIMAX_BASE_URL"),
    ),
    Provider(
        "minimax-cn",
        "https://api.minimaxi.com/anthropic",
        (Domain("minimaxi.com", "cn"), Domain("minimax.chat", "cn", documented=False)),
        ("MINIMAX_CN_API_KEY",),
        family="minimax",
        base_var="MINIMAX_CN_BASE_URL",
        region="cn",
        aliases=("minimax-china", "minimaxi"),
        hermes=Hermes("minimax-cn", ("MINIMAX_CN_API_KEY",), "MINIMAX_CN_BASE_URL"),
    ),
    Provider(
        "zai",
        "https://api.z.ai/api/paas/v4",
        (Domain("z.ai", "global"), Domain("bigmodel.cn", "cn")),
        ("GLM_API_KEY", "ZAI_API_KEY", "Z_AI_API_KEY", "ZAI_ANTHROPIC_FALLBACK_KEY"),
        base_var="ZAI_BASE_URL",
        region="global",
        aliases=("z-ai", "z.ai", "glm", "zhipu", "zhipuai", "bigmodel"),
        # Hermes reads GLM_API_KEY; the second name is for readers of the older layout.
        hermes=Hermes("zai", ("GLM_API_KEY", "ZAI_ANTHROPIC_FALLBACK_KEY"), "GLM_BASE_URL"),
    ),
    Provider(
        "kimi",
        "https://api.kimi.com/coding",
        (Domain("kimi.com"),),
        ("KIMI_API_KEY", "KIMI_CODING_API_KEY"),
        base_var="KIMI_BASE_URL",
        aliases=("kimi-code", "kimi-coding"),
        hermes=Hermes("kimi-coding", ("KIMI_API_KEY",), "KIMI_BASE_URL"),
    ),
    Provider(
        "moonshot",
        "https://api.moonshot.ai/v1",
        (Domain("moonshot.ai", "global"),),
        ("MOONSHOT_API_KEY", "KIMI_API_KEY"),
        family="moonshot",
        base_var="MOONSHOT_BASE_URL",
        region="global",
        aliases=("moonshot-global", "moonshotai"),
        hermes=Hermes("kimi-coding", ("KIMI_API_KEY",), "KIMI_BASE_URL"),
    ),
    Provider(
        "moonshot-cn",
        "https://api.moonshot.cn/v1",
        (Domain("moonshot.cn", "cn"),),
        ("MOONSHOT_CN_API_KEY", "KIMI_CN_API_KEY"),
        family="moonshot",
        base_var="MOONSHOT_CN_BASE_URL",
        region="cn",
        aliases=("moonshot-china", "kimi-coding-cn"),
        hermes=Hermes("kimi-coding-cn", ("KIMI_CN_API_KEY",)),
    ),
    _simple("deepseek", "https://api.deepseek.com", "deepseek.com", "DEEPSEEK_API_KEY", "deepseek"),
    Provider(
        "dashscope",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        (Domain("dashscope-intl.aliyuncs.com", "global"), Domain("aliyuncs.com", "cn")),
        ("DASHSCOPE_API_KEY",),
        base_var="DASHSCOPE_BASE_URL",
        region="global",
        aliases=("alibaba", "qwen", "bailian"),
        hermes=Hermes("alibaba", ("DASHSCOPE_API_KEY",), "DASHSCOPE_BASE_URL"),
    ),
    _simple("openrouter", "https://openrouter.ai/api/v1", "openrouter.ai", "OPENROUTER_API_KEY", "openrouter"),
    _simple("xai", "https://api.x.ai/v1", "x.ai", "XAI_API_KEY", "xai", "x-ai x.ai grok"),
    _simple("groq", "https://api.groq.com/openai/v1", "groq.com", "GROQ_API_KEY"),
    _simple("mistral", "https://api.mistral.ai/v1", "mistral.ai", "MISTRAL_API_KEY", aliases="mistralai codestral"),
    _simple("perplexity", "https://api.perplexity.ai", "perplexity.ai", "PERPLEXITY_API_KEY", aliases="pplx"),
    _simple("cohere", "https://api.cohere.ai/compatibility/v1", "cohere.ai cohere.com", "COHERE_API_KEY CO_API_KEY"),
    _simple("together", "https://api.together.xyz/v1", "together.xyz together.ai", "TOGETHER_API_KEY"),
    _simple("fireworks", "https://api.fireworks.ai/inference/v1", "fireworks.ai", "FIREWORKS_API_KEY", "fireworks"),
    _simple("cerebras", "https://api.cerebras.ai/v1", "cerebras.ai", "CEREBRAS_API_KEY"),
    _simple("nvidia", "https://integrate.api.nvidia.com/v1", "api.nvidia.com", "NVIDIA_API_KEY", "nvidia", "nim"),
    _simple(
        "replicate", "https://api.replicate.com/v1", "replicate.com", "REPLICATE_API_TOKEN", derived="REPLICATE_API_KEY"
    ),
    _simple("siliconflow", "https://api.siliconflow.com/v1", "siliconflow.com siliconflow.cn", "SILICONFLOW_API_KEY"),
    _simple("stepfun", "https://api.stepfun.ai/v1", "stepfun.ai stepfun.com", "STEPFUN_API_KEY", "stepfun"),
    _simple("novita", "https://api.novita.ai/openai/v1", "novita.ai", "NOVITA_API_KEY", "novita"),
    _simple("nebius", "https://api.studio.nebius.com/v1", "nebius.com nebius.ai", "NEBIUS_API_KEY"),
    _simple("deepinfra", "https://api.deepinfra.com/v1/openai", "deepinfra.com", "DEEPINFRA_API_KEY", "deepinfra"),
    _simple(
        "baichuan",
        "https://api.baichuan-ai.com/v1",
        "baichuan-ai.com",
        "BAICHUAN_API_KEY",
        derived="BAICHUAN_AI_API_KEY",
    ),
    _simple(
        "ark",
        "https://ark.cn-beijing.volces.com/api/v3",
        "volces.com",
        "ARK_API_KEY",
        aliases="doubao",
        derived="VOLCES_API_KEY",
    ),
    _simple("elevenlabs", "https://api.elevenlabs.io", "elevenlabs.io", "ELEVENLABS_API_KEY"),
    Provider(
        "huggingface",
        "https://router.huggingface.co/v1",
        (Domain("huggingface.co"), Domain("hf.co")),
        (),
        base_var="HF_BASE_URL",
        aliases=("hf", "hugging-face"),
        shared_vars=("HF_TOKEN",),
        hermes=Hermes("huggingface", ("HF_TOKEN",), "HF_BASE_URL"),
    ),
    Provider(
        "github-models",
        "https://models.github.ai/inference",
        (Domain("github.ai"), Domain("githubcopilot.com"), Domain("github.com"), Domain("inference.ai.azure.com")),
        ("COPILOT_GITHUB_TOKEN",),
        base_var="COPILOT_API_BASE_URL",
        aliases=("github", "copilot", "github-copilot"),
        shared_vars=("GITHUB_TOKEN", "GH_TOKEN"),
        hermes=Hermes("copilot", ("COPILOT_GITHUB_TOKEN",), "COPILOT_API_BASE_URL", "https://api.githubcopilot.com"),
    ),
    Provider(
        "bedrock",
        "https://bedrock-runtime.us-east-1.amazonaws.com",
        (Domain("amazonaws.com"),),
        ("AWS_BEARER_TOKEN_BEDROCK",),
        base_var="BEDROCK_BASE_URL",
        aliases=("aws", "aws-bedrock", "amazon-bedrock"),
        hermes=Hermes("bedrock", ("AWS_BEARER_TOKEN_BEDROCK",), "BEDROCK_BASE_URL"),
    ),
    Provider(
        "azure-openai",
        "",
        (
            Domain("openai.azure.com"),
            Domain("services.ai.azure.com"),
            Domain("cognitiveservices.azure.com"),
            Domain("models.ai.azure.com"),
        ),
        ("AZURE_OPENAI_API_KEY", "AZURE_FOUNDRY_API_KEY"),
        base_var="AZURE_OPENAI_ENDPOINT",
        aliases=("azure", "azure-foundry", "azureopenai"),
        hermes=Hermes("azure-foundry", ("AZURE_FOUNDRY_API_KEY",), "AZURE_FOUNDRY_BASE_URL"),
    ),
    Provider(
        "databricks",
        "",
        (Domain("databricks.com"), Domain("azuredatabricks.net")),
        (),
        base_var="DATABRICKS_HOST",
        shared_vars=("DATABRICKS_TOKEN",),
        hermes=Hermes(NO_PLUGIN, ("DATABRICKS_API_KEY",), "CUSTOM_BASE_URL"),
    ),
)

BY_NAME: Final = {provider.name: provider for provider in PROVIDERS}

CUSTOM_HERMES: Final = Hermes("openai-api", ("OPENAI_API_KEY",), "OPENAI_BASE_URL")
"""An address of which we do not know the owner. Hermes's own `custom` takes a key only from its `config.yaml`, which is
the user's."""


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
        return self.host in ("localhost", "::1") or self.host.startswith("127.") or self.host.endswith(".localhost")


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


@cache
def shared_vars() -> dict[str, Provider]:
    """Variables that count only where an address or a hint already names their provider."""
    return {name: provider for provider in PROVIDERS for name in provider.shared_vars}
