"""Opens the driver of a program: the one door of this room for whoever wants a turn run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import assert_never

from maia.core.runtime import ProgramStart, Runtime, StartProgram
from maia.runtimes.bridged import BridgedRuntime
from maia.runtimes.environment import start_of
from maia.runtimes.launching import Launch
from maia.runtimes.patience import Patience
from maia.runtimes.programs import Program, speaking


def open_runtime(
    program: Program,
    path: Path,
    start_program: StartProgram,
    *,
    folder: Path,
    home: Path,
    env: Mapping[str, str],
    version: str,
    patience: Patience | None = None,
) -> BridgedRuntime:
    """The driver of a program that is at `path`. Starts nothing before the first turn."""

    def start(arguments: tuple[str, ...]) -> ProgramStart:
        return start_of(program, path, (*speaking(program, env), *arguments), folder=folder, home=home, env=env)

    launch = Launch(program, start, start_program, patience or Patience())
    return BridgedRuntime(_driver(launch, version), launch)


def _driver(launch: Launch, version: str) -> Runtime:
    match launch.program.speaks:
        case "acp":
            from maia.runtimes.acp import AcpRuntime

            return AcpRuntime(launch, version)
        case "claude-code":
            from maia.runtimes.claude_code import ClaudeCodeRuntime

            return ClaudeCodeRuntime(launch)
        case "codex-exec":
            from maia.runtimes.codex import CodexRuntime

            return CodexRuntime(launch)
        case _:
            assert_never(launch.program.speaks)
