"""One request becomes an answer: what a turn works with is put together here, once for every door."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from maia.core.events import ContextMeasured, UserSaid
from maia.core.messages import Message, TextPart, UserMessage
from maia.core.permission import Need, Verdict
from maia.core.ports import Hands, Say, Wire
from maia.core.requests import ModelRequest, Section
from maia.core.runtime import OWN_MODEL, ProgramTask, Runtime
from maia.core.submission import Submission
from maia.engine.approvals import Approvals
from maia.engine.context import Assembler
from maia.engine.gate import Gate
from maia.engine.lending import lent
from maia.engine.limits import CallBudget, SilentCut, StepLimit
from maia.engine.outside import OutsidePorts, run_outside
from maia.engine.preface import place_of_message, with_preface
from maia.engine.repeats import Repeats
from maia.engine.schedule import MAX_AT_ONCE, HandsFor, Scheduler
from maia.engine.setup import Bound, CallContext, Config, Models
from maia.engine.transcript import Transcript, user_parts
from maia.engine.turn import Emit, Price, TurnPorts, run_turn

SYSTEM_OVERRIDE: Final = "system-override"
"""The section that stands in place of all others where somebody gave their own system prompt (N-11.15)."""
PROGRAM_SECTIONS: Final = (
    "agent",
    "master-prompt",
    "project-prompt",
    "conversation-prompt",
    "project",
    SYSTEM_OVERRIDE,
)
"""What a program is told beside the request; who it is and how it works it knows by itself."""


class Bench(Protocol):
    """What a door gives to every turn of one conversation; `Setup` is one."""

    @property
    def launch(self) -> Path: ...
    @property
    def say(self) -> Say: ...
    @property
    def models(self) -> Models: ...
    @property
    def hands(self) -> Callable[[Config, CallContext], Hands]: ...
    @property
    def price(self) -> Price: ...


def said_next(transcript: Transcript, submission: Submission) -> UserSaid:
    """The request with all that waits to go with it; it joins one that was never answered (T4.06)."""
    messages = transcript.messages()
    return UserSaid(
        submission.text,
        (*transcript.pending, *submission.attachments),
        merged=bool(messages) and isinstance(messages[-1], UserMessage),
    )


def assembler_for(models: Models, config: Config, bound: Bound | None) -> Assembler:
    """How requests to that model are built."""
    effort = models.effort(bound, config.effort) if bound else None
    return Assembler(config.sections, config.tools, config.max_output_tokens, effort)


@dataclass(frozen=True, slots=True)
class Answering:
    """One turn of a conversation, whoever answers it. `session` names the conversation for what tools remember.

    `thread` changes when the conversation is another one than in the turn before; `measure` is None where nobody
    counts. `preface` rides on the message of this turn alone. `done` are calls that this run made in an earlier turn,
    as `repeats.call_key` names them.
    """

    bench: Bench
    config: Config
    bound: Bound
    transcript: Transcript
    approvals: Approvals
    cut: SilentCut
    session: Callable[[], str]
    thread: int
    emit: Emit
    measure: Callable[[], ContextMeasured | None] | None = None
    preface: tuple[Section, ...] = ()
    done: frozenset[str] = frozenset()

    async def run(self, said: UserSaid) -> None:
        """Run the turn to its `TurnEnded`; raises nothing. Cancelling stops it."""
        number, history = self.transcript.turn + 1, self.transcript.messages()
        if self.bound.runtime is not None:
            await run_outside(self._outside_ports(self.bound.runtime, self._task(said, history)), number, said)
        elif self.bound.wire is not None:
            await run_turn(self._ports(self.bound.wire, place_of_message(history)), number, said)

    # Inside

    def _ports(self, wire: Wire, place: int) -> TurnPorts:
        assembler = assembler_for(self.bench.models, self.config, self.bound)

        def request() -> ModelRequest:
            messages = with_preface(self.transcript.messages(), place, self.preface)
            return assembler.request(self.bound.model, messages)

        return TurnPorts(
            wire=wire,
            model=self.bound.model,
            request=request,
            scheduler=Scheduler(
                tools=self.config.tools,
                gate=self._gate(),
                hands_for=self._hands_for(),
                say=self.bench.say,
                emit=self.emit,
                slots=asyncio.Semaphore(MAX_AT_ONCE),
                budget=CallBudget(self.config.max_tool_calls),
                toolset=self.config.toolset,
            ),
            approvals=self.approvals,
            steps=StepLimit(self.config.max_iterations),
            price=self.bench.price,
            emit=self.emit,
            measure=self.measure,
            cut=self.cut,
            concludes=self.config.concludes,
            takes_tools=self.config.takes_tools,
        )

    def _outside_ports(self, runtime: Runtime, task: ProgramTask) -> OutsidePorts:
        return OutsidePorts(
            runtime=runtime,
            model=self.bound.model,
            task=task,
            gate=self._gate(),
            hands_for=self._hands_for(),
            price=self.bench.price,
            emit=self.emit,
            steps=StepLimit(self.config.max_iterations),
            budget=CallBudget(self.config.max_tool_calls),
            toolset=self.config.toolset,
            tools=lent(self.config.tools),
            bridge=self.bound.bridge,
        )

    def _task(self, said: UserSaid, history: tuple[Message, ...]) -> ProgramTask:
        trust = self.config.judge.decide((Need("Agent", "name", self.bound.provider),))
        told = (section.text for section in self.config.sections if section.name in PROGRAM_SECTIONS)
        return ProgramTask(
            text="\n\n".join(part.text for part in user_parts(said) if isinstance(part, TextPart)),
            folder=self.bench.launch,
            thread=self.thread,
            history=history,
            instructions="\n\n".join(told),
            model="" if self.bound.model == OWN_MODEL else self.bound.model,
            may_write=trust.verdict is Verdict.ALLOW and self.config.toolset.may_write,
            preface=self.preface,
            max_steps=self.config.max_iterations if self.config.is_final else None,
        )

    def _gate(self) -> Gate:
        return Gate(self.config.judge, self.approvals, self.bench.say, self.emit, repeats=Repeats(self.done))

    def _hands_for(self) -> HandsFor:
        model, transcript = self.bound.model, self.transcript
        return lambda call_id, output: self.bench.hands(
            self.config, CallContext(call_id, transcript.turn, self.session(), lambda: model, output, self.emit)
        )
