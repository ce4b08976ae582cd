"""Our words for a client: errors with what happened and what to do, failures of a run, amounts and names of things."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maia.core.errors import MaiaError, ModelFailed
from maia.core.text import visible
from maia.core.types import Cost, JsonObject

if TYPE_CHECKING:
    from maia.core.ports import Say
    from maia.core.types import Failure

MAX_PROVIDER_CHARS = 600
"""Of a server's own words that are quoted."""


def error_data(problem: MaiaError, say: Say) -> JsonObject:
    """An error as `{code, message, fix}`; the code is the key of its sentence, the same in every language."""
    if isinstance(problem, ModelFailed):
        return failure_data(problem.failure, say)
    values = {name: value for name, value in problem.values.items() if name != "n"}
    count = problem.values.get("n")
    n = count if isinstance(count, int) else None
    return _with_fix(problem.key, visible(say(problem.key, n, **values)), n, values, say)


def failure_data(failure: Failure, say: Say) -> JsonObject:
    """A failed model call as `{code, message, fix}`, and what its server said, quoted."""
    values: JsonObject = {"host": visible(failure.host)}
    data = _with_fix(f"failure.{failure.kind}", say(f"failure.{failure.kind}", **values), None, values, say)
    if failure.status is not None:
        data["status"] = failure.status
    if failure.host:
        data["host"] = visible(failure.host)
    if words := visible(failure.provider_text).strip()[:MAX_PROVIDER_CHARS]:
        data["provider_text"] = words
    return data


def _with_fix(code: str, message: str, n: int | None, values: JsonObject, say: Say) -> JsonObject:
    data: JsonObject = {"code": code, "message": message}
    if say.has(f"{code}.fix"):
        data["fix"] = visible(say(f"{code}.fix", n, **values))
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
