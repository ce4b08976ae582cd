"""The form in which a client asks its person for an approval: the call, the rule, and four answers (elicitation)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, get_args

from maia.core.jsonvalue import JsonObject
from maia.core.permission import Answer, ApprovalScope
from maia.orchestrator.shapes import approval_data

if TYPE_CHECKING:
    from maia.core.events import ApprovalRequested
    from maia.core.ports import Say

_SCOPES: Final[tuple[ApprovalScope, ...]] = get_args(ApprovalScope)


def form_message(request: ApprovalRequested, say: Say) -> str:
    """What the person reads: which call, what it would do, and why the rules ask."""
    data = approval_data(request, say)
    rows = [
        say("mcp.form.question", tool=data["tool"]),
        data["preview"],
        data["reason"],
        say("mcp.form.rule", rule=data["rule"]) if data["rule"] else "",
        say("mcp.form.always", rule=request.proposed) if request.proposed else "",
    ]
    return "\n".join(row for row in rows if row)


def form_schema(request: ApprovalRequested, say: Say) -> JsonObject:
    """The answers to choose from; "always" only where the rule it would save could win."""
    scopes = [scope for scope in _SCOPES if scope != "always" or request.proposed]
    choices = [{"const": scope, "title": say(f"mcp.answer.{scope}")} for scope in scopes]
    return {
        "type": "object",
        "properties": {
            "answer": {"type": "string", "title": say("mcp.form.answer"), "oneOf": choices},
            "reason": {"type": "string", "title": say("mcp.form.reason")},
        },
        "required": ["answer"],
    }


def answer_of(action: str, content: Mapping[str, Any] | None, request: ApprovalRequested, say: Say) -> Answer:
    """What the person meant. Whoever declines or closes the form says no: the run would else wait for nobody."""
    given = content or {}
    scope: ApprovalScope | None = next((scope for scope in _SCOPES if scope == given.get("answer")), None)
    if action != "accept" or scope is None or (scope == "always" and not request.proposed):
        return Answer("no", say("mcp.form.declined"))
    reason = given.get("reason")
    return Answer(scope, reason if isinstance(reason, str) else "")
