"""The order in which agents tell of a call differs; a person sees one row all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from maia.core.permission import Need
from maia.core.runtime import ProgramCall, ProgramResult
from maia.runtimes.acp_updates import Fold
from maia.runtimes.programs import BY_NAME

CALL = {"toolCallId": "call_1", "title": "run_commands", "kind": "execute", "rawInput": {"commands": ["ls", "pwd"]}}


def told(update: str, /, **fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": update, "toolCallId": "call_1", **fields}


def cline(*, allowed: bool) -> list[Any]:
    """A call as Cline 3.0.65 tells it: before the question, after it, once more, and its end."""
    fold = Fold(BY_NAME["cline"], Path("/srv/demo"), None)
    events: list[Any] = [*fold.take(told("tool_call_update", status="pending", **CALL))]
    events.append(fold.asked({"status": "pending", **CALL}))
    if not allowed:
        fold.refused(CALL)
    events += fold.take(told("tool_call_update", status="in_progress" if allowed else "failed"))
    events += fold.take(told("tool_call", status="pending", **CALL))
    events += fold.take(told("tool_call_update", status="completed" if allowed else "failed", rawOutput="done"))
    assert not fold.has_open_calls
    return events


def test_a_call_of_cline_that_may_run_is_one_call_with_one_result() -> None:
    call, result = cline(allowed=True)
    assert isinstance(call, ProgramCall)
    assert (call.call.name, call.needs) == ("Bash", (Need("Bash", "command", "ls"), Need("Bash", "command", "pwd")))
    assert result == ProgramResult("call_1", True, "done")


def test_a_call_of_cline_that_may_not_run_is_one_call_too() -> None:
    events = cline(allowed=False)
    assert [each.call.call_id for each in events if isinstance(each, ProgramCall)] == ["call_1"]
    assert {each.call_id for each in events if isinstance(each, ProgramResult)} == {"call_1"}


def test_another_call_under_the_id_of_one_that_is_over_is_another_call() -> None:
    fold = Fold(BY_NAME["cline"], Path("/srv/demo"), None)
    fold.asked({"status": "pending", **CALL})
    fold.refused(CALL)
    list(fold.take(told("tool_call_update", status="failed")))
    other = {**CALL, "rawInput": {"commands": ["date"]}}
    call, result = fold.take(told("tool_call", status="completed", **other))
    assert isinstance(call, ProgramCall)
    assert isinstance(result, ProgramResult)
    assert call.call.call_id == result.call_id != "call_1"
    assert call.needs == (Need("Bash", "command", "date"),)


def test_a_lent_tool_that_an_agent_calls_without_asking_is_told_when_it_begins() -> None:
    fold = Fold(BY_NAME["opencode"], Path("/srv/demo"), None)
    lent = {"title": "maia_memory_search", "kind": "other", "rawInput": {"query": "harbour"}}
    assert list(fold.take(told("tool_call", status="pending", **lent))) == []
    (call,) = fold.take(told("tool_call_update", status="in_progress"))
    assert isinstance(call, ProgramCall)
    assert (call.lent, call.own, call.call.arguments) == ("memory_search", "maia_memory_search", {"query": "harbour"})
    (result,) = fold.take(told("tool_call_update", status="completed", rawOutput="found"))
    assert result == ProgramResult("call_1", True, "found")
