"""The gate of the workspace's turns: who may be asked, who is asked instead, and what is written down of a refusal."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from maia.core.events import ApprovalRequested, Notice
from maia.core.permission import Decision, Need, Verdict
from maia.core.ports import Judge
from maia.core.reason import Reason
from maia.database import autonomy
from maia.database.autonomy import Denied
from maia.database.database import Database
from maia.database.delegations import top_of
from maia.database.ids import now_ms
from maia.workspace.autonomy.categories import Category, is_green, kind_of_call
from maia.workspace.autonomy.check import Check, Checked, Proposed
from maia.workspace.autonomy.levels import Levels
from maia.workspace.autonomy.lockout import LOCKED_MS, Lockouts
from maia.workspace.autonomy.refusals import LOCKED, refused_by
from maia.workspace.autonomy.resuming import Task
from maia.workspace.autonomy.ruling import AUTO, Course, Level, course, may_rise
from maia.workspace.bench import WorkBench

BACKGROUND: Final = Reason("autonomy.background")
"""Why a call is asked about that a rule allows: nobody looks on."""
_UNDECIDED: Final = (BACKGROUND.key, "perm.no_rule")
"""Why a call is asked about although no rule and no place wants it."""
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]{0,63}")


@dataclass(frozen=True, slots=True)
class Ruling:
    """What becomes of a call of a background run, and why."""

    course: Course
    category: Category
    reason: Reason


class Watch:
    """What all turns of a server share: levels, the check, and which conversations have their tools locked.

    Denials are counted, and tools locked, for all that one conversation delegated: `tree` names the one above them.
    """

    def __init__(self, database: Database, levels: Levels, check: Check) -> None:
        self._database = database
        self._levels = levels
        self._check = check
        self.lockouts = Lockouts()

    async def start(self) -> None:
        """Read what an earlier server refused a short while ago: a restart opens no lock."""
        since = now_ms() - 2 * LOCKED_MS

        def read(connection: Connection) -> list[tuple[str, int]]:
            denied = autonomy.counted_denials(connection, since)
            tops = {each: top_of(connection, each) for each, _ in denied}
            return [(tops[each], at) for each, at in denied]

        self.lockouts.recall(await self._database.read(read))

    async def ruling(self, conversation_id: str, question: ApprovalRequested, task: Task, bench: WorkBench) -> Ruling:
        """What becomes of a call that nobody is there to answer for (N-07.05, N-08.05)."""
        kind = kind_of_call(question.needs)
        call = (question.name, question.arguments, question.preview)
        proposed = Proposed(task.text, str(bench.launch), *call, task.by)
        checked = await self._check.look(conversation_id, proposed, bench)
        level = await self._levels.of(kind.category)
        verdict, why = checked.verdict, _why(checked, kind.category, level)
        if verdict == "allow" and (insists := insisting(question.decision)) is not None:
            verdict, why = "escalate", insists
        return Ruling(course(kind.category, level, verdict, attended=False), kind.category, why)

    def refused(self, conversation_id: str, tree: str, tool: str, reason: Reason) -> Notice | None:
        """Write down a refusal that needed no person; what the person is told where it locks the tools.

        Nothing of the call is kept but the tool's name.
        """
        refused, now = refused_by(reason), now_ms()
        name = tool if _NAME.fullmatch(tool) else "?"
        row = Denied(conversation_id, name, refused.checkpoint, refused.code, refused.counts, now)
        self._database.write_soon(lambda c: autonomy.add_denial(c, row))
        if refused.counts and self.lockouts.note(tree, now):
            return Notice("warn", "autonomy.locked_out", {"minutes": LOCKED_MS // 60_000})
        return None

    def judge(self, tree: str, judge: Judge, *, attended: bool) -> Judge:
        """The rules as this turn has them."""
        return Watched(judge, lambda: self.lockouts.until(tree, now_ms()) - now_ms(), attended)


@dataclass(frozen=True, slots=True)
class Watched:
    """A `Judge` that is never more lenient than the rules: locked tools are denied, and where nobody looks on, what a
    rule allows is asked about unless it only looks (N-07.05).
    """

    judge: Judge
    locked_ms: Callable[[], int]
    attended: bool

    def decide(self, needs: Sequence[Need]) -> Decision:
        if (left := self.locked_ms()) > 0:
            return Decision(Verdict.DENY, Reason(LOCKED.key, {"minutes": -(-left // 60_000)}))
        decision = self.judge.decide(needs)
        if self.attended or decision.verdict is not Verdict.ALLOW or is_green(needs, decision):
            return decision
        return Decision(Verdict.ASK, BACKGROUND)

    def propose(self, need: Need) -> str | None:
        return self.judge.propose(need)

    def allow_for_session(self, needs: Sequence[Need]) -> None:
        self.judge.allow_for_session(needs)

    def allow_always(self, needs: Sequence[Need]) -> str:
        return self.judge.allow_always(needs)


def insisting(decision: Decision) -> Reason | None:
    """Why only a person may let this call pass: their rule asks, or the place is a protected one.

    The check may stand in where the rules say nothing, or allow. Where they ask, no model is talked into a yes.
    """
    parts = [(part.verdict, part.reason) for part in decision.parts] or [(decision.verdict, decision.reason)]
    asked = (reason for verdict, reason in parts if verdict is Verdict.ASK)
    return next((reason for reason in asked if reason.key not in _UNDECIDED), None)


def _why(checked: Checked, category: Category, level: Level) -> Reason:
    """Why the call waits, in the order in which a person wants to know."""
    if checked.is_absent:
        return Reason("autonomy.nobody_checked")
    if checked.is_blind:
        return Reason("autonomy.too_long_to_check")
    if checked.verdict != "allow":
        return Reason("autonomy.check_said" if checked.why else "autonomy.check_silent", {"why": checked.why})
    if not may_rise(category):
        return Reason("autonomy.waits_locked")
    return Reason("autonomy.acted" if level == AUTO else "autonomy.waits_level", {"level": level})
