"""From what a call needs to go or no go: the decision of the rules, the question where they say ask, the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from maia.core.events import ApprovalRequested, Event, Notice
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.messages import ToolCallPart
from maia.core.permission import Answer, Decision, Need, Verdict
from maia.core.ports import Hands, Judge, Say
from maia.core.reason import Reason
from maia.core.results import ToolStatus
from maia.core.told import inner, told
from maia.core.tool import AnyTool
from maia.engine.approvals import Approvals
from maia.engine.repeats import Repeats

CHECKED: Final = Reason("turn.check")
"""The reason of a refusal by the check of calls that nobody answers for."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call may not run: `text` is for the model, in the user's language; `data` for the row (R-2.191).

    `reason` is there where no person was needed to refuse it; `words` is the text for a reader of another language.
    """

    text: str
    status: ToolStatus = "refused"
    data: JsonObject = field(default_factory=dict[str, JsonValue])
    reason: Reason | None = None
    words: Reason | None = None


def refusal(say: Say, words: Reason, status: ToolStatus = "refused", reason: Reason | None = None) -> Refusal:
    """One whose text is these words."""
    return Refusal(told(words, say), status, reason=reason, words=words)


@dataclass(frozen=True, slots=True)
class Gate:
    """Decides one call at a time. `origin` names the sub-agent whose calls these are, empty for the main agent."""

    judge: Judge
    approvals: Approvals
    say: Say
    emit: Callable[[Event], None]
    origin: str = ""
    repeats: Repeats = field(default_factory=Repeats)

    async def pass_or_refuse(self, call: ToolCallPart, tool: AnyTool, args: object, hands: Hands) -> Refusal | None:
        """None when the call may run. Waits for a person where no rule decides."""
        needs = tool.needs(args, hands.launch) or (Need(call.name, "none"),)
        if self.repeats.is_done(call, needs):
            return refusal(self.say, Reason("turn.done_before", {"tool": call.name}), "skipped")
        refused = await self._weighed(call, tool, args, hands, needs)
        if refused is None:
            self.repeats.passed(call, needs)
        return refused

    async def _weighed(
        self, call: ToolCallPart, tool: AnyTool, args: object, hands: Hands, needs: tuple[Need, ...]
    ) -> Refusal | None:
        decision = self.judge.decide(needs)
        if decision.verdict is not Verdict.ASK:
            return self._decided(call, decision)
        async with self.approvals.turnstile:
            decision = self.judge.decide(needs)  # an answer given meanwhile, or a rule read with it, may decide now
            if decision.verdict is not Verdict.ASK:
                return self._decided(call, decision)
            if self.repeats.is_spent(call):
                return refusal(self.say, Reason("turn.asked_before", {"tool": call.name}), "skipped")
            self.repeats.asked(call)
            return await self._ask(call, tool, args, hands, needs, decision)

    def _decided(self, call: ToolCallPart, decision: Decision) -> Refusal | None:
        if decision.verdict is Verdict.ALLOW:
            return None
        data = {name: decision.reason.values[name] for name in ("search",) if name in decision.reason.values}
        words = Reason("turn.refused_by_rule", {"tool": call.name, "reason": inner(decision.reason)})
        return replace(refusal(self.say, words, reason=decision.reason), data=data)

    async def _ask(
        self,
        call: ToolCallPart,
        tool: AnyTool,
        args: object,
        hands: Hands,
        needs: tuple[Need, ...],
        decision: Decision,
    ) -> Refusal | None:
        question = ApprovalRequested(
            approval_id=self.approvals.new_id(),
            call_id=call.call_id,
            name=call.name,
            arguments=call.arguments,
            needs=needs,
            decision=decision,
            proposed=self._proposed(needs),
            preview=tool.preview(args),
            blocks=await tool.proposal(args, hands),
            origin=self.origin,
        )
        answered = await self.approvals.ask(question, self.emit)
        if answered.by == "headless":
            return refusal(self.say, self._nobody_there(question))
        if answered.by == "queue" and answered.answer.scope == "no":
            return refusal(self.say, _with_reason("turn.waits_for_approval", question))
        if answered.by == "check" and answered.answer.scope == "no":
            words = Reason("turn.refused_by_check", {"tool": question.name, "reason": answered.answer.reason})
            return refusal(self.say, words, reason=CHECKED)
        return self._settle(question, answered.answer)

    def _settle(self, question: ApprovalRequested, answer: Answer) -> Refusal | None:
        match answer.scope:
            case "no" if answer.reason:
                because = Reason("turn.refused_because", {"tool": question.name, "reason": answer.reason})
                return refusal(self.say, because)
            case "no":
                return refusal(self.say, _with_reason("turn.refused", question))
            case "session":
                self.judge.allow_for_session(question.needs)
            case "always" if question.proposed is not None:
                file = self.judge.allow_always(question.needs)
                self.emit(Notice("info", "turn.rule_saved", {"rule": question.proposed, "file": file}))
            case "once" | "always":
                pass
        return None

    def _nobody_there(self, question: ApprovalRequested) -> Reason:
        if question.proposed is None:
            return _with_reason("turn.refused_headless", question)
        words = _with_reason("turn.refused_headless_rule", question)
        return replace(words, values={**words.values, "rule": question.proposed})

    def _proposed(self, needs: tuple[Need, ...]) -> str | None:
        """The rules that "always" would save, None where one of the needs can never be allowed by a rule."""
        asking = [need for need in needs if self.judge.decide((need,)).verdict is not Verdict.ALLOW]
        rules = [self.judge.propose(need) for need in asking]
        known = [rule for rule in rules if rule is not None]
        return ", ".join(dict.fromkeys(known)) if known and len(known) == len(rules) else None


def _with_reason(key: str, question: ApprovalRequested) -> Reason:
    return Reason(key, {"tool": question.name, "reason": inner(question.decision.reason)})
