"""Runs as a client gets them: the same facts as data with a schema, and as text to read."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from maia.core.codec import to_json
from maia.core.jsonvalue import JsonObject
from maia.core.permission import Verdict
from maia.core.text import cut_middle, visible
from maia.orchestrator.words import error_text, failure_data, is_of_failure, money, reason_data, sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maia.core.events import ApprovalRequested
    from maia.core.ports import Say
    from maia.core.runs import RunInfo

MAX_TEXT_CHARS: Final = 200_000
"""Of a run's answer: more would not fit the window of any client's model. The whole is in the run's session."""
MAX_TASK_CHARS: Final = 300
"""Of a task where runs are listed."""

_NULLABLE_NUMBER: Final[JsonObject] = {"type": ["number", "null"]}
_STRING: Final[JsonObject] = {"type": "string"}


def _object(properties: JsonObject, optional: tuple[str, ...] = ()) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
    }


FAILURE_SCHEMA: Final[JsonObject] = _object(
    {
        "code": {"type": "string", "description": "Stable name of the error"},
        "message": {"type": "string", "description": "What happened, in the user's language"},
        "fix": {"type": "string", "description": "What to do"},
        "status": {"type": "integer", "description": "HTTP status"},
        "host": _STRING,
        "provider_text": {"type": "string", "description": "The server's own words"},
    },
    optional=("fix", "status", "host", "provider_text"),
)

APPROVAL_SCHEMA: Final[JsonObject] = _object(
    {
        "approval_id": _STRING,
        "tool": _STRING,
        "preview": {"type": "string", "description": "The command, path or host it is about"},
        "rule": {"type": "string", "description": "The rule that asks, empty when none does"},
        "reason": _STRING,
    }
)

RUN_SCHEMA: Final[JsonObject] = _object(
    {
        "run_id": _STRING,
        "state": {"type": "string", "enum": ["queued", "running", "waiting", "ended", "lost"]},
        "outcome": {
            "type": ["string", "null"],
            "description": "finished, failed, stopped, turn_limit, output_limit, refused, tool_budget; null before",
        },
        "succeeded": {"type": "boolean", "description": "True only for a run that finished by itself"},
        "text": {"type": "string", "description": "The answer, whole once the run has ended"},
        "text_cut_chars": {"type": "integer", "description": "Left out of the middle of text"},
        "agent": _STRING,
        "nickname": {"type": "string", "description": "What people call the agent"},
        "runner": {"type": "string", "description": "maia, or the agent program that ran it"},
        "model": {"type": "string", "description": "The model that really answered"},
        "provider": _STRING,
        "task": _STRING,
        "folder": _STRING,
        "session": {"type": "string", "description": "Goes on with agent_control resume, or maia --resume"},
        "started": {"type": "number", "description": "Seconds since 1970"},
        "ended": {"type": ["number", "null"], "description": "Seconds since 1970"},
        "steps": {"type": "integer"},
        "tool_calls": {"type": "integer"},
        "usage": {
            "type": ["object", "null"],
            "description": "Tokens as reported; null when nobody reported any",
            "properties": {
                name: {"type": "integer"} for name in ("input", "output", "cache_read", "cache_write", "reasoning")
            },
        },
        "cost": _object(
            {"usd": _NULLABLE_NUMBER, "source": {"type": "string", "enum": ["reported", "estimated", "unknown"]}}
        ),
        "failure": {"anyOf": [FAILURE_SCHEMA, {"type": "null"}]},
        "approvals": {"type": "array", "items": APPROVAL_SCHEMA, "description": "What waits for an answer"},
    }
)


def succeeded(info: RunInfo) -> bool:
    """Whether a run did what it was for, as far as anybody but a reader can say."""
    return info.outcome == "finished"


