"""How each provider that answers prompts is asked, and the servers that people run on their own machine: two tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from maia.core.providers import BY_NAME as BY_PROVIDER
from maia.core.providers import Provider
from maia.llm.target import EffortControl, WireFormat

ListStyle: TypeAlias = Literal["openai", "litellm", "anthropic", "ollama", "lmstudio", "llama-server", "none"]
"""How a server tells its models: the shape of its list and where it says more."""


@dataclass(frozen=True, slots=True)
class Served:
    """How a provider of the one table (`core.providers`) is asked for models.

    `key_vars` are tried in order; `bearer_vars` hold keys that travel as a bearer token where `key_vars` do not.
    `prefer` is a pattern: the newest model that fits it is the default one, where nobody chose.
    """

    known: Provider
    key_vars: tuple[str, ...]
    format: WireFormat = "openai-chat"
    bearer_vars: tuple[str, ...] = ()
    chat_path: str = "/chat/completions"
    list_path: str = "/models"
    prefer: str = ""
    effort: EffortControl | None = None

    @property
    def name(self) -> str:
        return self.known.name

    @property
    def base_url(self) -> str:
        return self.known.base_url

    @property
    def base_var(self) -> str:
        return self.known.base_var


def _openai(
    name: str, prefer: str = "", *, key_vars: tuple[str, ...] = (), effort: EffortControl | None = None
) -> Served:
    """One that speaks OpenAI's format at the usual paths; all its variables hold such keys unless they are named."""
    known = BY_PROVIDER[name]
    return Served(known, key_vars or known.key_vars, prefer=prefer, effort=effort)


def _anthropic(
    name: str, prefer: str, *, key_vars: tuple[str, ...] = (), bearer_vars: tuple[str, ...] = (), limit: str = ""
) -> Served:
    """One that speaks Anthropic's format."""
    known = BY_PROVIDER[name]
    keys = key_vars or known.key_vars
    return Served(known, keys, "anthropic-messages", bearer_vars, "/v1/messages", f"/v1/models{limit}", prefer)


PROVIDERS: Final[tuple[Served, ...]] = (
    _anthropic(
        "anthropic",
        r"claude-sonnet-[\d.-]+",
        key_vars=("ANTHROPIC_API_KEY",),
        bearer_vars=("ANTHROPIC_AUTH_TOKEN",),
        limit="?limit=1000",
    ),
    # GPT-6 calls tools in the Responses format only (developers.openai.com, deployment checklist, 2026-11).
    _openai("openai", r"gpt-5(?:\.\d+)?"),
    _openai("google", r"gemini-[\d.]+-(?:pro|flash)"),
    _openai("openrouter", r"anthropic/claude-sonnet-[\d.]+", effort="openrouter"),
    _openai("mistral", r"(?:devstral-medium|mistral-medium|mistral-large)-latest"),
    _openai("deepseek", r"deepseek-chat"),
    _openai("xai", r"grok-[\d.]+"),
    _openai("groq", r"openai/gpt-oss-120b"),
    _openai("moonshot", r"kimi-k[\d.]+", key_vars=("MOONSHOT_API_KEY",)),
    _openai("moonshot-cn", r"kimi-k[\d.]+"),
    _anthropic("kimi", r"kimi-.*", bearer_vars=BY_PROVIDER["kimi"].key_vars),
    _openai("zai", r"glm-[\d.]+"),
    _anthropic("minimax", r"minimax-m[\d.]+"),
    _anthropic("minimax-cn", r"minimax-m[\d.]+"),
    _openai("together"),
    _openai("fireworks"),
    _openai("cerebras"),
    _openai("nvidia"),
    _openai("dashscope", r"qwen\d*-coder-plus"),
    _openai("cohere"),
    _openai("siliconflow"),
    _openai("stepfun"),
    _openai("novita"),
    _openai("nebius"),
    _openai("deepinfra"),
)
"""In the order in which keys of the environment are offered. Formats and paths: vendors' API references, 2026-11."""

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
