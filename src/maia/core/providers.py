"""The one table of providers: name, address, official hosts, regions and the variables of their keys.

Every room that speaks of a provider reads it here: the model room adds how each is asked, the credentials what Hermes
Agent calls it, the sandbox keeps its keys from commands. Hosts and variables: each vendor's API reference, 2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final


@dataclass(frozen=True, slots=True)
class Domain:
    """Hosts that belong to a provider: the name itself and everything below it.

    `region` is the one that this host serves, `base_url` the provider's address there where it is not the usual one.
    `documented` is False for a host that works but that the vendor does not name.
    """

    name: str
    region: str = ""
    documented: bool = True
    base_url: str = ""


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider. Providers of a `family` take the same kind of key at different places (MiniMax, MiniMax China).

    `key_vars` are its own variables, the usual one first; `shared_vars` hold keys for other uses too (`GITHUB_TOKEN`),
    so they count only where an address or a hint already names the provider. `base_var` is the variable by which people
    send its key elsewhere (a gateway). `base_url` is empty where each customer has an own one. `has_models` is False
    for a service whose keys are known and that answers no prompt.
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
    has_models: bool = True

    @property
    def kin(self) -> str:
        """The family's name."""
        return self.family or self.name


GENERIC_VARS: Final = ("ANTHROPIC_AUTH_TOKEN", *(f"ANTHROPIC_AUTH_TOKEN_{n}" for n in range(1, 10)))
"""Variables in which people put anybody's key, so that the name says nothing (C3.05)."""

LOCAL_VARS: Final = ("LITELLM_API_KEY", "LITELLM_MASTER_KEY", "LLAMA_API_KEY", "LM_API_KEY", "OLLAMA_API_KEY")
"""Variables for servers that people run themselves."""


def _simple(
    name: str, base_url: str, domains: str, key_vars: str, aliases: str = "", *, has_models: bool = True
) -> Provider:
    """A provider with one region. Words stand for several values."""
    return Provider(
        name,
        base_url,
        tuple(Domain(domain) for domain in domains.split()),
        tuple(key_vars.split()),
        base_var=f"{name.upper().replace('-', '_')}_BASE_URL",
        aliases=tuple(aliases.split()),
        has_models=has_models,
    )


