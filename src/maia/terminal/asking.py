"""The words of a question: what is asked, why, and what can be answered (§7, §9, §12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from maia.core.events import ApprovalRequested, LimitReached
from maia.core.permission import Verdict
from maia.terminal.spans import clean, clean_row

if TYPE_CHECKING:
    from maia.core.permission import Answer, ApprovalScope
    from maia.terminal.words import Words

_TITLES: Mapping[str, str] = {
    "Bash": "run",
    "Edit": "change",
    "Write": "change",
    "Delete": "delete",
    "Read": "read",
    "Glob": "search",
    "Grep": "search",
    "WebFetch": "fetch",
}
"""Tool → how its question is put; any other is "use"."""


def question_title(event: ApprovalRequested | LimitReached, say: Words) -> str:
    """`Exécuter « git push » ?`, without the hint of keys; a sub-agent's name comes first."""
    match event:
        case LimitReached():
            return say(f"term.limit.{event.limit}", n=event.value)
        case ApprovalRequested():
            return _approval_title(event, say)


def _approval_title(event: ApprovalRequested, say: Words) -> str:
    form = _TITLES.get(event.name, "use")
    shown = clean(event.preview).strip() or clean_row(shown_need(event)) or event.name
    return origin_prefix(event.origin, say) + say(f"term.question.{form}", tool=clean_row(event.name), value=shown)


def origin_prefix(origin: str, say: Words) -> str:
    """`[sous-agent relecteur] `, empty for the main agent."""
    return say("term.origin", name=clean_row(origin)) + " " if origin else ""


def shown_need(event: ApprovalRequested) -> str:
    """What the call needs, when the tool gave no preview."""
    return ", ".join(need.value for need in event.needs if need.value)


def question_reason(event: ApprovalRequested, say: Words) -> str:
    """Why it asks: the rule with its file, or the reason of the decision."""
    rule = event.decision.rule
    if rule is None:
        return clean(say(event.decision.reason.key, **event.decision.reason.values))
    verdict = rule.verdict.name.lower()
    return say("term.question.rule", rule=f"{verdict} {clean_row(rule.text)}", file=clean_row(rule.source.name))


def scopes(event: ApprovalRequested) -> tuple[ApprovalScope, ...]:
    """The choices in their order; "always" is left out where an allow could not win."""
    may_save = event.proposed is not None and not _asked_by_rule(event)
    return ("once", "session", "always", "no") if may_save else ("once", "session", "no")


def _asked_by_rule(event: ApprovalRequested) -> bool:
    return event.decision.rule is not None and event.decision.rule.verdict is Verdict.ASK


def choice_text(scope: ApprovalScope, event: ApprovalRequested | None, say: Words, *, with_rule: bool = True) -> str:
    """`Oui, toujours : allow Bash(git push origin avoirs-devise)`; without the rule where there is no room for it."""
    if scope == "always" and with_rule and event is not None and event.proposed:
        return say("term.choice.always_rule", rule=f"allow {clean_row(event.proposed)}")
    return say(f"term.choice.{scope}")


def answer_text(answer: Answer, event: ApprovalRequested | LimitReached | None, say: Words, *, stopped: bool) -> str:
    """What stands after `◆ question :`."""
    if stopped:
        return say("term.choice.stopped")
    if not isinstance(event, ApprovalRequested):
        return say("term.choice.go_on" if answer.scope != "no" else "term.choice.no")
    text = choice_text(answer.scope, event, say)
    return f"{text} — {clean_row(answer.reason)}" if answer.reason else text