def run_data(info: RunInfo, say: Say) -> JsonObject:
    """A run in the form of `RUN_SCHEMA`."""
    text = cut_middle(info.text, MAX_TEXT_CHARS)
    return {
        "run_id": info.run_id,
        "state": info.state,
        "outcome": info.outcome,
        "succeeded": succeeded(info),
        "text": text.text,
        "text_cut_chars": text.cut_chars,
        "agent": info.agent,
        "nickname": info.nickname,
        "runner": info.runner,
        "model": info.model,
        "provider": info.provider,
        "task": cut_middle(info.task, MAX_TASK_CHARS).text,
        "folder": info.folder,
        "session": info.session,
        "started": info.started,
        "ended": info.ended,
        "steps": info.steps,
        "tool_calls": info.tool_calls,
        "usage": asdict(info.usage) if info.usage is not None else None,
        "cost": to_json(info.cost),
        "failure": _why(info, say),
        "approvals": [approval_data(ask, say) for ask in info.open_asks],
    }


def approval_data(ask: ApprovalRequested, say: Say) -> JsonObject:
    """A call that waits for an answer, in the form of `APPROVAL_SCHEMA`."""
    rule = ask.decision.rule
    place = "" if rule is None else f" ({rule.source.name})"
    return {
        "approval_id": ask.approval_id,
        "tool": ask.name,
        "preview": visible(what_it_would_do(ask)),
        "rule": "" if rule is None else f"{Verdict(rule.verdict).name.lower()} {rule.text}{place}",
        "reason": sentence(ask.decision.reason.key, ask.decision.reason.values, say),
    }


def what_it_would_do(ask: ApprovalRequested) -> str:
    """The command, path or host that a call is about."""
    values = [need.value for need in ask.needs if need.value]
    return cut_middle(ask.preview or ", ".join(values), 2_000).text


def run_text(info: RunInfo, say: Say) -> str:
    """A run to read: its answer, or how it stands, then one row of facts."""
    parts = [cut_middle(info.text, MAX_TEXT_CHARS).text.strip(), _standing(info, say), _facts(info)]
    return "\n\n".join(part for part in parts if part)


def _standing(info: RunInfo, say: Say) -> str:
    """Empty for a run that finished: its answer says it all."""
    if info.state == "ended":
        if succeeded(info):
            return "" if info.text.strip() else say("mcp.run.no_text")
        rows = [say(f"mcp.outcome.{info.outcome or 'failed'}", agent=called(info))]
    else:
        rows = [say(f"mcp.state.{info.state}", agent=called(info), run=info.run_id)]
    if (why := _why(info, say)) is not None:
        rows.append(error_text(why))
    for ask in info.open_asks:
        data = approval_data(ask, say)
        rows.append(say("mcp.run.waits_for", id=ask.approval_id, tool=ask.name, what=data["preview"]))
    return "\n".join(rows)


def _why(info: RunInfo, say: Say) -> JsonObject | None:
    """What went wrong: what kept the run from going on, in its own words, else the call of the model that failed."""
    if info.problem is not None and not (info.failure is not None and is_of_failure(info.problem)):
        return reason_data(info.problem, say)
    return failure_data(info.failure, say) if info.failure is not None else None


def called(info: RunInfo) -> str:
    """What people call whoever runs."""
    return visible(info.nickname or info.agent or "maia")


def _facts(info: RunInfo) -> str:
    model = f"{info.model} ({info.provider})" if info.provider and info.model else info.model
    tokens = "" if info.usage is None else f"{info.usage.prompt} → {info.usage.output} tokens"
    facts = [called(info), visible(model), tokens, money(info.cost), f"run {info.run_id}"]
    return "— " + " · ".join(fact for fact in facts if fact)


def rows_text(infos: Sequence[RunInfo], say: Say) -> str:
    """Runs as one row each, newest first."""
    return "\n".join(_row(info) for info in infos) or say("mcp.run.none")


def _row(info: RunInfo) -> str:
    from time import gmtime, strftime

    how: Any = info.outcome if info.state == "ended" else info.state
    when = strftime("%Y-%m-%d %H:%M:%SZ", gmtime(info.started))
    task = " ".join(visible(cut_middle(info.task, 80).text).split())
    return f"{info.run_id}  {when}  {how}  {called(info)}  {task}"
