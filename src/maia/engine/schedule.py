"""The calls of one answer, run side by side where they may, results in the order asked (T5.07)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from maia.core.errors import MaiaError
from maia.core.events import Event, ToolCallFinished, ToolCallStarted, ToolOutput
from maia.core.messages import ToolCallPart
from maia.core.ports import Hands, Say
from maia.core.reason import Reason
from maia.core.results import ToolResult, ToolStatus
from maia.core.text import cut_middle
from maia.core.told import plain, told
from maia.core.tool import AnyTool
from maia.engine.gate import Gate
from maia.engine.limits import CallBudget
from maia.engine.toolset import ALL, NOT_OFFERED, Toolset

MAX_AT_ONCE = 8
_KEPT_OUTPUT_CHARS = 30_000

INTERRUPTED: Final = Reason("turn.call_interrupted")
"""Of a call that ran when its turn was stopped."""
SKIPPED: Final = Reason("turn.call_skipped")
"""Of one that had not begun."""

HandsFor = Callable[[str, Callable[[str], None]], Hands]
"""The hands of one call: its id, and where its live output goes."""


@dataclass(frozen=True, slots=True)
class Scheduler:
    """Runs calls: parse → queue behind calls with the same key → gate → run, at most 8 at once."""

    tools: Mapping[str, AnyTool]
    gate: Gate
    hands_for: HandsFor
    say: Say
    emit: Callable[[Event], None]
    slots: asyncio.Semaphore
    budget: CallBudget
    toolset: Toolset = ALL

    async def run(self, calls: Sequence[ToolCallPart]) -> None:
        """Run all calls of one answer and emit one `ToolCallFinished` each, whatever happens to them.

        An error or a refusal does not touch the others. Cancelled, every call ends first, then this raises.
        """
        locks: dict[str, asyncio.Lock] = {}
        runs = [_Call(self, call, locks) for call in calls]
        tasks = [asyncio.create_task(run.run(), name=run.call_id) for run in runs]
        try:
            await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            try:
                await asyncio.gather(*tasks, return_exceptions=True)
            finally:
                for run in runs:
                    run.end()  # a task that was cancelled before its first step has told nothing
            raise


class _Call:
    """One call on its way, so that it can tell how far it came when it is stopped."""

    def __init__(self, scheduler: Scheduler, call: ToolCallPart, locks: dict[str, asyncio.Lock]) -> None:
        self._s = scheduler
        self._call = call
        self._locks = locks
        self._began: float | None = None
        self._printed: list[str] = []
        self._told = False

    @property
    def call_id(self) -> str:
        return self._call.call_id

    def end(self) -> None:
        """Tell that the call was stopped, unless its end was told."""
        if not self._told:
            self._stopped()

    async def run(self) -> None:
        try:
            await self._run()
        except asyncio.CancelledError:
            self.end()
            raise
        except MaiaError as problem:
            self._tell("failed", Reason(problem.key, plain(problem.values)))
        except Exception as error:
            # A defect in one tool must not end the turn, nor show a traceback to anybody.
            self._tell("failed", Reason("turn.tool_crashed", {"tool": self._call.name, "problem": repr(error)}))

    async def _run(self) -> None:
        call = self._call
        tool = self._s.tools.get(call.name)
        if tool is None:
            key = "turn.unknown_tool" if self._s.toolset.names is None else NOT_OFFERED.key
            words = Reason(key, {"tool": call.name, "known": ", ".join(self._s.tools) or "–"})
            self._tell("refused", words, reason=NOT_OFFERED if key == NOT_OFFERED.key else None)
        elif not self._s.budget.take():
            self._tell("skipped", Reason("turn.tool_budget", {"limit": self._s.budget.size}))
        else:
            await self._queue(tool, self._s.hands_for(call.call_id, self._print))

    async def _queue(self, tool: AnyTool, hands: Hands) -> None:
        args = tool.parse(self._call.arguments)
        key = tool.lock_key(args, hands.launch)
        if key is None:
            await self._pass_and_work(tool, args, hands)
        else:
            # Taken before the question is asked, so that calls on one file also happen in the order asked.
            async with self._locks.setdefault(key, asyncio.Lock()):
                await self._pass_and_work(tool, args, hands)

    async def _pass_and_work(self, tool: AnyTool, args: object, hands: Hands) -> None:
        refusal = await self._s.gate.pass_or_refuse(self._call, tool, args, hands)
        if refusal is not None:
            result = ToolResult(refusal.text, data=refusal.data)
            self._finish(refusal.status, refusal.text, result, refusal.reason, refusal.words)
            return
        async with self._s.slots:
            self._began = time.monotonic()
            self._s.emit(ToolCallStarted(self._call.call_id, self._call.name, self._call.arguments, tool.preview(args)))
            result = await tool.run(args, hands)
        self._report(result)

    def _print(self, text: str) -> None:
        self._printed.append(text)
        self._s.emit(ToolOutput(self._call.call_id, text))

    def _report(self, result: ToolResult) -> None:
        self._finish(result.status, result.text, result)

    def _stopped(self) -> None:
        if self._began is None:
            return self._tell("skipped", SKIPPED)
        return self._tell("unknown", INTERRUPTED, cut_middle("".join(self._printed), _KEPT_OUTPUT_CHARS).text)

    def _tell(self, status: ToolStatus, words: Reason, printed: str = "", reason: Reason | None = None) -> None:
        """It ended without a result of its own: what it `printed`, and our words."""
        said = told(words, self._s.say)
        self._finish(status, f"{printed.rstrip()}\n{said}" if printed.strip() else said, None, reason, words)

    def _finish(
        self,
        status: ToolStatus,
        text: str,
        result: ToolResult | None = None,
        reason: Reason | None = None,
        words: Reason | None = None,
    ) -> None:
        self._told = True
        result = result or ToolResult(text)
        duration = 0.0 if self._began is None else time.monotonic() - self._began
        self._s.emit(
            ToolCallFinished(
                self._call.call_id,
                self._call.name,
                status,
                text,
                result.summary,
                result.blocks,
                result.data,
                round(duration, 3),
                reason,
                words,
            )
        )
