"""The one place that waits for a person: questions go up as events, answers come down by their id."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Literal, TypeAlias

from maia.core.events import ApprovalAnswered, ApprovalRequested, Event, LimitReached
from maia.core.permission import Answer

Emit = Callable[[Event], None]
By: TypeAlias = Literal["person", "headless", "queue", "check"]
"""Who answers: somebody, a door with nobody in front of it, what somebody decided earlier, or the check of a call."""


class Approvals:
    """Open questions of one conversation. Questions are asked one by one (T5.07); an answer is taken exactly once."""

    def __init__(self) -> None:
        self._turnstile = asyncio.Lock()
        self._open: dict[str, asyncio.Future[tuple[Answer, By]]] = {}
        self._ids = itertools.count(1)
        self.asked = 0
        """How often a person was asked whether a call may run; a limit that was reached is no such question."""

    def new_id(self) -> str:
        return f"approval-{next(self._ids)}"

    @property
    def turnstile(self) -> asyncio.Lock:
        """Held by a call from its decision to its answer, so that a session rule given for one call spares the next."""
        return self._turnstile

    async def ask(self, question: ApprovalRequested | LimitReached, emit: Emit) -> ApprovalAnswered:
        """Put the question, wait, tell the answer. Cancelled while waiting, it tells a refusal by `stop` first."""
        future: asyncio.Future[tuple[Answer, By]] = asyncio.get_running_loop().create_future()
        self._open[question.approval_id] = future
        self.asked += isinstance(question, ApprovalRequested)
        emit(question)
        try:
            answer, by = await future
        except asyncio.CancelledError:
            emit(ApprovalAnswered(question.approval_id, Answer("no"), "stop"))
            raise
        finally:
            del self._open[question.approval_id]
        answered = ApprovalAnswered(question.approval_id, answer, by)
        emit(answered)
        return answered

    def is_open(self, approval_id: str) -> bool:
        """Whether that question still waits for its answer."""
        future = self._open.get(approval_id)
        return future is not None and not future.done()

    def answer(self, approval_id: str, answer: Answer, by: By = "person") -> bool:
        """Give an answer; False when that question is not open (answered elsewhere, or stopped)."""
        if not self.is_open(approval_id):
            return False
        self._open[approval_id].set_result((answer, by))
        return True
