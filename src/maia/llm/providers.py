"""Known providers and local servers: one row each, with its name, address, format and the variables of its key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from maia.llm.target import EffortControl, WireFormat

ListStyle: TypeAlias = Literal["openai", "litellm", "anthropic", "ollama", "lmstudio", "llama-server", "none"]
"""How a server tells its models: the shape of its list and where it says more."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider that is reached with a key from the environment.

    `key_vars` are tried in order; `base_var` names the variable by which users send a key elsewhere (a gateway).
    `bearer_vars` hold keys that travel as a bearer token where `key_vars` do not. `prefer` is a pattern: the newest
    model that fits it is the default one, where nobody chose.
    """

    name: str
    base_url: str
    key_vars: tuple[str, ...]
    format: WireFormat = "openai-chat"
    base_var: str = ""
    bearer_vars: tuple[str, ...] = ()
    chat_path: str = "/chat/completions"
    list_path: str = "/models"
    prefer: str = ""
    effort: EffortControl | None = None


# Addresses and variables: each vendor's API reference, 2026-11.
PROVIDERS: Final[tuple[Provider, ...]] = (
    Provider(
        "anthropic",
        "https://api.anthropic.com",
        ("ANTHROPIC_API_KEY",),
        "anthropic-messages",
        base_var="ANTHROPIC_BASE_URL",
        bearer_vars=("ANTHROPIC_AUTH_TOKEN",),
        chat_path="/v1/messages",
        list_path="/v1/models?limit=1000",
        prefer=r"claude-sonnet-[\d.-]+",
    ),
    Provider(
        "openai",
        "https://api.openai.com/v1",
        ("OPENAI_API_KEY",),
        base_var="OPENAI_BASE_URL",
        # GPT-6 calls tools in the Responses format only (developers.openai.com, deployment checklist, 2026-11).
        prefer=r"gpt-5(?:\.\d+)?",
    ),
    Provider(
        "google",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        base_var="GEMINI_BASE_URL",
        prefer=r"gemini-[\d.]+-(?:pro|flash)",
    ),
    Provider(
        "openrouter",
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_KEY",),
        base_var="OPENROUTER_BASE_URL",
        prefer=r"anthropic/claude-sonnet-[\d.]+",
        effort="openrouter",
    ),
    Provider(
        "mistral",
        "https://api.mistral.ai/v1",
        ("MISTRAL_API_KEY",),
        base_var="MISTRAL_BASE_URL",
        prefer=r"(?:devstral-medium|mistral-medium|mistral-large)-latest",
    ),
    Provider(
        "deepseek",
        "https://api.deepseek.com",
        ("DEEPSEEK_API_KEY",),
        base_var="DEEPSEEK_BASE_URL",
        prefer=r"deepseek-chat",
    ),
    Provider("xai", "https://api.x.ai/v1", ("XAI_API_KEY",), base_var="XAI_BASE_URL", prefer=r"grok-[\d.]+"),
    Provider(
        "groq",
        "https://api.groq.com/openai/v1",
        ("GROQ_API_KEY",),
        base_var="GROQ_BASE_URL",
        prefer=r"openai/gpt-oss-120b",
    ),
    Provider(
        "moonshot",
        "https://api.moonshot.ai/v1",
        ("MOONSHOT_API_KEY",),
        base_var="MOONSHOT_BASE_URL",
        prefer=r"kimi-k[\d.]+",
    ),
    Provider(
        "kimi",
        "https://api.kimi.com/coding",
        ("KIMI_API_KEY", "KIMI_CODING_API_KEY"),
        "anthropic-messages",
        base_var="KIMI_BASE_URL",
        bearer_vars=("KIMI_API_KEY", "KIMI_CODING_API_KEY"),
        chat_path="/v1/messages",
        list_path="/v1/models",
        prefer=r"kimi-.*",
    ),
    Provider(
        "zai",
        "https://api.z.ai/api/paas/v4",
        ("ZAI_API_KEY", "Z_AI_API_KEY", "GLM_API_KEY"),
        base_var="ZAI_BASE_URL",
        prefer=r"glm-[\d.]+",
    ),
    Provider(
        "minimax",
        "https://api.minimax.io/anthropic",
        ("MINIMAX_API_KEY",),
        "anthropic-messages",
        base_var="MINIMAX_BASE_URL",
        chat_path="/v1/messages",
        list_path="/v1/models",
        prefer=r"minimax-m[\d.]+",
    ),
    Provider(
        "minimax-cn",
        "https://api.minimaxi.com/anthropic",
        ("MINIMAX_CN_API_KEY",),
        "anthropic-messages",
        base_var="MINIMAX_CN_BASE_URL",
        chat_path="/v1/messages",
        list_path="/v1/models",
        prefer=r"minimax-m[\d.]+",
    ),
    Provider("together", "https://api.together.xyz/v1", ("TOGETHER_API_KEY",), base_var="TOGETHER_BASE_URL"),
    Provider(
        "fireworks", "https://api.fireworks.ai/inference/v1", ("FIREWORKS_API_KEY",), base_var="FIREWORKS_BASE_URL"
    ),
    Provider("cerebras", "https://api.cerebras.ai/v1", ("CEREBRAS_API_KEY",), base_var="CEREBRAS_BASE_URL"),
    Provider("nvidia", "https://integrate.api.nvidia.com/v1", ("NVIDIA_API_KEY",), base_var="NVIDIA_BASE_URL"),
    Provider(
        "dashscope",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        ("DASHSCOPE_API_KEY",),
        base_var="DASHSCOPE_BASE_URL",
        prefer=r"qwen\d*-coder-plus",
    ),
    Provider(
        "cohere",
        "https://api.cohere.ai/compatibility/v1",
        ("COHERE_API_KEY", "CO_API_KEY"),
        base_var="COHERE_BASE_URL",
        list_path="/models",
    ),
)

BY_NAME: Final = {provider.name: provider for provider in PROVIDERS}


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that people run on their own machine. It answers `probe` without a key, with `sign` in its answer."""

    name: str
    port: int
    base_path: str
    style: ListStyle
    probe: str
    sign: str
    url_var: str = ""
    key_var: str = ""


LOCAL_SERVERS: Final[tuple[LocalServer, ...]] = (
    # Default ports and answers from each project's documentation, 2026-11.
    LocalServer("litellm", 4000, "/v1", "litellm", "/health/liveliness", "alive", key_var="LITELLM_API_KEY"),
    LocalServer("ollama", 11434, "/v1", "ollama", "/api/version", '"version"', url_var="OLLAMA_HOST"),
    LocalServer("lmstudio", 1234, "/v1", "lmstudio", "/api/v0/models", '"data"'),
    LocalServer("llama-server", 8080, "/v1", "llama-server", "/v1/models", '"llamacpp"', key_var="LLAMA_API_KEY"),
)
