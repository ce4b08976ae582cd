"""One turn that an external agent program answers: the same events as our own loop, the same rules, the same asker."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from maia.core.costs import Cost
from maia.core.endings import Failure
from maia.core.events import (
    Answered,
    Event,
    LimitReached,
    Notice,
    ReasoningDelta,
    StepStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutput,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from maia.core.jsonvalue import JsonObject
from maia.core.messages import AssistantMessage, AssistantPart, ToolCallPart
from maia.core.permission import Verdict
from maia.core.reason import Reason
from maia.core.results import NO_FAILURE, Block, ToolResult, ToolStatus
from maia.core.runtime import (
    Bridge,
    Permit,
    ProgramCall,
    ProgramEnd,
    ProgramEvent,
    ProgramResult,
    ProgramTask,
    Runtime,
)
from maia.core.text import cut_middle
from maia.core.tool import AnyTool
from maia.engine.asked import AskedTool, is_same, of_a_part
from maia.engine.gate import Gate, Refusal, refusal
from maia.engine.lending import told
from maia.engine.limits import CallBudget, StepLimit
from maia.engine.programfiles import Before, before, changes_files, record
from maia.engine.schedule import INTERRUPTED, MAX_AT_ONCE, SKIPPED, HandsFor, Scheduler
from maia.engine.toolset import ALL, NOT_OFFERED, Toolset
from maia.engine.turn import Emit, Price, Shown

_KEPT_CHARS = 30_000


@dataclass(frozen=True, slots=True)
class OutsidePorts:
    """What such a turn works with. `model` is as shown, `tools` are lent to the program over the `bridge`."""

    runtime: Runtime
    model: str
    task: ProgramTask
    gate: Gate
    hands_for: HandsFor
    price: Price
    emit: Emit
    steps: StepLimit
    budget: CallBudget
    toolset: Toolset = ALL
    tools: Mapping[str, AnyTool] = field(default_factory=dict[str, AnyTool])
    bridge: Bridge | None = None


async def run_outside(ports: OutsidePorts, turn: int, said: UserSaid) -> TurnEnded:
    """Run one turn to its end and return its last event, which was emitted like all the others. It raises nothing.

    Cancelling stops it: what was written is kept, and every open call gets a result.
    """
    began = time.monotonic()
    asked_before = ports.gate.approvals.asked
    name = ports.runtime.name
    ports.emit(TurnStarted(turn, ports.model, name))
    ports.emit(said)
    desk = _Desk(ports)
    end = await desk.work()
    usage_cost = ports.price(end.model or ports.model, name, end.usage, end.cost_usd)
    desk.close(end, usage_cost)
    ended = TurnEnded(
        outcome=end.outcome,
        stop=end.stop,
        raw_stop=end.raw_stop,
        usage=end.usage,
        cost=usage_cost,
        model=end.model or ports.model,
        provider=name,
        steps=desk.steps,
        tool_calls=desk.calls,
        approvals=ports.gate.approvals.asked - asked_before,
        duration=round(time.monotonic() - began, 3),
        failure=end.failure,
    )
    ports.emit(ended)
    return ended


@dataclass(slots=True)
class _Row:
    """A call that has no result yet. `began` is None until it runs."""

    asked: ProgramCall
    began: float | None = None
    files: tuple[Before, ...] = ()
    was_asked: bool = False
    printed: list[str] = field(default_factory=list[str])


class _Desk:
    """Puts what a program tells into the order of our steps.

    The calls that overlap, and the text between them, are one step with several `Answered`.
    """

    def __init__(self, ports: OutsidePorts) -> None:
        self._p = ports
        self._shown = Shown()
        self._rows: dict[str, _Row] = {}
        self._over: set[str] = set()
        self._in_step = False
        self._running: asyncio.Task[ProgramEnd] | None = None
        self._bound: ProgramEnd | None = None
        self._going_on: asyncio.Task[None] | None = None
        self._told_no_undo = False
        self._slots = asyncio.Semaphore(MAX_AT_ONCE)
        self.steps = 0
        self.calls = 0

    async def work(self) -> ProgramEnd:
        """Let the program work. One that reaches a limit is stopped, one that does what a rule denies is ended."""
        self._running = asyncio.create_task(self._turn())
        try:
            return await self._running
        except asyncio.CancelledError:
            if self._bound is None:
                return ProgramEnd("stopped")
        except Exception as error:  # a defect of a driver must not lose what was said
            return ProgramEnd("failed", failure=Failure("other", self._p.runtime.name, provider_text=repr(error)))
        finally:
            await self._withdraw()
        if self._bound.failure is not None:
            await self._p.runtime.aclose()
        return self._bound

    async def _turn(self) -> ProgramEnd:
        """The program's turn, with the tools that reach it."""
        task, tools = self._p.task, told(self._p.tools)
        if tools and self._p.bridge is not None and await self._p.bridge.open(tools):
            task = replace(task, tools=tools)
        return await self._p.runtime.turn(task, self)

    # The port `Desk`

    def tell(self, event: ProgramEvent) -> None:
        match event:
            case TextDelta() | ReasoningDelta():
                self._step()
                self._shown.add(event)
                self._p.emit(event)
            case ProgramCall():
                self._runs_unasked(event)
            case ToolOutput():
                if (row := self._rows.get(event.call_id)) is not None and row.began is not None:
                    row.printed.append(event.text)
                    self._p.emit(event)
            case ProgramResult():
                status: ToolStatus = "succeeded" if event.succeeded else "failed"
                self._finish(event.call_id, status, event.text, event.blocks)
            case _:
                self._p.emit(event)

    async def permit(self, call: ProgramCall) -> Permit:
        call_id = call.call.call_id
        if (row := self._rows.get(call_id)) is not None and row.was_asked and is_same(row.asked, call):
            return Permit(True)  # it asks a second time about a call that may run
        if call_id in self._over:
            return Permit(False, self._p.gate.say("turn.call_over", tool=call.call.name))
        self._announce(call)
        if self._p.toolset.withholds(call.call.name):
            withheld = self._not_offered(call)
            self._refuse(call_id, withheld)
            return Permit(False, withheld.text)
        if self._going_on is not None:
            await asyncio.wait({self._going_on})
        if not self._p.budget.take():
            spent = refusal(self._p.gate.say, Reason("turn.tool_budget", {"limit": self._p.budget.size}), "skipped")
            self._refuse(call_id, spent)
            self._stop(ProgramEnd("tool_budget"))
            return Permit(False, spent.text)
        gate = self._p.gate if call.is_whole else of_a_part(self._p.gate)
        hands = self._p.hands_for(call_id, lambda _text: None)
        refused = await gate.pass_or_refuse(call.call, AskedTool(call), None, hands)
        if refused is not None:
            self._refuse(call_id, refused)
            return Permit(False, refused.text)
        if (row := self._rows.get(call_id)) is None:  # it told the end of the call while a person was asked
            return Permit(False, self._p.gate.say("turn.call_over", tool=call.call.name))
        row.was_asked, row.files = True, await asyncio.to_thread(before, call, self._p.task.folder)
        self._start(call_id)
        return Permit(True)

    async def use(self, name: str, arguments: JsonObject, own: str = "") -> ToolResult:
        tool = self._p.tools.get(name)
        call = ToolCallPart(f"maia-{secrets.token_hex(4)}", tool.spec.name if tool else name, arguments)
        self._announce(ProgramCall(call, (), own=own))
        if self._going_on is not None:
            await asyncio.wait({self._going_on})
        ends: list[ToolCallFinished] = []

        def emit(event: Event) -> None:
            if isinstance(event, ToolCallFinished):
                ends.append(event)
                self._end(event)
            else:
                self._p.emit(event)

        tools = {tool.spec.name: tool} if tool else {}
        gate = replace(self._p.gate, emit=emit)
        port = self._p
        await Scheduler(tools, gate, port.hands_for, gate.say, emit, self._slots, port.budget, port.toolset).run([call])
        if ends[0].status == "skipped" and port.budget.spent:
            self._stop(ProgramEnd("tool_budget"))
        return ToolResult(ends[0].text, ends[0].status not in NO_FAILURE)

    # Inside

    def _runs_unasked(self, call: ProgramCall) -> None:
        if call.call.call_id in self._over:
            return
        is_asked = call.call.call_id in self._rows
        self._announce(call)
        is_denied = self._p.gate.judge.decide(call.needs).verdict is Verdict.DENY
        if (is_denied or self._p.toolset.withholds(call.call.name)) and self._bound is None:
            values = {"program": self._p.runtime.name, "tool": call.call.name, "call": call.preview}
            self._p.emit(Notice("fail", "runtime.denied_call", values))
            self._stop(ProgramEnd("failed", failure=Failure("rejected", self._p.runtime.name, code="denied_call")))
        if not is_asked and not self._p.budget.take():
            self._stop(ProgramEnd("tool_budget"))
        self._start(call.call.call_id)

    def _not_offered(self, call: ProgramCall) -> Refusal:
        known = ", ".join(sorted(self._p.toolset.names or ())) or "–"
        words = Reason(NOT_OFFERED.key, {"tool": call.call.name, "known": known})
        return refusal(self._p.gate.say, words, reason=NOT_OFFERED)

    def _stop(self, end: ProgramEnd) -> None:
        """End the turn so; the first reason counts."""
        if self._bound is None and self._running is not None:
            self._bound = end
            self._running.cancel()

    def _step(self) -> None:
        """A program cannot be held between two steps: while a person is asked whether it may go on, it does."""
        if self._in_step:
            return
        self._in_step = True
        self.steps += 1
        self._p.emit(StepStarted(self.steps))
        if self.calls and self._p.budget.spent:
            self._stop(ProgramEnd("tool_budget"))
        elif self._p.steps.reached(self.steps - 1) and self._going_on is None and self._bound is None:
            self._going_on = asyncio.create_task(self._goes_on())

    async def _withdraw(self) -> None:
        """A question that is still open when the turn is over needs no answer any more."""
        if self._going_on is not None:
            self._going_on.cancel()
            await asyncio.wait({self._going_on})

    async def _goes_on(self) -> None:
        approvals = self._p.gate.approvals
        question = LimitReached(approvals.new_id(), "turns", self._p.steps.granted)
        answered = await approvals.ask(question, self._p.emit)
        self._going_on = None
        if answered.answer.scope == "no":
            self._stop(ProgramEnd("turn_limit"))
        else:
            self._p.steps.extend()

    def _announce(self, call: ProgramCall) -> None:
        """The model's answer up to this call: what it said, and the call."""
        call_id = call.call.call_id
        if call_id in self._rows or call_id in self._over:
            return
        self._step()
        self.calls += 1
        self._rows[call_id] = _Row(call)
        self._answered((*self._shown.parts(), call.call))

    def _answered(self, parts: tuple[AssistantPart, ...]) -> None:
        self._shown = Shown()
        message = AssistantMessage(parts, self._p.model, self._p.runtime.name)
        self._p.emit(Answered(message, "tool_calls", "", None, Cost(), is_booked_later=True))

    def _start(self, call_id: str) -> None:
        row = self._rows.get(call_id)
        if row is not None and row.began is None:
            row.began = time.monotonic()
            call = row.asked.call
            self._p.emit(ToolCallStarted(call_id, call.name, call.arguments, row.asked.preview))

    def _refuse(self, call_id: str, refused: Refusal) -> None:
        self._finish(call_id, refused.status, refused.text, (), refused)

    def _finish(
        self,
        call_id: str,
        status: ToolStatus,
        text: str,
        blocks: tuple[Block, ...],
        refused: Refusal | None = None,
    ) -> None:
        row = self._rows.get(call_id)
        if row is None:
            return
        duration = 0.0 if row.began is None else round(time.monotonic() - row.began, 3)
        shown = cut_middle(text, _KEPT_CHARS).text
        name = row.asked.call.name
        why = refused or Refusal(shown)
        ended = ToolCallFinished(call_id, name, status, shown, "", blocks, why.data, duration, why.reason, why.words)
        self._end(ended)

    def _end(self, event: ToolCallFinished) -> None:
        """A call is over; the step is, too, when it was the last one."""
        row = self._rows.pop(event.call_id)
        if not self._rows and (parts := self._shown.parts()):
            self._answered(parts)
        self._over.add(event.call_id)
        self._recorded(event.call_id, row)
        self._in_step = bool(self._rows)
        own = {"ownName": row.asked.own} if row.asked.own else {}
        self._p.emit(replace(event, data={**event.data, **own}))

    def _recorded(self, call_id: str, row: _Row) -> None:
        """Keep what the call changed for `/undo`; of a program that did not ask, nobody knows what was there before."""
        if row.files:
            record(self._p.hands_for(call_id, lambda _text: None).changes, call_id, row.files)
        elif row.began is not None and not row.was_asked and changes_files(row.asked) and not self._told_no_undo:
            self._told_no_undo = True
            self._p.emit(Notice("info", "runtime.no_undo", {"program": self._p.runtime.name}))

    def close(self, end: ProgramEnd, cost: Cost) -> None:
        """End what is open, and say what the turn used."""
        for call_id, row in tuple(self._rows.items()):
            status: ToolStatus = "skipped" if row.began is None else "unknown"
            state = refusal(self._p.gate.say, SKIPPED if row.began is None else INTERRUPTED, status)
            printed = cut_middle("".join(row.printed), _KEPT_CHARS).text.rstrip()
            self._finish(call_id, status, f"{printed}\n{state.text}".lstrip(), (), state)
        parts = self._shown.parts()
        if not parts and end.usage is None and end.cost_usd is None:
            return
        self._step()
        message = AssistantMessage(parts, end.model or self._p.model, self._p.runtime.name)
        is_cut = end.outcome in ("stopped", "failed")
        self._p.emit(Answered(message, end.stop, end.raw_stop, end.usage, cost, partial=is_cut))
