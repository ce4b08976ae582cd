"""From what a call needs to go or no go: the decision of the rules, the question where they say ask, the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from maia.core.events import ApprovalRequested, Event, Notice
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.messages import ToolCallPart
from maia.core.permission import Answer, Decision, Need, Verdict
from maia.core.ports import Hands, Judge, Say
from maia.core.reason import Reason
from maia.core.results import ToolStatus
from maia.core.tool import AnyTool
from maia.engine.approvals import Approvals
from maia.engine.repeats import Repeats

CHECKED: Final = Reason("turn.check")
"""The reason of a refusal by the check of calls that nobody answers for."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call may not run: `text` is for the model, in the user's language; `data` for the row (R-2.191).

    `reason` is there where no person was needed to refuse it.
    """

    text: str
    status: ToolStatus = "refused"
    data: JsonObject = field(default_factory=dict[str, JsonValue])
    reason: Reason | None = None


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
            return Refusal(self.say("turn.done_before", tool=call.name), "skipped")
        refusal = await self._weighed(call, tool, args, hands, needs)
        if refusal is None:
            self.repeats.passed(call, needs)
        return refusal

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
                return Refusal(self.say("turn.asked_before", tool=call.name), "skipped")
            self.repeats.asked(call)
            return await self._ask(call, tool, args, hands, needs, decision)

    def _decided(self, call: ToolCallPart, decision: Decision) -> Refusal | None:
        if decision.verdict is Verdict.ALLOW:
            return None
        data = {name: decision.reason.values[name] for name in ("search",) if name in decision.reason.values}
        words = self.say("turn.refused_by_rule", tool=call.name, reason=self._reason(decision))
        return Refusal(words, data=data, reason=decision.reason)

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
            return Refusal(self._nobody_there(question))
        if answered.by == "queue" and answered.answer.scope == "no":
            reason = self._reason(question.decision)
            return Refusal(self.say("turn.waits_for_approval", tool=question.name, reason=reason))
        if answered.by == "check" and answered.answer.scope == "no":
            words = self.say("turn.refused_by_check", tool=question.name, reason=answered.answer.reason)
            return Refusal(words, reason=CHECKED)
        return self._settle(question, answered.answer)

    def _settle(self, question: ApprovalRequested, answer: Answer) -> Refusal | None:
        match answer.scope:
            case "no" if answer.reason:
                return Refusal(self.say("turn.refused_because", tool=question.name, reason=answer.reason))
            case "no":
                return Refusal(self.say("turn.refused", tool=question.name, reason=self._reason(question.decision)))
            case "session":
                self.judge.allow_for_session(question.needs)
            case "always" if question.proposed is not None:
                file = self.judge.allow_always(question.needs)
                self.emit(Notice("info", "turn.rule_saved", {"rule": question.proposed, "file": file}))
            case "once" | "always":
                pass
        return None

    def _nobody_there(self, question: ApprovalRequested) -> str:
        reason = self._reason(question.decision)
        if question.proposed is None:
            return self.say("turn.refused_headless", tool=question.name, reason=reason)
        return self.say("turn.refused_headless_rule", tool=question.name, reason=reason, rule=question.proposed)

    def _proposed(self, needs: tuple[Need, ...]) -> str | None:
        """The rules that "always" would save, None where one of the needs can never be allowed by a rule."""
        asking = [need for need in needs if self.judge.decide((need,)).verdict is not Verdict.ALLOW]
        rules = [self.judge.propose(need) for need in asking]
        known = [rule for rule in rules if rule is not None]
        return ", ".join(dict.fromkeys(known)) if known and len(known) == len(rules) else None

    def _reason(self, decision: Decision) -> str:
        return self.say(decision.reason.key, **decision.reason.values)