PROVIDERS: Final[tuple[Provider, ...]] = (
    _simple(
        "anthropic",
        "https://api.anthropic.com",
        "anthropic.com claude.com claude.ai",
        "ANTHROPIC_API_KEY ANTHROPIC_TOKEN CLAUDE_CODE_OAUTH_TOKEN",
        "claude",
    ),
    _simple("openai", "https://api.openai.com/v1", "openai.com", "OPENAI_API_KEY", "openai-api"),
    Provider(
        "google",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        (Domain("generativelanguage.googleapis.com"), Domain("aiplatform.googleapis.com")),
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        base_var="GEMINI_BASE_URL",
        aliases=("gemini", "google-ai-studio"),
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
    ),
    Provider(
        "zai",
        "https://api.z.ai/api/paas/v4",
        (Domain("z.ai", "global"), Domain("bigmodel.cn", "cn", base_url="https://open.bigmodel.cn/api/paas/v4")),
        ("GLM_API_KEY", "ZAI_API_KEY", "Z_AI_API_KEY", "ZAI_ANTHROPIC_FALLBACK_KEY"),
        base_var="ZAI_BASE_URL",
        region="global",
        aliases=("z-ai", "z.ai", "glm", "zhipu", "zhipuai", "bigmodel"),
    ),
    Provider(
        "kimi",
        "https://api.kimi.com/coding",
        (Domain("kimi.com"),),
        ("KIMI_API_KEY", "KIMI_CODING_API_KEY"),
        base_var="KIMI_BASE_URL",
        aliases=("kimi-code", "kimi-coding"),
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
    ),
    _simple("deepseek", "https://api.deepseek.com", "deepseek.com", "DEEPSEEK_API_KEY"),
    Provider(
        "dashscope",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        (
            Domain("dashscope-intl.aliyuncs.com", "global"),
            Domain("aliyuncs.com", "cn", base_url="https://dashscope.aliyuncs.com/compatible-mode/v1"),
        ),
        ("DASHSCOPE_API_KEY",),
        base_var="DASHSCOPE_BASE_URL",
        region="global",
        aliases=("alibaba", "qwen", "bailian"),
    ),
    _simple("openrouter", "https://openrouter.ai/api/v1", "openrouter.ai", "OPENROUTER_API_KEY"),
    _simple("xai", "https://api.x.ai/v1", "x.ai", "XAI_API_KEY", "x-ai x.ai grok"),
    _simple("groq", "https://api.groq.com/openai/v1", "groq.com", "GROQ_API_KEY"),
    _simple("mistral", "https://api.mistral.ai/v1", "mistral.ai", "MISTRAL_API_KEY", "mistralai codestral"),
    _simple("perplexity", "https://api.perplexity.ai", "perplexity.ai", "PERPLEXITY_API_KEY", "pplx"),
    _simple("cohere", "https://api.cohere.ai/compatibility/v1", "cohere.ai cohere.com", "COHERE_API_KEY CO_API_KEY"),
    _simple("together", "https://api.together.xyz/v1", "together.xyz together.ai", "TOGETHER_API_KEY"),
    _simple("fireworks", "https://api.fireworks.ai/inference/v1", "fireworks.ai", "FIREWORKS_API_KEY"),
    _simple("cerebras", "https://api.cerebras.ai/v1", "cerebras.ai", "CEREBRAS_API_KEY"),
    _simple("nvidia", "https://integrate.api.nvidia.com/v1", "api.nvidia.com", "NVIDIA_API_KEY", "nim"),
    _simple("replicate", "https://api.replicate.com/v1", "replicate.com", "REPLICATE_API_TOKEN"),
    _simple("siliconflow", "https://api.siliconflow.com/v1", "siliconflow.com siliconflow.cn", "SILICONFLOW_API_KEY"),
    _simple("stepfun", "https://api.stepfun.ai/v1", "stepfun.ai stepfun.com", "STEPFUN_API_KEY"),
    _simple("novita", "https://api.novita.ai/openai/v1", "novita.ai", "NOVITA_API_KEY"),
    _simple("nebius", "https://api.studio.nebius.com/v1", "nebius.com nebius.ai", "NEBIUS_API_KEY"),
    _simple("deepinfra", "https://api.deepinfra.com/v1/openai", "deepinfra.com", "DEEPINFRA_API_KEY"),
    _simple("baichuan", "https://api.baichuan-ai.com/v1", "baichuan-ai.com", "BAICHUAN_API_KEY"),
    _simple("ark", "https://ark.cn-beijing.volces.com/api/v3", "volces.com", "ARK_API_KEY", "doubao"),
    _simple("elevenlabs", "https://api.elevenlabs.io", "elevenlabs.io", "ELEVENLABS_API_KEY", has_models=False),
    Provider(
        "huggingface",
        "https://router.huggingface.co/v1",
        (Domain("huggingface.co"), Domain("hf.co")),
        (),
        base_var="HF_BASE_URL",
        aliases=("hf", "hugging-face"),
        shared_vars=("HF_TOKEN",),
    ),
    Provider(
        "github-models",
        "https://models.github.ai/inference",
        (Domain("github.ai"), Domain("githubcopilot.com"), Domain("github.com"), Domain("inference.ai.azure.com")),
        ("COPILOT_GITHUB_TOKEN",),
        base_var="COPILOT_API_BASE_URL",
        aliases=("github", "copilot", "github-copilot"),
        shared_vars=("GITHUB_TOKEN", "GH_TOKEN"),
    ),
    Provider(
        "bedrock",
        "https://bedrock-runtime.us-east-1.amazonaws.com",
        (Domain("amazonaws.com"),),
        ("AWS_BEARER_TOKEN_BEDROCK",),
        base_var="BEDROCK_BASE_URL",
        aliases=("aws", "aws-bedrock", "amazon-bedrock"),
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
    ),
    Provider(
        "databricks",
        "",
        (Domain("databricks.com"), Domain("azuredatabricks.net")),
        (),
        base_var="DATABRICKS_HOST",
        shared_vars=("DATABRICKS_TOKEN",),
    ),
)

BY_NAME: Final = {provider.name: provider for provider in PROVIDERS}


@cache
def model_keys() -> frozenset[str]:
    """Variables in which people keep the keys that maia spends, in upper case.

    Not those that also serve a person's own tools (`GITHUB_TOKEN`, `AWS_*`…), nor keys of services without models.
    """
    own = {name for provider in PROVIDERS if provider.has_models for name in provider.key_vars}
    return frozenset({*own, *GENERIC_VARS, *LOCAL_VARS})


TITLES: Final[Mapping[str, str]] = {
    "anthropic": "Anthropic",
    "openai": "OpenAI",
    "google": "Google Gemini",
    "minimax": "MiniMax",
    "minimax-cn": "MiniMax China",
    "zai": "Z.ai",
    "kimi": "Kimi",
    "moonshot": "Moonshot",
    "moonshot-cn": "Moonshot China",
    "deepseek": "DeepSeek",
    "dashscope": "DashScope",
    "openrouter": "OpenRouter",
    "xai": "xAI",
    "groq": "Groq",
    "mistral": "Mistral",
    "perplexity": "Perplexity",
    "cohere": "Cohere",
    "together": "Together",
    "fireworks": "Fireworks",
    "cerebras": "Cerebras",
    "nvidia": "NVIDIA",
    "siliconflow": "SiliconFlow",
    "stepfun": "StepFun",
    "novita": "Novita",
    "nebius": "Nebius",
    "deepinfra": "DeepInfra",
    "litellm": "LiteLLM",
    "ollama": "Ollama",
    "lmstudio": "LM Studio",
    "llama-server": "llama.cpp",
    "offline": "maia offline",
}
"""Names as people write them; whoever is not here is shown by the name that a person gave (R-2.028)."""
