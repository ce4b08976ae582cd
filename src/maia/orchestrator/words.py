"""Our words for a client: errors with what happened and what to do, failures of a run, amounts and names of things."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maia.core.costs import Cost
from maia.core.errors import MaiaError, ModelFailed
from maia.core.jsonvalue import JsonObject
from maia.core.reason import Reason
from maia.core.text import visible

if TYPE_CHECKING:
    from maia.core.endings import Failure
    from maia.core.ports import Say

MAX_PROVIDER_CHARS = 600
"""Of a server's own words that are quoted."""


def error_data(problem: MaiaError, say: Say) -> JsonObject:
    """An error as `{code, message, fix}`; the code is the key of its sentence, the same in every language."""
    if isinstance(problem, ModelFailed):
        return failure_data(problem.failure, say)
    return _with_fix(problem.key, problem.values, say)


def failure_data(failure: Failure, say: Say) -> JsonObject:
    """A failed model call as `{code, message, fix}`, and what its server said, quoted."""
    data = _with_fix(f"failure.{failure.kind}", {"host": failure.host}, say)
    if failure.status is not None:
        data["status"] = failure.status
    if failure.host:
        data["host"] = visible(failure.host)
    if words := visible(failure.provider_text).strip()[:MAX_PROVIDER_CHARS]:
        data["provider_text"] = words
    return data


def is_of_failure(reason: Reason) -> bool:
    """Whether a reason says no more than that a call of the model failed: the `Failure` then knows better."""
    return reason.key.startswith("failure.")


def reason_data(reason: Reason, say: Say) -> JsonObject:
    """A reason given as data, as `{code, message, fix}`."""
    return _with_fix(reason.key, reason.values, say)


def sentence(key: str, values: JsonObject, say: Say) -> str:
    """The words of a key whose values came as data, its count among them."""
    others = {name: value for name, value in values.items() if name != "n"}
    count = values.get("n")
    return visible(say(key, count if isinstance(count, int) else None, **others))


def _with_fix(code: str, values: JsonObject, say: Say) -> JsonObject:
    data: JsonObject = {"code": code, "message": sentence(code, values, say)}
    if say.has(f"{code}.fix"):
        data["fix"] = sentence(f"{code}.fix", values, say)
    return data


def error_text(data: JsonObject) -> str:
    """What `error_data` or `failure_data` gave, to read: what happened, what the server said, what to do, the code."""
    quoted = f"\n> {data['provider_text']}" if data.get("provider_text") else ""
    remedy = f"\n→ {data['fix']}" if data.get("fix") else ""
    return f"{data['message']}{quoted}{remedy}\n({data['code']})"


def money(cost: Cost) -> str:
    """`$0.0840`, `~$0.0840` when estimated, empty when unknown: an unknown cost is never shown as 0."""
    if cost.usd is None or cost.source == "unknown":
        return ""
    return f"{'~' if cost.source == 'estimated' else ''}${cost.usd:,.4f}"
