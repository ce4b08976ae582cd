"""The loop of one turn: ask the model, stream, run its calls, ask again, until it is done or something bounds it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from maia.core.costs import Cost, Usage, add_costs
from maia.core.endings import Failure, Outcome, StopReason, defect
from maia.core.events import (
    Answered,
    BrokenCall,
    ContextMeasured,
    Event,
    LimitReached,
    Notice,
    ReasoningDelta,
    Reminded,
    RetryScheduled,
    StepStarted,
    TextDelta,
    ToolCallDrafted,
    TurnEnded,
    TurnStarted,
    UserSaid,
    WireAnswer,
    WireFailed,
)
from maia.core.messages import AssistantMessage, AssistantPart, ReasoningPart, TextPart, ToolCallPart
from maia.core.ports import Wire
from maia.core.requests import ModelRequest
from maia.engine.approvals import Approvals
from maia.engine.circles import Circles, words_alone
from maia.engine.limits import BROKEN_ANSWERS, SilentCut, StepLimit
from maia.engine.schedule import Scheduler

STEPS_SPENT: Final = (
    "Your steps are spent, and tools are no longer there. Answer now with what you have: what was done and found, what "
    "is missing, and what you could not check."
)

LONGEST_ANSWER: Final = 4_000_000
"""Characters of one answer, many times what any model writes: beyond it a server floods us, and is cut off."""
ENDLESS: Final = "endless"
"""The code of the failure of an answer that did not stop."""

Emit = Callable[[Event], None]
Price = Callable[[str, str, Usage | None, float | None], Cost]
"""(model, provider, usage, reported USD) → cost with its source."""


@dataclass(frozen=True, slots=True)
class TurnPorts:
    """What one turn works with. `request` assembles anew each step; `measure` is None where nobody counts.

    With `concludes` the end of the steps is no question: one more call asks for the conclusion (T7.05). Of a model that
    `takes_tools` not, every call is refused, and its text ends the turn (N-01.15).
    """

    wire: Wire
    model: str
    request: Callable[[], ModelRequest]
    scheduler: Scheduler
    approvals: Approvals
    steps: StepLimit
    price: Price
    emit: Emit
    measure: Callable[[], ContextMeasured | None] | None = None
    cut: SilentCut = field(default_factory=SilentCut)
    concludes: bool = False
    takes_tools: bool = True


@dataclass(frozen=True, slots=True)
class _End:
    outcome: Outcome
    failure: Failure | None = None


@dataclass(slots=True)
class _Sums:
    """What the turn has used so far."""

    began: float = field(default_factory=time.monotonic)
    steps: int = 0
    calls: int = 0
    broken: int = 0
    stop: StopReason = "unknown"
    raw_stop: str = ""
    usage: Usage | None = None
    costs: list[Cost] = field(default_factory=list[Cost])
    model: str = ""
    provider: str = ""

    def cost(self) -> Cost:
        return add_costs(self.costs)


async def run_turn(ports: TurnPorts, turn: int, said: UserSaid) -> TurnEnded:
    """Run one turn to its end and return its last event, which was emitted like all the others.

    Cancelling stops it: what was written is kept, every open call gets a result, and the outcome is `stopped`. It
    raises nothing.
    """
    sums = _Sums(model=ports.model, provider=ports.wire.provider)
    asked_before = ports.approvals.asked
    ports.emit(TurnStarted(turn, ports.model, ports.wire.provider))
    ports.emit(said)
    try:
        end = await _Turn(ports, sums).steps()
    except asyncio.CancelledError:
        end = _End("stopped")
    except Exception as error:  # of ours: a turn must not stay open for that
        end = _End("failed", defect(error))
    ended = TurnEnded(
        outcome=end.outcome,
        stop=sums.stop,
        raw_stop=sums.raw_stop,
        usage=sums.usage,
        cost=sums.cost(),
        model=sums.model,
        provider=sums.provider,
        steps=sums.steps,
        tool_calls=sums.calls,
        approvals=ports.approvals.asked - asked_before,
        duration=round(time.monotonic() - sums.began, 3),
        failure=end.failure,
    )
    ports.emit(ended)
    return ended


class _Turn:
    def __init__(self, ports: TurnPorts, sums: _Sums) -> None:
        self._p = ports
        self._sums = sums
        self._circles = Circles()
        self._counted = 0
        self._is_last = False

    async def steps(self) -> _End:
        while True:
            answer = await self._ask()
            if isinstance(answer, WireFailed):
                return _End("failed", answer.failure)
            end = await self._follow(answer)
            if end is not None:
                return end
            self._measure()
            if self._p.steps.reached(self._sums.steps):
                if self._p.concludes:
                    return await self._conclude()
                if not await self._goes_on():
                    return _End("turn_limit")

    async def _conclude(self) -> _End:
        """The steps are spent without a conclusion: ask for it, in words alone (T7.05)."""
        self._p.emit(Reminded(STEPS_SPENT))
        self._is_last = True
        answer = await self._ask()
        return _End("failed", answer.failure) if isinstance(answer, WireFailed) else _End("turn_limit")

    async def _ask(self) -> WireAnswer | WireFailed:
        """One round trip. Whatever ends it, text that was shown is kept as an `Answered`."""
        self._sums.steps += 1
        self._p.emit(StepStarted(self._sums.steps))
        self._measure()
        shown = Shown()
        try:
            end = await self._stream(shown)
        except asyncio.CancelledError:
            self._keep(WireFailed(Failure("cancelled"), AssistantMessage(shown.parts())))
            raise
        except Exception as error:  # a defect of a wire must not lose what was said
            end = WireFailed(defect(error), AssistantMessage(shown.parts()))
        if isinstance(end, WireFailed):
            self._keep(end)
        else:
            self._take(end)
            self._measure()
        return end

    async def _stream(self, shown: Shown) -> WireAnswer | WireFailed:
        end: WireAnswer | WireFailed | None = None
        request = self._p.request()
        if self._circles.closed or self._is_last:
            request = words_alone(request)
        stream = self._p.wire.stream(request)
        try:
            async for event in stream:
                match event:
                    case TextDelta() | ReasoningDelta():
                        event = shown.add(event)
                        self._p.emit(event)
                        if shown.is_full:
                            return WireFailed(Failure("incomplete", code=ENDLESS), AssistantMessage(shown.parts()))
                    case ToolCallDrafted() | RetryScheduled() | Notice():
                        self._p.emit(event)
                    case WireAnswer() | WireFailed():
                        end = event
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()  # closes the connection at once when the turn is stopped
        return end or WireFailed(Failure("incomplete"), AssistantMessage(shown.parts()))

    def _keep(self, failed: WireFailed) -> None:
        """A stopped or failed answer: its text stays, without calls, which nobody will run."""
        parts = tuple(part for part in failed.partial.parts if not isinstance(part, ToolCallPart))
        cost = self._book(failed.usage, None)
        if parts or failed.usage is not None:
            message = AssistantMessage(parts, self._sums.model, self._sums.provider)
            self._p.emit(Answered(message, "unknown", "", failed.usage, cost, partial=True))

    def _take(self, answer: WireAnswer) -> None:
        self._sums.stop, self._sums.raw_stop = answer.stop, answer.raw_stop
        self._sums.model = answer.message.model or self._sums.model
        self._sums.provider = answer.message.provider or self._sums.provider
        cost = self._book(answer.usage, answer.cost_usd)
        self._p.emit(Answered(answer.message, answer.stop, answer.raw_stop, answer.usage, cost))
        read = answer.usage.prompt if answer.usage is not None else 0
        if self._p.cut.note(self._p.model, self._counted, read):
            self._p.emit(Notice("warn", "turn.prompt_cut", {"read": read, "sent": self._counted}))

    def _book(self, usage: Usage | None, reported: float | None) -> Cost:
        cost = self._p.price(self._sums.model, self._sums.provider, usage, reported)
        if usage is not None:
            self._sums.usage = usage if self._sums.usage is None else self._sums.usage + usage
        if usage is not None or reported is not None:
            self._sums.costs.append(cost)
        return cost

    async def _follow(self, answer: WireAnswer) -> _End | None:
        """What comes after a whole answer: its calls and another step (None), or the end of the turn."""
        calls = tuple(part for part in answer.message.parts if isinstance(part, ToolCallPart))
        if answer.likely_cut or (answer.stop == "length" and (calls or answer.broken)):
            self._p.emit(Notice("warn", "turn.answer_cut", {"stop": answer.raw_stop or answer.stop}))
        if calls:
            await self._run(calls)
        if answer.broken:
            return self._remind(answer.broken, ran=bool(calls))
        if calls and self._p.takes_tools:
            return _End("tool_budget") if self._p.scheduler.budget.spent else None
        return self._finished(answer)

    async def _run(self, calls: tuple[ToolCallPart, ...]) -> None:
        self._sums.calls += len(calls)
        self._sums.broken = 0
        await self._p.scheduler.run(calls)
        if self._circles.note(self._p.request().messages):
            self._p.emit(Notice("info", "turn.circles"))

    def _remind(self, broken: Sequence[BrokenCall], *, ran: bool) -> _End | None:
        """Tell the model which calls arrived cut; give up when nothing else comes any more (T5.09)."""
        self._sums.broken = 0 if ran else self._sums.broken + 1
        for call in broken:
            values = {"tool": call.name, "chars": call.received_chars}
            self._p.emit(Notice("warn", "turn.call_cut", values))
        if self._sums.broken >= BROKEN_ANSWERS:
            return _End("output_limit")
        self._p.emit(Reminded("\n".join(cut_call_reminder(call) for call in broken)))
        return None

    def _finished(self, answer: WireAnswer) -> _End:
        match answer.stop:
            case "length":
                return _End("output_limit")
            case "refusal":
                return _End("refused")
            case "context_full":
                return _End("failed", Failure("too_long", code=answer.raw_stop))
            case _:
                if not any(isinstance(part, TextPart) and part.text.strip() for part in answer.message.parts):
                    self._p.emit(Notice("warn", "turn.empty_answer"))
                return _End("finished")

    async def _goes_on(self) -> bool:
        question = LimitReached(self._p.approvals.new_id(), "turns", self._p.steps.granted)
        answered = await self._p.approvals.ask(question, self._p.emit)
        if answered.answer.scope == "no":
            return False
        self._p.steps.extend()
        return True

    def _measure(self) -> None:
        if self._p.measure is not None and (measured := self._p.measure()) is not None:
            self._counted = measured.tokens
            self._p.emit(measured)


class Shown:
    """What a person has seen of an answer that is still coming."""

    def __init__(self) -> None:
        self._deltas: list[TextDelta | ReasoningDelta] = []
        self._room = LONGEST_ANSWER

    @property
    def is_full(self) -> bool:
        """Whether the model floods us."""
        return self._room <= 0

    def add(self, delta: TextDelta | ReasoningDelta) -> TextDelta | ReasoningDelta:
        """Take a piece in; what there is room for of it."""
        if len(delta.text) > self._room:
            delta = replace(delta, text=delta.text[: self._room])
        self._room -= len(delta.text)
        self._deltas.append(delta)
        return delta

    def parts(self) -> tuple[AssistantPart, ...]:
        text = "".join(delta.text for delta in self._deltas if isinstance(delta, TextDelta))
        thought = "".join(delta.text for delta in self._deltas if isinstance(delta, ReasoningDelta))
        parts: list[AssistantPart] = [ReasoningPart(thought)] if thought else []
        return (*parts, TextPart(text)) if text else tuple(parts)


def cut_call_reminder(call: BrokenCall) -> str:
    """What the model is told about a call that arrived cut: never executed, and how to get it through."""
    head = f" Its arguments began: {call.head}" if call.head else ""
    return (
        f"Your call of {call.name or 'a tool'} was cut after {call.received_chars} characters of arguments and was not "
        f"executed.{head} Make the call again with less in it: write long content in several pieces."
    )
