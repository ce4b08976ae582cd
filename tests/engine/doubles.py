"""A scripted model, small tools and plain hands, for tests of the engine without any other room."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from maia.core.costs import Cost, Usage
from maia.core.errors import ArgumentProblem
from maia.core.events import Event, Notice, TextDelta, WireAnswer, WireEvent
from maia.core.jsonvalue import JsonObject
from maia.core.messages import AssistantMessage, TextPart, ToolCallPart
from maia.core.permission import Answer, Decision, Need, Verdict
from maia.core.ports import Hands, ToolMemory
from maia.core.reason import Reason
from maia.core.requests import ChosenBy, ModelRequest, ToolSpec
from maia.core.results import Block, ToolResult
from maia.core.submission import Attachment
from maia.engine.context import Tally, Window
from maia.engine.conversation import Conversation
from maia.engine.setup import BangOutcome, Bound, CallContext, Config, Setup
from maia.engine.views import ModelChoice
from maia.store.sessions import Sessions

Script = Iterable[WireEvent | float | BaseException]


class KeyWords:
    """Says the key with its values; the keys of `remedies` have one."""

    def __init__(self, *remedies: str) -> None:
        self._remedies = remedies

    def __call__(self, key: str, /, n: int | None = None, **values: object) -> str:
        shown = " ".join(f"{name}={value}" for name, value in sorted(values.items()))
        return f"{key} {shown}".strip() if n is None else f"{key} n={n} {shown}".strip()

    def has(self, key: str) -> bool:
        return key.removesuffix(".fix") in self._remedies


say = KeyWords("tool.argument.bad")


SOME = Usage(10, 2)
_NOTHING: Any = None


def text_answer(text: str, stop: Any = "end", usage: Usage | None = SOME, **more: Any) -> list[WireEvent]:
    deltas: list[WireEvent] = [TextDelta(text)] if text else []
    parts = (TextPart(text),) if text else ()
    return [*deltas, WireAnswer(AssistantMessage(parts, "m1", "fake"), stop, str(stop), usage, **more)]


def call_answer(*calls: ToolCallPart, text: str = "", **more: Any) -> list[WireEvent]:
    parts = ((TextPart(text),) if text else ()) + calls
    deltas: list[WireEvent] = [TextDelta(text)] if text else []
    stop = more.pop("stop", "tool_calls")
    return [*deltas, WireAnswer(AssistantMessage(parts, "m1", "fake"), stop, stop, Usage(10, 2), **more)]


def call(name: str, call_id: str = "c1", /, **arguments: Any) -> ToolCallPart:
    return ToolCallPart(call_id, name, arguments)


class FakeWire:
    """Plays one script a request; a number waits that many seconds, an exception is raised."""

    provider = "fake"

    def __init__(self, *answers: Script) -> None:
        self._answers = list(answers)
        self.requests: list[ModelRequest] = []
        self.closed = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
        self.requests.append(request)
        script = self._answers.pop(0) if self._answers else text_answer("done")
        try:
            for step in script:
                if isinstance(step, (int, float)):
                    await asyncio.sleep(step)
                elif isinstance(step, BaseException):
                    raise step
                else:
                    yield step
        finally:
            self.closed += 1


@dataclass
class FakeTool:
    """Runs `work`; its needs are `kind`, its lock key the argument `path`."""

    name: str
    work: Callable[[JsonObject, Hands], Any] | None = None
    kind: Any = "text"
    ran: list[JsonObject] = field(default_factory=list[JsonObject])

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, f"The tool {self.name}.", {"type": "object", "properties": {}})

    def parse(self, arguments: JsonObject) -> JsonObject:
        if "bad" in arguments:
            raise ArgumentProblem("tool.argument.bad", received=", ".join(arguments))
        return arguments

    def needs(self, args: JsonObject, launch: Path) -> tuple[Need, ...]:
        return () if self.kind == "none" else (Need(self.name, self.kind, str(args.get("path", ""))),)

    def preview(self, args: JsonObject) -> str:
        return str(args.get("path", ""))

    def lock_key(self, args: JsonObject, launch: Path) -> str | None:
        return args.get("path")

    async def proposal(self, args: JsonObject, hands: Hands) -> tuple[Block, ...]:
        return ()

    async def run(self, args: JsonObject, hands: Hands) -> ToolResult:
        self.ran.append(args)
        if self.work is None:
            return ToolResult(f"{self.name} ran")
        result = self.work(args, hands)
        if asyncio.iscoroutine(result):
            result = await result
        return result if isinstance(result, ToolResult) else ToolResult(str(result))


class FakeJudge:
    """Verdicts by tool name; what a person allows for the session or always is remembered."""

    def __init__(self, **verdicts: Verdict) -> None:
        self._verdicts = verdicts
        self.session: list[Need] = []
        self.saved: list[Need] = []

    def decide(self, needs: Sequence[Need]) -> Decision:
        worst = max((self._one(need) for need in needs), default=Verdict.ALLOW)
        return Decision(worst, Reason("perm.fake"))

    def _one(self, need: Need) -> Verdict:
        verdict = self._verdicts.get(need.tool, Verdict.ASK)
        if verdict is Verdict.ASK and need in self.session + self.saved:
            return Verdict.ALLOW
        return verdict

    def propose(self, need: Need) -> str | None:
        return f"{need.tool}({need.value})"

    def allow_for_session(self, needs: Sequence[Need]) -> None:
        self.session += needs

    def allow_always(self, needs: Sequence[Need]) -> str:
        self.saved += needs
        return "./.maia/settings.json"


class FakeModels:
    """One bound model, whose window is known."""

    def __init__(self, wire: FakeWire, window_after: float = 0.0) -> None:
        self._wire = wire
        self._window_after = window_after
        self.windows_asked: list[str] = []
        self.resumed = ""
        self.there = True

    async def choices(self) -> Sequence[ModelChoice]:
        return [ModelChoice("m1", "fake"), ModelChoice("m1", "other"), ModelChoice("fake/m2", "fake")]

    async def problems(self) -> Sequence[Notice]:
        return ()

    async def start(self, resumed: str) -> Bound | None:
        self.resumed = resumed
        if not self.there:
            return None
        return Bound("m1", "fake", self._wire, "default")

    async def bind(self, name: str, why: ChosenBy) -> Bound:
        return Bound(name, "fake", self._wire, why)

    async def close(self) -> None:
        pass

    def effort(self, bound: Bound, asked: Any) -> Any:
        return asked

    async def window(self, bound: Bound) -> tuple[Window, Notice]:
        self.windows_asked.append(bound.model)
        await asyncio.sleep(self._window_after)
        return Window(200_000, "setting"), Notice("info", "models.window", {})


def plain_hands(launch: Path, context: CallContext) -> Hands:
    no: Any = None  # the engine's tools under test use only what is given here
    return Hands(
        launch=launch,
        call_id=context.call_id,
        say=say,
        processes=no,
        fetcher=no,
        reads=no,
        changes=no,
        memory=ToolMemory(),
        current_model=context.model,
        emit=context.emit,
        allowed=lambda _need: Decision(Verdict.ALLOW, Reason("perm.fake")),
        saved_outputs=launch,
    )


def counting() -> Tally:
    """Counts characters, so that a test can say what it expects."""
    return Tally(
        warm=lambda: None,
        messages=lambda messages: sum(len(repr(m)) for m in messages),
        sections=lambda sections: sum(len(s.text) for s in sections),
        tools=lambda specs: sum(len(s.description) for s in specs),
    )


async def bang(command: str, emit: Callable[[str], None], _stop: asyncio.Event) -> BangOutcome:
    emit("hi\n")
    return BangOutcome(Attachment("command", command, "hi\n"), True, "hi\n", "")


def conversation(
    folder: Path,
    wire: FakeWire,
    *tools: FakeTool,
    judge: FakeJudge | None = None,
    max_iterations: int = 50,
    tally: Tally | None = None,
    **more: Any,
) -> Conversation:
    """A conversation on fakes, with real session files in `folder`."""
    config = Config(
        judge=judge or FakeJudge(**{tool.name: Verdict.ALLOW for tool in tools}),
        tools={tool.name: tool for tool in tools},
        sections=(),
        notices=(),
        rules=(),
        max_iterations=max_iterations,
        max_tool_calls=more.pop("max_tool_calls", None),
        concludes=more.pop("concludes", False),
    )
    return Conversation(
        Setup(
            launch=folder,
            say=say,
            version="0",
            models=more.pop("models", None) or FakeModels(wire, more.pop("window_after", 0.0)),
            sessions=Sessions(folder / ".maia" / ".sessions"),
            configure=lambda: config,
            hands=lambda _config, context: plain_hands(folder, context),
            undo=lambda _session: _NOTHING,
            renamed=lambda _old, _new: None,
            seen=more.pop("seen", None) or (lambda _session, _path, _digest: None),
            bang=bang,
            price=lambda _m, _p, usage, reported: Cost(reported, "reported") if reported is not None else Cost(),
            tally=tally,
            trust_needed=lambda: None,
            trust=lambda _yes: None,
            **more,
        )
    )


async def play(
    talk: Conversation,
    text: str,
    answers: Callable[[Event], Answer | None] = lambda _event: None,
    stop_at: Callable[[Event], bool] = lambda _event: False,
) -> list[Event]:
    """One turn to its end; `answers` is asked for every event that has an `approval_id`."""
    from maia.core.submission import Submission

    events: list[Event] = []
    async for event in talk.turn(Submission(text)):
        events.append(event)
        approval_id = getattr(event, "approval_id", None)
        if approval_id is not None and type(event).__name__ != "ApprovalAnswered":
            answer = answers(event)
            if answer is not None:
                talk.answer(approval_id, answer)
        if stop_at(event):
            talk.stop()
    return events
