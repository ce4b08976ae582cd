"""Which agent programs there are and how each is started, kept quiet, asked its version and given its key: one table.

Sources: each program's `--help`, its own documentation, and runs of the versions named here (2026-11). A program that
is found in another version is used all the same.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Final, Literal, TypeAlias

from maia.core.errors import NotConfigured, UsageProblem

Speaks: TypeAlias = Literal["acp", "claude-code", "codex-exec"]


@dataclass(frozen=True, slots=True)
class Program:
    """One row. `command` is looked for on PATH; `arguments` make it speak; `{home}` stands for its own home. One
    without `version_arguments` tells its version only when it is greeted.

    `key_arguments` come before them where it gets a key: without one, it takes the way in which somebody signed in.
    `home_vars` name its folders; `set_vars` keep it quiet (no update, no telemetry, nothing downloaded) and make it
    ask; `key_vars` are the variables of its key, of which it gets those that are set, and `pass_vars` further ones;
    `provider_var` names whose key that is, where the key's variable is the program's own. `models` are names of models
    that it takes in every version.
    `takes_instructions` says that a new session takes them as a part of its system prompt (`_meta` of the Agent Client
    Protocol). `files` are written into its home before each start; `{home}` also stands in `set_vars`.
    `ask_mode` is the mode of its session in which it asks before it acts, where another one is its default. `tools`
    are names of its tools that the common table does not know. `title_is_command` says that the title of a shell call
    is the whole command. `logins` are files in its home that show that somebody signed in. `asks` False: it cannot
    ask, so only the wall and its own sandbox hold it. `sums_usage` says that the usage it reports is its session's.
    """

    name: str
    title: str
    speaks: Speaks
    command: str
    tried: str
    arguments: tuple[str, ...] = ()
    key_arguments: tuple[str, ...] = ()
    version_arguments: tuple[str, ...] = ("--version",)
    home_vars: Mapping[str, str] = field(default_factory=dict[str, str])
    set_vars: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    key_vars: tuple[str, ...] = ()
    pass_vars: tuple[str, ...] = ()
    provider_var: str = ""
    model_var: str = ""
    models: tuple[str, ...] = ()
    ask_mode: str = ""
    tools: Mapping[str, str] = field(default_factory=dict[str, str])
    title_is_command: bool = False
    logins: tuple[str, ...] = ()
    asks: bool = True
    sums_usage: bool = False
    takes_instructions: bool = False
    install: str = ""


_CLAUDE_QUIET: Final = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "IS_SANDBOX": "1",
}
_XDG: Final = {
    "XDG_CONFIG_HOME": "{home}/.config",
    "XDG_DATA_HOME": "{home}/.local/share",
    "XDG_CACHE_HOME": "{home}/.cache",
    "XDG_STATE_HOME": "{home}/.local/state",
}
_CLAUDE_KEYS: Final = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
_CLAUDE_MODELS: Final = ("opus", "fable", "sonnet", "haiku")
_CLAUDE_PASS: Final = ("ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL")

PROGRAMS: Final[tuple[Program, ...]] = (
    Program(
        "claude-code",
        "Claude Code",
        "claude-code",
        "claude",
        "2.1.332",
        home_vars={"CLAUDE_CONFIG_DIR": "{home}/.claude"},
        set_vars=_CLAUDE_QUIET,
        key_vars=_CLAUDE_KEYS,
        pass_vars=_CLAUDE_PASS,
        models=_CLAUDE_MODELS,
        logins=(".claude/.credentials.json",),
        install="npm install -g @anthropic-ai/claude-code",
    ),
    Program(
        "codex",
        "Codex",
        "codex-exec",
        "codex",
        "0.171.0",
        home_vars={"CODEX_HOME": "{home}/.codex"},
        key_vars=("CODEX_API_KEY", "OPENAI_API_KEY"),
        pass_vars=("OPENAI_BASE_URL",),
        logins=(".codex/auth.json",),
        asks=False,
        sums_usage=True,
        install="npm install -g @openai/codex",
    ),
    Program(
        "opencode",
        "OpenCode",
        "acp",
        "opencode",
        "1.18.33",
        arguments=("acp",),
        home_vars=_XDG,
        set_vars={
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "OPENCODE_PERMISSION": '{"edit":"ask","bash":"ask","webfetch":"ask"}',
        },
        key_vars=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY"),
        logins=(".local/share/opencode/auth.json", ".config/opencode/opencode.json"),
        install="npm install -g opencode-ai",
    ),
    Program(
        "qwen",
        "Qwen Code",
        "acp",
        "qwen",
        "0.24.4",
        arguments=("--acp",),
        key_arguments=("--auth-type", "openai"),
        set_vars={
            "QWEN_SANDBOX": "false",
            "NO_BROWSER": "1",
            "QWEN_CODE_SYSTEM_DEFAULTS_PATH": "{home}/maia-defaults.json",
        },
        files={"maia-defaults.json": '{"tools":{"toolSearch":{"enabled":false}}}'},  # else it hides lent tools
        key_vars=("OPENAI_API_KEY",),
        pass_vars=("OPENAI_BASE_URL", "OPENAI_MODEL"),
        model_var="OPENAI_MODEL",
        ask_mode="default",
        logins=(".qwen/oauth_creds.json",),
        install="npm install -g @qwen-code/qwen-code",
    ),
    Program(
        "gemini",
        "Gemini CLI",
        "acp",
        "gemini",
        "0.61.0",
        arguments=("--acp",),
        set_vars={"NO_BROWSER": "1", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        key_vars=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        pass_vars=("GOOGLE_GEMINI_BASE_URL", "GEMINI_MODEL"),
        model_var="GEMINI_MODEL",
        ask_mode="default",
        title_is_command=True,
        logins=(".gemini/oauth_creds.json",),
        install="npm install -g @google/gemini-cli",
    ),
    Program(
        "kimi",
        "Kimi Code",
        "acp",
        "kimi",
        "2.1.0",
        arguments=("acp",),
        home_vars={"KIMI_CODE_HOME": "{home}/.kimi-code"},
        key_vars=("KIMI_API_KEY", "MOONSHOT_API_KEY"),
        logins=(".kimi-code/credentials", ".kimi-code/config.toml"),
        install="npm install -g @moonshot-ai/kimi-code",
    ),
    Program(
        "vibe",
        "Mistral Vibe",
        "acp",
        "vibe-acp",
        "3.0.2",
        home_vars={"VIBE_HOME": "{home}/.vibe"},
        key_vars=("MISTRAL_API_KEY",),
        ask_mode="ask",
        logins=(".vibe/config.toml",),
        sums_usage=True,
        install="uv tool install mistral-vibe",
    ),
    Program(
        "hermes",
        "Hermes Agent",
        "acp",
        "hermes-acp",
        "0.19.0",
        home_vars={"HERMES_HOME": "{home}/.hermes"},
        set_vars={"HERMES_DISABLE_LAZY_INSTALLS": "1"},
        key_vars=("OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"),
        logins=(".hermes/config.yaml", ".hermes/auth.json"),
        asks=False,
        sums_usage=True,
        install="uv tool install 'hermes-agent[acp]'",
    ),
    Program(
        "kilo",
        "Kilo Code",
        "acp",
        "kilo",
        "7.7.7",
        arguments=("acp",),
        home_vars=_XDG,
        set_vars={
            "KILO_DISABLE_AUTOUPDATE": "1",
            "KILO_DISABLE_MODELS_FETCH": "1",
            "KILO_DISABLE_LSP_DOWNLOAD": "1",
            "KILO_DISABLE_DEFAULT_PLUGINS": "1",
            "KILO_DISABLE_SESSION_INGEST": "1",
            "KILO_DISABLE_SHARE": "1",
            "KILO_PERMISSION": '{"edit":"ask","bash":"ask","webfetch":"ask"}',
        },
        key_vars=("KILO_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"),
        logins=(".local/share/kilo/auth.json", ".config/kilo/kilo.json"),
        install="npm install -g @kilocode/cli",
    ),
    Program(
        "cline",
        "Cline",
        "acp",
        "cline",
        "3.0.65",
        arguments=("--acp", "--auto-approve", "false"),
        set_vars={"CLINE_NO_AUTO_UPDATE": "1", "CLINE_NO_INTERACTIVE": "1"},
        key_vars=("CLINE_API_KEY",),
        pass_vars=("CLINE_PROVIDER", "CLINE_MODEL"),
        provider_var="CLINE_PROVIDER",
        model_var="CLINE_MODEL",
        logins=(".cline/data/settings/providers.json",),
        install="npm install -g cline",
    ),
    Program(
        "claude-acp",
        "Claude Code (ACP)",
        "acp",
        "claude-agent-acp",
        "0.23.1",
        version_arguments=(),
        takes_instructions=True,
        home_vars={"CLAUDE_CONFIG_DIR": "{home}/.claude"},
        set_vars=_CLAUDE_QUIET,
        key_vars=_CLAUDE_KEYS,
        pass_vars=_CLAUDE_PASS,
        ask_mode="default",
        models=_CLAUDE_MODELS,
        logins=(".claude/.credentials.json",),
        install="npm install -g @zed-industries/claude-agent-acp",
    ),
    Program(
        "codex-acp",
        "Codex (ACP)",
        "acp",
        "codex-acp",
        "0.16.0",
        version_arguments=(),
        home_vars={"CODEX_HOME": "{home}/.codex"},
        key_vars=("CODEX_API_KEY", "OPENAI_API_KEY"),
        pass_vars=("OPENAI_BASE_URL",),
        ask_mode="auto",
        logins=(".codex/auth.json",),
        install="npm install -g @zed-industries/codex-acp",
    ),
)
"""In the order of `maia doctor`. Where a program speaks natively and by ACP, the native way gives more."""

BY_NAME: Final[Mapping[str, Program]] = {program.name: program for program in PROGRAMS}
PROVIDER_MARK: Final = "-cli"
"""Ends a program's id as a provider: `kimi` is an endpoint, `kimi-cli` a program."""


def named(name: str) -> Program:
    """The program of that name. Raises `UsageProblem` with all names, the nearest first."""
    program = BY_NAME.get(name.strip().lower())
    if program is None:
        near = get_close_matches(name.lower(), BY_NAME, 3, 0.4)
        raise UsageProblem("runtime.unknown", name=name, known=", ".join(dict.fromkeys((*near, *BY_NAME))))
    return program


def speaking(program: Program, env: Mapping[str, str]) -> tuple[str, ...]:
    """The arguments that make it speak, with that environment."""
    has_key = any(env.get(name) for name in program.key_vars)
    return (*(program.key_arguments if has_key else ()), *program.arguments)


def find(program: Program, env: Mapping[str, str]) -> Path | None:
    """Where it is on the PATH of `env`, None where it is not."""
    found = shutil.which(program.command, path=env.get("PATH", os.defpath))
    return Path(os.path.abspath(found)) if found else None


def installed(program: Program, env: Mapping[str, str]) -> Path:
    """Where it is. Raises `NotConfigured` with how it is installed."""
    path = find(program, env)
    if path is None:
        raise NotConfigured("runtime.absent", program=program.title, command=program.command, install=program.install)
    return path
