"""One turn on its way: the engine's events go into the log, and its end into the row of the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from maia.core.errors import MaiaError
from maia.core.events import ApprovalRequested, Event, LimitReached, Notice, TurnEnded, TurnStarted, UserSaid
from maia.core.types import Answer, Cost, Failure, Submission
from maia.database import conversations, messages
from maia.database.events import forget_progress
from maia.engine.answering import Answering, said_next
from maia.engine.approvals import Approvals
from maia.engine.limits import SilentCut
from maia.engine.masking import Masking
from maia.engine.setup import Bound
from maia.engine.transcript import Transcript
from maia.workspace.bench import WorkBench
from maia.workspace.log import Along, TurnLog
from maia.workspace.meta import TurnSums, as_stored

STORAGE_REFUSED = Failure("other", code="storage")
"""Why a turn ends whose events could not be stored."""


@dataclass(slots=True)
class RunningTurn:
    """`why_stopped` says why the turn was stopped where no person did it."""

    conversation: str
    number: int
    bench: WorkBench
    bound: Bound
    transcript: Transcript
    log: TurnLog
    why_stopped: Callable[[], Failure | None]
    masking: Masking
    notices: tuple[Notice, ...] = ()
    approvals: Approvals = field(default_factory=Approvals)
    sums: TurnSums = field(default_factory=TurnSums)
    _state: str = ""

    @property
    def is_over(self) -> bool:
        """Whether its last event was told."""
        return self._state == "TurnEnded"

    async def run(self, submission: Submission) -> None:
        """Run it to its end, whatever happens, and wait until that is stored. Raises nothing."""
        said = said_next(self.transcript, submission)
        try:
            await self._answer(said)
        except MaiaError as error:
            words = self.bench.say(error.key, **error.values)
            self._fail(said, Failure("other", code=error.key, provider_text=words))
        except asyncio.CancelledError:
            self._fail(said, Failure("cancelled"))
        except Exception as error:  # a defect of ours must not leave a turn open for ever
            self._fail(said, Failure("other", code="defect", provider_text=repr(error)))
        await self.log.written()

    async def _answer(self, said: UserSaid) -> None:
        config = await asyncio.to_thread(self.bench.configure)
        config = replace(config, tools=self.masking.tools(config.tools))
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
        ).run(said)

    def emit(self, event: Event) -> None:
        """Every event of the turn passes here once."""
        if isinstance(event, TurnEnded):
            event = self._honest(event)
        self._state = type(event).__name__ if isinstance(event, (TurnStarted, TurnEnded)) else self._state
        self.transcript.apply(event)
        self.sums.take(event)
        stored = as_stored(event)
        self.log.take(stored, self._close(event) if isinstance(event, TurnEnded) else None)
        if isinstance(event, (ApprovalRequested, LimitReached)):
            asyncio.get_running_loop().call_soon(self._nobody_decides, event.approval_id)

    def _nobody_decides(self, approval_id: str) -> None:
        """An attended chat is not paused (R-2.244): what no rule allows is refused, and the model goes on with that."""
        self.approvals.answer(approval_id, Answer("no"), "headless")

    def _honest(self, ended: TurnEnded) -> TurnEnded:
        """Only who was stopped by a person was stopped."""
        why = self.why_stopped() if ended.outcome == "stopped" else None
        return ended if why is None else replace(ended, outcome="failed", failure=why)

    def _close(self, ended: TurnEnded) -> Along:
        """What is written with the last event: the answer and the status; pieces of text are not needed any more."""
        ending, conversation, number = self.sums.ending(ended), self.conversation, self.number

        def along(connection: Connection) -> None:
            messages.close_answer(connection, conversation, number, ending)
            conversations.set_status(connection, conversation, "idle")
            forget_progress(connection, conversation, number)

        return along

    def _fail(self, said: UserSaid, failure: Failure) -> None:
        """The engine did not even begin, or broke: the turn ends all the same."""
        if self.is_over:
            return
        if not self._state:
            self.emit(TurnStarted(self.number, self.bound.model, self.bound.provider))
            self.emit(said)
        outcome = "stopped" if failure.kind == "cancelled" else "failed"
        known = None if outcome == "stopped" else failure
        model, provider = self.bound.model, self.bound.provider
        self.emit(TurnEnded(outcome, "unknown", "", None, Cost(), model, provider, 0, 0, 0, failure=known))
