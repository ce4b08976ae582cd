"""A conversation whose turns are answered by the scripted agent program, with or without the real wall."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maia.core.events import Event, Notice
from maia.core.requests import ChosenBy
from maia.core.runtime import ProgramStart
from maia.core.secret import Secret
from maia.engine.context import Window
from maia.engine.conversation import Conversation
from maia.engine.setup import Bound
from maia.engine.views import ModelChoice
from maia.runtimes.bridged import BridgedRuntime
from maia.runtimes.open import open_runtime
from maia.runtimes.patience import Patience
from maia.runtimes.programs import Program, Speaks
from maia.sandbox.confined import Confined
from maia.sandbox.piped import PipedPrograms
from maia.sandbox.wall import WallFound
from tests.engine.doubles import FakeJudge, FakeTool, FakeWire, conversation

AGENT = Path(__file__).with_name("fake_agent.py")
DIALECTS: tuple[Speaks, ...] = ("acp", "claude-code", "codex-exec")
KEY = "sk-fake-0123456789abcdef"


@dataclass(frozen=True)
class OpenDoor:
    """No wall at all, which only a test may have."""

    name: Any = "bubblewrap"
    network: bool = True

    def confine(self, argv: Sequence[str], cwd: Path, /) -> Confined:
        del cwd
        return Confined(argv)


class ProgramOnly:
    """The port of models where the program answers."""

    def __init__(self, runtime: BridgedRuntime) -> None:
        self._runtime = runtime

    async def choices(self) -> Sequence[ModelChoice]:
        return ()

    async def problems(self) -> Sequence[Notice]:
        return ()

    async def start(self, resumed: str) -> Bound | None:
        del resumed
        return await self.bind("default", "default")

    async def bind(self, name: str, why: ChosenBy) -> Bound:
        return Bound(name, self._runtime.name, None, why, runtime=self._runtime, bridge=self._runtime)

    async def close(self) -> None:
        await self._runtime.aclose()

    def effort(self, bound: Bound, asked: Any) -> Any:
        del bound, asked

    async def window(self, bound: Bound) -> tuple[Window, Notice]:
        del bound
        return Window(), Notice("info", "runtime.own_context", {})


def scripted(speaks: Speaks, scenario: str, **more: Any) -> Program:
    """The row of the scripted program."""
    arguments = () if speaks != "acp" else (str(AGENT), "acp", scenario)
    return Program(
        "fake", "Fake Agent", speaks, "python3", "1", arguments=arguments, key_vars=("FAKE_API_KEY",), **more
    )


def runtime(
    folder: Path, speaks: Speaks, scenario: str, *, patience: Patience | None = None, wall: Any = None, **more: Any
) -> BridgedRuntime:
    """The driver over the scripted program; a server of lent tools is started as it is."""
    programs = PipedPrograms(wall or (lambda _home: WallFound(OpenDoor())))

    async def start(given: ProgramStart) -> Any:
        is_program = speaks != "acp" and given.argv[1:2] != ("-I",)
        argv = given.argv if not is_program else (given.argv[0], str(AGENT), speaks, scenario, *given.argv[1:])
        return await programs.start(
            ProgramStart(argv, given.folder, given.home, given.env, {**given.secrets, "FAKE_API_KEY": Secret(KEY)})
        )

    return open_runtime(
        scripted(speaks, scenario, **more),
        Path(sys.executable),
        start,
        folder=folder,
        home=folder / "agent-home",
        env={"PATH": "/usr/bin:/bin", "FAKE_API_KEY": KEY, "OTHER_API_KEY": "sk-other"},
        version="0",
        patience=patience or Patience(start=20, idle=20, tool=20, cancel=0.3),
    )


def talk(
    folder: Path, program: BridgedRuntime, judge: FakeJudge | None = None, *tools: FakeTool, **more: Any
) -> Conversation:
    """A conversation that the program answers; it is lent the tools."""
    return conversation(folder, FakeWire(), *tools, judge=judge or FakeJudge(), models=ProgramOnly(program), **more)


async def opened(conversation: Conversation) -> Conversation:
    async for _ in conversation.open():
        pass
    return conversation


def names(events: Sequence[Event]) -> list[str]:
    """The types of the events, deltas and measures left out: how a program cuts its text is its own business."""
    passed = ("TextDelta", "ReasoningDelta", "ContextMeasured", "Notice", "RetryScheduled", "ToolOutput")
    return [name for event in events if (name := type(event).__name__) not in passed]
