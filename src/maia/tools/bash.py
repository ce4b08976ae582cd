"""The Bash tool: one shell command, with its output and how it ended (T5.03)."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from maia.core.errors import ArgumentProblem
from maia.core.jsonvalue import JsonObject
from maia.core.permission import Need
from maia.core.ports import Hands, ProcessEnd, Say
from maia.core.requests import ToolSpec
from maia.core.results import Block, ToolResult
from maia.core.text import visible
from maia.tools.arguments import Parameter, Parameters, received_parameters
from maia.tools.prompt import load_spec

DEFAULT_TIMEOUT: Final = 120
MAX_TIMEOUT: Final = 600
MAX_CHARS: Final = 30_000
"""Code points of output that the model gets; the middle of a longer one is in a file."""

PARAMETERS: Final = Parameters(
    (
        Parameter("command", "string", required=True, aliases=("cmd", "script", "shell_command", "bash_command")),
        Parameter(
            "timeout",
            "number",
            "seconds, default 120, at most 600",
            aliases=("timeout_seconds", "timeout_ms"),
            minimum=0,
        ),
        Parameter("description", "string", "what it does, in a few words"),
    )
)

_TELLING_SIGNALS: Final = frozenset(
    {"SIGABRT", "SIGBUS", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGKILL", "SIGPIPE", "SIGSEGV", "SIGTERM", "SIGTRAP"}
)
_BINARY_SHARE: Final = 0.1


@dataclass(frozen=True, slots=True)
class BashArgs:
    """`timeout` is in seconds."""

    command: str
    timeout: float
    description: str


class BashTool:
    """Runs a command line in the launch folder, in the sandbox where there is one."""

    @property
    def spec(self) -> ToolSpec:
        return load_spec("Bash", PARAMETERS)

    def parse(self, arguments: JsonObject) -> BashArgs:
        values = PARAMETERS.read(arguments)
        if not values["command"].strip():
            raise ArgumentProblem("tool.argument.missing", name="command", received=received_parameters(arguments))
        return BashArgs(values["command"], _seconds(values["timeout"]), values["description"] or "")

    def needs(self, args: BashArgs, launch: Path) -> tuple[Need, ...]:
        return (Need("Bash", "command", args.command),)

    def preview(self, args: BashArgs) -> str:
        return visible(args.command.strip()).replace("\n", " ⏎ ")

    def lock_key(self, args: BashArgs, launch: Path) -> str | None:
        return None

    async def proposal(self, args: BashArgs, hands: Hands) -> tuple[Block, ...]:
        return ()

    async def run(self, args: BashArgs, hands: Hands) -> ToolResult:
        end = await hands.processes.shell(
            args.command, cwd=hands.launch, timeout=args.timeout, max_chars=MAX_CHARS, on_output=hands.emit
        )
        state = state_line(end, args.timeout, hands.say)
        return ToolResult(
            text=f"{_output_text(end, hands.say)}\n[{state}]",
            is_error=end.state != "exited" or end.exit_code != 0,
            summary="" if end.exit_code == 0 else state,
            data={
                "state": end.state,
                "exitCode": end.exit_code,
                "totalChars": end.total_chars,
                "saved": str(end.saved) if end.saved else None,
            },
        )


def _seconds(asked: float | None) -> float:
    """Within the limits. Models that were taught milliseconds send a thousand or more."""
    if asked is None:
        return DEFAULT_TIMEOUT
    return min(MAX_TIMEOUT, max(1.0, asked / 1000 if asked >= 1000 else asked))


def state_line(end: ProcessEnd, timeout: float, say: Say) -> str:
    """How a command ended, in a few words and without brackets: the exit code, or the state (T5.03)."""
    match end.state:
        case "timed_out":
            return say("tool.bash.timed_out", seconds=f"{timeout:g}")
        case "interrupted":
            return say("tool.bash.interrupted")
        case "not_started":
            return say("tool.bash.not_started", problem=visible(end.problem))
        case "exited":
            return say("tool.exit_unknown") if end.exit_code is None else _exit_line(end.exit_code, say)


def _exit_line(code: int, say: Say) -> str:
    try:
        name = signal.Signals(code - 128).name
    except ValueError:
        name = ""
    if name in _TELLING_SIGNALS:
        return say("tool.exit_signal", code=code, signal=name)
    return say("tool.exit_code", code=code)


def _output_text(end: ProcessEnd, say: Say) -> str:
    """The output for the model, with what it should know about it."""
    lines = [_printed(end, say)]
    if end.saved is not None:
        lines.append(say("tool.bash.saved", path=end.saved, n=end.total_chars))
    if end.leftovers:
        lines.append(say("tool.bash.leftovers", n=end.leftovers))
    if end.hint is not None:
        lines.append(say(end.hint.key, **end.hint.values))
    return "\n".join(line for line in lines if line)


def _printed(end: ProcessEnd, say: Say) -> str:
    output = end.output
    if not output.strip():
        return "" if end.state == "not_started" else say("tool.bash.no_output")
    strange = sum(1 for char in output if char == "\ufffd" or (char < " " and char not in "\t\n"))
    if strange > _BINARY_SHARE * len(output):
        return say("tool.bash.binary", n=end.total_chars)
    return visible(output.rstrip("\n"))
