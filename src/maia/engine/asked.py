"""A program's call as the gate sees it: it is judged and asked about like one of ours, and never run here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from maia.core.errors import MaiaError
from maia.core.jsonvalue import JsonObject
from maia.core.permission import Decision, Need, Verdict
from maia.core.ports import Hands, Judge
from maia.core.reason import Reason
from maia.core.requests import ToolSpec
from maia.core.results import Block, ToolResult
from maia.core.runtime import ProgramCall
from maia.engine.gate import Gate
from maia.engine.repeats import Repeats

_SAID_BY_NEEDS = ("Bash", "Read", "Glob", "Grep")
"""Tools of which the needs say all that a call does; what an edit writes stands in its arguments alone."""


@dataclass(frozen=True, slots=True)
class AskedTool:
    """A call of a program, as the gate sees one of ours: what it needs and shows. It is never run here."""

    asked: ProgramCall

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.asked.call.name, "", {})

    def parse(self, arguments: JsonObject) -> None:
        return None

    def needs(self, args: None, launch: Path) -> tuple[Need, ...]:
        return self.asked.needs

    def preview(self, args: None) -> str:
        return self.asked.preview

    def lock_key(self, args: None, launch: Path) -> str | None:
        return None

    async def proposal(self, args: None, hands: Hands) -> tuple[Block, ...]:
        return self.asked.blocks

    async def run(self, args: None, hands: Hands) -> ToolResult:
        raise MaiaError("turn.unknown_tool", tool=self.asked.call.name, known="")


def is_same(asked: ProgramCall, again: ProgramCall) -> bool:
    """Whether the second question is about what was allowed, and not about another call under the same id.

    Some servers give each call of an answer one id. Of two edits of a file, the needs alone are the same.
    """
    if not again.is_whole or asked.needs != again.needs:
        return False
    is_said = bool(again.needs) and all(need.tool in _SAID_BY_NEEDS for need in again.needs)
    return is_said or asked.call == again.call


def of_a_part(gate: Gate) -> Gate:
    """The gate for a call of which only a part is known: no rule allows it, and nobody knows whether it is a repeat."""
    return replace(gate, judge=_AtLeastAsk(gate.judge), repeats=Repeats())


@dataclass(frozen=True, slots=True)
class _AtLeastAsk:
    """Judges a call of which only a part is known: it may be denied, but no rule can allow it."""

    judge: Judge

    def decide(self, needs: Sequence[Need]) -> Decision:
        decision = self.judge.decide(needs)
        if decision.verdict is Verdict.DENY:
            return decision
        return Decision(Verdict.ASK, Reason("runtime.part_known"))

    def propose(self, need: Need) -> str | None:
        return None

    def allow_for_session(self, needs: Sequence[Need]) -> None:
        """Nothing can be allowed beyond this call."""

    def allow_always(self, needs: Sequence[Need]) -> str:
        return ""
