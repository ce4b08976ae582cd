"""The environment a command gets: nothing in it may ask a person, and maia's own keys are not in it."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from typing import Final

from maia.sandbox.tree import MARK

PROVIDER_KEYS: Final = frozenset(
    {
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_TOKEN",
        "ARK_API_KEY",
        "AWS_BEARER_TOKEN_BEDROCK",
        "AZURE_OPENAI_API_KEY",
        "CEREBRAS_API_KEY",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CO_API_KEY",
        "COHERE_API_KEY",
        "COPILOT_GITHUB_TOKEN",
        "DASHSCOPE_API_KEY",
        "DEEPSEEK_API_KEY",
        "FIREWORKS_API_KEY",
        "GEMINI_API_KEY",
        "GLM_API_KEY",
        "GOOGLE_API_KEY",
        "GROQ_API_KEY",
        "KIMI_API_KEY",
        "KIMI_CODING_API_KEY",
        "LITELLM_API_KEY",
        "LITELLM_MASTER_KEY",
        "LM_API_KEY",
        "MINIMAX_API_KEY",
        "MINIMAX_CN_API_KEY",
        "MISTRAL_API_KEY",
        "MOONSHOT_API_KEY",
        "NVIDIA_API_KEY",
        "OLLAMA_API_KEY",
        "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
        "PERPLEXITY_API_KEY",
        "REPLICATE_API_TOKEN",
        "TOGETHER_API_KEY",
        "XAI_API_KEY",
        "ZAI_ANTHROPIC_FALLBACK_KEY",
        "ZAI_API_KEY",
        "Z_AI_API_KEY",
    }
)
"""Variables in which people keep the keys that maia spends, in upper case. Other secrets (`GITHUB_TOKEN`, `AWS_*`…)
belong to the person's own tools, which a command may well need, and stay."""

_SECRET_ENDINGS: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD")

_QUIET: Final = {
    "CI": "1",  # watchers run once
    "DEBIAN_FRONTEND": "noninteractive",
    "EDITOR": "true",
    "GCM_INTERACTIVE": "never",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "MANPAGER": "cat",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "PIP_NO_INPUT": "1",
    "PYTHONUNBUFFERED": "1",  # else what Python prints to stdout comes after what it prints to stderr
    "SSH_ASKPASS_REQUIRE": "never",
    "SYSTEMD_PAGER": "cat",
    "TERM": "dumb",
    "VISUAL": "true",
}
"""Why none of them waits for a key: anchors-cli §5, Processes."""

_COLOURING: Final = ("CLICOLOR_FORCE", "FORCE_COLOR", "LESSOPEN", "LS_COLORS")


def is_withheld(name: str, shown: Collection[str] = ()) -> bool:
    """Whether a variable stays out of commands: a provider's key or one of maia's own, unless named in `shown`."""
    upper = name.upper()
    ours = upper.startswith("MAIA_") and upper.endswith(_SECRET_ENDINGS)
    return (upper in PROVIDER_KEYS or ours) and name not in shown


def command_environment(
    base: Mapping[str, str], extra: Mapping[str, str] | None, *, mark: str, cwd: str, shown: Collection[str] = ()
) -> dict[str, str]:
    """The environment of one command: `base` without withheld names, made quiet, with `extra` on top of all.

    `mark` lets its processes be found again; `shown` names withheld variables that the person's settings pass on.
    """
    env = {name: value for name, value in base.items() if name not in _COLOURING and not is_withheld(name, shown)}
    return {**env, **_QUIET, "PWD": cwd, **(extra or {}), MARK: mark}


def hide_own_environment() -> None:
    """Keep commands of the same user from reading maia's keys in `/proc/…/environ`, where no wall does.

    Linux only; root can always read it. The price: no core dump of maia, and a debugger needs root (prctl(2),
    PR_SET_DUMPABLE; what commands run is not touched, since the mark ends with `exec`).
    """
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
