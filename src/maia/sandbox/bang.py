"""What a person's `!command` runs: no rules, no sandbox, two minutes, and its result as context (T4.01)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from maia.core.ports import ProcessEnd, Say
from maia.core.submission import Attachment
from maia.core.text import visible
from maia.sandbox.environment import is_withheld
from maia.sandbox.process import Job, LocalProcesses, shell_words

SECONDS: Final = 120.0
MAX_CHARS: Final = 30_000
_SHORTEST_SECRET: Final = 8


@dataclass(frozen=True, slots=True)
class BangEnd:
    """How it ended, and what goes with the next request.

    `shown` is what the person sees of the output. `state` is how it ended, without brackets; empty when it simply ended
    well. The attachment holds both, for the model.
    """

    end: ProcessEnd
    attachment: Attachment
    shown: str
    state: str


def command_of(typed: str) -> str:
    """The command of what follows `!`: as it is, or without the quotes of `!'command with parameters'`."""
    text = typed.strip()
    inner = text[1:-1]
    if len(text) > 2 and text[0] == text[-1] == "'" and "'" not in inner.replace("\\'", ""):
        return inner.replace("\\'", "'").strip()
    return text


async def run_bang(
    typed: str,
    *,
    processes: LocalProcesses,
    cwd: Path,
    say: Say,
    on_output: Callable[[str], None],
    stop: asyncio.Event,
    environment: Mapping[str, str] = os.environ,
) -> BangEnd:
    """Run what a person typed after `!`. `stop` (Ctrl+C) ends it and keeps what it printed.

    It gets the whole environment, as in the person's own shell; keys that would be withheld from the agent are masked
    in what the model reads. What it leaves in the background goes on.
    """
    command = command_of(typed)
    job = Job(
        shell_words(command),
        cwd,
        SECONDS,
        MAX_CHARS,
        on_output,
        sandboxed=False,
        stop=stop,
        keep=True,
        save=False,
        secrets_too=True,
    )
    end = await processes.run(job)
    failed = end.state != "exited" or end.exit_code != 0
    state = _state(end, say)
    text = _masked(visible(end.output.rstrip("\n")), environment)
    notes = [text, say("bang.left_running", n=end.leftovers) if end.leftovers else ""]
    shown = "\n".join(note for note in notes if note)
    cut_chars = max(0, end.total_chars - MAX_CHARS)
    attachment = Attachment("command", command, f"{shown}\n[{state}]".lstrip("\n"), cut_chars)
    return BangEnd(end, attachment, shown, state if failed else "")


def _state(end: ProcessEnd, say: Say) -> str:
    match end.state:
        case "timed_out":
            return say("bang.timed_out", seconds=f"{SECONDS:g}")
        case "interrupted":
            return say("bang.interrupted")
        case "not_started":
            return say("bang.not_started", problem=visible(end.problem))
        case "exited":
            return say("tool.exit_unknown") if end.exit_code is None else say("tool.exit_code", code=end.exit_code)


def _masked(text: str, environment: Mapping[str, str]) -> str:
    for name, value in environment.items():
        if is_withheld(name) and len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, f"[{name}]")
    return text
