"""One turn on its way: the engine's events go into the log, and its end into the row of the answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection

from maia.core.costs import Cost
from maia.core.endings import Failure, defect
from maia.core.errors import MaiaError
from maia.core.events import (
    Answered,
    ApprovalRequested,
    CallQueued,
    ContextMeasured,
    Event,
    LimitReached,
    Notice,
    StepStarted,
    ToolCallFinished,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from maia.core.permission import Answer
from maia.core.requests import Section
from maia.core.submission import Submission
from maia.core.tool import AnyTool
from maia.database import approvals, compositions, conversations, late, messages
from maia.database.events import forget_progress
from maia.database.late import AwaitedBy, WaitsFor
from maia.engine.answering import SYSTEM_OVERRIDE, Answering, said_next
from maia.engine.approvals import Approvals
from maia.engine.lending import lent, told
from maia.engine.limits import SilentCut
from maia.engine.masking import Masking
from maia.engine.setup import Bound, Config
from maia.engine.sizing import sized
from maia.engine.transcript import Transcript
from maia.workspace.ahead import Ahead
from maia.workspace.approvals import Queue, Settled
from maia.workspace.autonomy.resuming import Task
from maia.workspace.autonomy.watch import Ruling, Watch
from maia.workspace.bench import WorkBench
from maia.workspace.choosing import Chosen
from maia.workspace.composition import Tape, is_measured
from maia.workspace.delegating.late import note_end
from maia.workspace.delegating.upward import Upward
from maia.workspace.log import Along, TurnLog
from maia.workspace.meta import TurnSums, as_stored
from maia.workspace.models.budgets import Purse
from maia.workspace.remembering.briefing import Briefing

STORAGE_REFUSED = Failure("other", code="storage")
"""Why a turn ends whose events could not be stored."""


REPORTS_STEPS: Final = ("claude-code",)
"""Programs that tell each of their steps; of others only calls of tools are known while they work (R-2.249)."""


class Prepared(NamedTuple):
    """What a turn needs that neither its message nor its place in the log decides."""

    config: Config
    briefing: Briefing


async def prepared(bench: WorkBench, brief: Callable[[], Awaitable[Briefing]], ahead: Ahead) -> Prepared:
    """Read it all, while the message is being stored."""
    briefing = await brief()
    return Prepared(await ahead.config(bench), briefing)


@dataclass(slots=True)
class RunningTurn:
    """`why_stopped` says why the turn was stopped where no person did it; `by` who asked where that was no person.

    A turn that is not `attended` waits when a call waits for a person: it ends, and another one goes on from it, which
    `resumes` it. `done` are the calls that it need not make again, `task` is what was asked for.
    `system` is told in place of all sections. `tree` is the conversation above all that delegated this one, itself
    where nobody did. `awaited_by` says whether the turn that gave the task waits for this one, `waits` what is needed
    of a person before there is a result, `is_late` that this one was owed. `read` is stored with the message: the
    results that it brings along are owed until then, so that a server that is killed before loses none. `agent` is what
    the agent is called that answers, empty where none does.
    """

    conversation: str
    number: int
    bench: WorkBench
    chosen: Chosen
    transcript: Transcript
    log: TurnLog
    why_stopped: Callable[[], Failure | None]
    bound: Bound
    masking: Masking
    queue: Queue
    watch: Watch
    tape: Tape
    purse: Purse
    preparing: Awaitable[Prepared]
    brief_more: Callable[[], Awaitable[Briefing]]
    by: str
    tree: str
    awaited_by: AwaitedBy
    upward: Upward
    read: Along | None = None
    notices: tuple[Notice, ...] = ()
    attended: bool = True
    resumes: int = 0
    task: Task = field(default_factory=Task)
    done: frozenset[str] = frozenset()
    system: str = ""
    agent: str = ""
    approvals: Approvals = field(default_factory=Approvals)
    sums: TurnSums = field(default_factory=TurnSums)
    waits: WaitsFor = ""
    is_late: bool = False
    _state: str = ""
    _most: int | None = None
    _tickets: set[str] = field(default_factory=set[str])
    _pauses: bool = False
    _spent: Failure | None = None
    _answering: asyncio.Task[None] | None = None
    _checks: set[asyncio.Task[Ruling]] = field(default_factory=set["asyncio.Task[Ruling]"])
    _settling: set[asyncio.Task[None]] = field(default_factory=set["asyncio.Task[None]"])

    @property
    def is_over(self) -> bool:
        """Whether its last event was told."""
        return self._state == "TurnEnded"

    async def run(self, submission: Submission) -> None:
        """Run it to its end, whatever happens, and wait until that is stored. Raises nothing."""
        said = replace(said_next(self.transcript, submission), by=self.by)
        self._answering = asyncio.current_task()
        try:
            await self._answer(said)
        except MaiaError as error:
            words = self.bench.say(error.key, **error.values)
            self._fail(said, Failure("other", code=error.key, provider_text=words))
        except asyncio.CancelledError:
            self._fail(said, Failure("cancelled"))
        except Exception as error:  # a defect of ours must not leave a turn open for ever
            self._fail(said, defect(error))
        for check in self._checks:
            check.cancel()
        if self._settling:
            await asyncio.wait(self._settling)
        await self.log.written()
        self.upward.tell()

    async def _answer(self, said: UserSaid) -> None:
        try:
            await self._answered(said)
        finally:
            if self.bound.runtime is not None:
                await self.bound.runtime.aclose()  # a program keeps no session of its own

    async def _answered(self, said: UserSaid) -> None:
        config, briefing = await self.preparing
        briefing, tools = await self._equipped(config, briefing)
        has_tools = self.chosen.has_tools
        self.tape.briefing = briefing
        told = (*config.sections, *briefing.sections)
        if self.system:
            told = (Section(SYSTEM_OVERRIDE, self.system, "request"),)
        sections = sized(told, briefing.window, lambda: _told_size(tools))
        config = replace(config, sections=sections, tools=tools, takes_tools=has_tools, is_final=True)
        judge = self.watch.judge(self.tree, config.judge, attended=self.attended)
        config = replace(config, effort=self.chosen.why.effort, judge=judge)
        if self.bound.runtime is not None and self.bound.runtime.name in REPORTS_STEPS:
            self._most = config.max_iterations
        for notice in self.notices:
            self.emit(notice)
        await Answering(
            bench=self.bench,
            config=config,
            bound=self.bound,
            transcript=self.transcript,
            approvals=self.approvals,
            cut=SilentCut(),
            session=lambda: self.conversation,
            thread=0,
            emit=self.emit,
            preface=briefing.preface,
            done=self.done,
        ).run(said)

    async def _equipped(self, config: Config, briefing: Briefing) -> tuple[Briefing, Mapping[str, AnyTool]]:
        """What the model is told, and its tools. A program that they do not reach is told more instead (N-11.05)."""
        has_tools = self.chosen.has_tools
        tools = self.masking.tools(config.toolset.bounded(briefing.with_tools(config.tools))) if has_tools else {}
        if self.bound.runtime is None:
            return briefing, tools
        tools = lent(tools)
        if self.bound.bridge is not None and await self.bound.bridge.open(told(tools)):
            return briefing, tools
        return await self.brief_more(), {}

    async def tell(self, notices: Sequence[Notice]) -> None:
        """Notices of what was found when the turn was over."""
        for notice in notices:
            self.log.take(notice)
        if notices:
            await self.log.written()

    def emit(self, event: Event) -> None:
        """Every event of the turn passes here once."""
        if isinstance(event, TurnStarted):
            event = replace(event, provider=self.chosen.pair.provider, why=self.chosen.why, most_steps=self._most)
            event = replace(event, resumes=self.resumes, system=self.system, agent=self.agent)
        elif isinstance(event, TurnEnded):
            event = replace(self._honest(event), provider=self._provider(event))
            if (context := self.tape.context()) is not None:
                self.log.take(context)
        self._listen(event)
        self._state = type(event).__name__ if isinstance(event, (TurnStarted, TurnEnded)) else self._state
        self.transcript.apply(event)
        self.sums.take(event)
        stored = as_stored(event)
        self.log.take(stored, self._along(event))
        if isinstance(event, StepStarted) and self._pauses and self._answering is not None:
            self._answering.cancel()  # all calls of the answer were settled: the next one would only talk of waiting
        elif isinstance(event, ToolCallFinished) and event.status == "refused" and event.reason is not None:
            if (notice := self.watch.refused(self.conversation, self.tree, event.name, event.reason)) is not None:
                self.emit(notice)
        elif isinstance(event, LimitReached):
            asyncio.get_running_loop().call_soon(self._nobody_decides, event.approval_id)
        elif isinstance(event, ApprovalRequested):
            self._later(self._settle(event))

    def _listen(self, event: Event) -> None:
        """What a call cost, and what providers say of the size of its prompt (R-2.094).

        A program's sum over its steps is no such size (R-2.099).
        """
        if isinstance(event, Answered):
            self.purse.take(event.cost, event.usage)
        if isinstance(event, Answered) and event.usage is not None and self.bound.wire is not None:
            self.tape.measured = event.usage.prompt if is_measured(self.bound) else None
        elif isinstance(event, ContextMeasured) and self.bound.runtime is not None:
            self.tape.measured = event.tokens if is_measured(self.bound) else None
            self.tape.window = event.window or self.tape.window
            self.purse.meter.guess(event.tokens)
            self._later(self._bound())

    def _along(self, event: Event) -> Along | None:
        match event:
            case UserSaid():
                return self.read
            case TurnEnded():
                return self._close(event)
            case _:
                return None

    async def _bound(self) -> None:
        """A program asks its model by itself: where nothing may be spent any more, it is stopped."""
        failure = await self.purse.closed()
        if failure is not None and not self.is_over and self._answering is not None:
            self._spent = failure
            self._answering.cancel()

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        """What the end of the turn waits for."""
        task = asyncio.create_task(work)
        self._settling.add(task)
        task.add_done_callback(self._settling.discard)

    def _nobody_decides(self, approval_id: str) -> None:
        self.approvals.answer(approval_id, Answer("no"), "headless")

    async def _settle(self, question: ApprovalRequested) -> None:
        """An attended chat is not paused (R-2.244): a call that was approved goes on, any other waits in the queue."""
        try:
            settled = await (self._settled(question) if self.attended else self._ruled(question))
        except Exception:  # the database refuses: nothing that nobody decided on may run
            self._nobody_decides(question.approval_id)
            return
        if settled is None:
            return
        if settled.used:
            if not self.approvals.answer(question.approval_id, Answer("once"), "queue"):
                await self.queue.take_back(settled)
            return
        if not self.approvals.is_open(question.approval_id):
            await self.queue.take_back(settled)
            return
        self.emit(CallQueued(question.call_id, question.name, settled.ticket, question.decision.reason))
        if settled.ticket:
            self._tickets.add(settled.ticket)
            self._pauses = not self.attended
        self.approvals.answer(question.approval_id, Answer("no"), "queue" if settled.ticket else "headless")

    async def _settled(self, question: ApprovalRequested) -> Settled:
        return await self.queue.settle(self.conversation, self.number, self.bench.launch, question)

    async def _ruled(self, question: ApprovalRequested) -> Settled | None:
        """Where nobody looks on, the level and the check decide; None where the question is answered (N-07.05)."""
        folder, asked = self.bench.launch, question.approval_id
        used = await self.queue.used(self.conversation, folder, question)
        if used.used:
            return used
        ruling = await self._checked(question)
        if ruling is None or not self.approvals.is_open(asked):
            return None
        match ruling.course:
            case "refuse":
                why = self.bench.say(ruling.reason.key, **ruling.reason.values)
                self.approvals.answer(asked, Answer("no", why), "check")
            case "run":
                await self.queue.report(self.conversation, self.number, folder, question, ruling.reason)
                self.emit(Notice("info", "autonomy.acted_told", {"tool": question.name}))
                self.approvals.answer(asked, Answer("once"), "check")
            case "queue":
                return await self.queue.wait(self.conversation, self.number, folder, question, ruling.reason)
        return None

    async def _checked(self, question: ApprovalRequested) -> Ruling | None:
        """The ruling on a call; None when the turn is over before the check has answered."""
        looking = asyncio.create_task(self.watch.ruling(self.conversation, question, self.task, self.bench))
        self._checks.add(looking)
        await asyncio.wait({looking})
        self._checks.discard(looking)
        return None if looking.cancelled() else looking.result()

    def _provider(self, ended: TurnEnded) -> str:
        """The provider under the one name that it has here; another one only where another model really answered."""
        mine = self.chosen.pair.provider
        return mine if mine.startswith(ended.provider) else ended.provider

    def _honest(self, ended: TurnEnded) -> TurnEnded:
        """Only who was stopped by a person was stopped; who waits for a person has not finished (R-2.206)."""
        ended = replace(ended, approvals=len(self._tickets))
        if self._pauses and ended.outcome == "stopped":
            return replace(ended, outcome="waiting_approval")
        if ended.outcome == "finished" and any(self.queue.waits(ticket) for ticket in self._tickets):
            return replace(ended, outcome="waiting_approval")
        why = (self._spent or self.why_stopped()) if ended.outcome == "stopped" else None
        return ended if why is None else replace(ended, outcome="failed", failure=why)

    def _close(self, ended: TurnEnded) -> Along:
        """What is written with the last event: the answer and the status; pieces of text are not needed any more."""
        composed = self.tape.composition(self.conversation, self.number, ended.provider, ended.model)
        ending, conversation, number = self.sums.ending(ended), self.conversation, self.number
        asks = self.sums.asks and ended.outcome == "finished" and not self._tickets

        def along(connection: Connection) -> None:
            meter = self.purse.meter
            messages.close_answer(connection, conversation, number, ending, agent=meter.agent, at_least=meter.guessed)
            after = "waiting" if asks else approvals.status_after(connection, conversation, number)
            conversations.set_status(connection, conversation, after)
            own: WaitsFor = "answer" if asks else "approval" if ended.outcome == "waiting_approval" else ""
            self.waits = own or late.waits_below(connection, conversation)
            self.is_late = note_end(connection, conversation, number, self.waits, self.awaited_by)
            outcome = "" if self.waits else ended.outcome
            self.upward.note(connection, conversation, outcome, is_told=bool(self.awaited_by))
            forget_progress(connection, conversation, number)
            if composed is not None:
                compositions.keep_composition(connection, composed)

        return along

    def _fail(self, said: UserSaid, failure: Failure) -> None:
        """The engine did not even begin, or broke: the turn ends all the same."""
        if self.is_over:
            return
        if not self._state:
            self.emit(TurnStarted(self.number, self.chosen.pair.model, self.chosen.pair.provider))
            self.emit(said)
        outcome = "stopped" if failure.kind == "cancelled" else "failed"
        known = None if outcome == "stopped" else failure
        provider, model = self.chosen.pair
        self.emit(TurnEnded(outcome, "unknown", "", None, Cost(), model, provider, 0, 0, 0, failure=known))


def _told_size(tools: Mapping[str, AnyTool]) -> int:
    """Characters of what the model is told of the tools."""
    specs = {tool.spec.name: tool.spec for tool in tools.values()}
    return sum(len(spec.description) + len(json.dumps(spec.parameters)) for spec in specs.values())
