from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from maia.core.costs import Usage
from maia.core.events import ContextMeasured, TextDelta
from maia.core.runtime import Permit, ProgramCall, ProgramEnd, ProgramEvent, ProgramResult, ProgramStart, ProgramTask
from maia.runtimes.acp_updates import Fold, usage_of
from maia.runtimes.claude_code import ClaudeCodeRuntime
from maia.runtimes.codex import CodexRuntime
from maia.runtimes.launching import Launch
from maia.runtimes.programs import BY_NAME
from maia.runtimes.rpc import read_object
from maia.runtimes.totals import cost_since, usage_since

COMMAND = "echo hello-from-tool > toolproof.txt && cat toolproof.txt"


@pytest.mark.parametrize(
    ("sample", "program", "usage", "cost"),
    [
        ("acp-claude", "claude-acp", Usage(2000, 40, 200), 0.00666),
        ("acp-opencode", "opencode", Usage(900, 20, 100), 0.00188),
        ("acp-codex", "codex-acp", None, None),
        ("acp-qwen", "qwen", Usage(1800, 40, 200), None),
        ("acp-gemini", "gemini", Usage(2000, 40), None),
        ("acp-kimicode", "kimi", None, None),
        ("acp-vibe", "vibe", Usage(1800, 40, 200), 0.00208),
        ("acp-hermes", "hermes", Usage(1800, 40, 200), None),
    ],
)
def test_a_recorded_tool_turn_of_each_agent_is_one_command_and_one_answer(
    shared: Path, sample: str, program: str, usage: Usage | None, cost: float | None
) -> None:
    fold = Fold(BY_NAME[program], Path("/srv/demo"), None)
    events: list[Any] = []
    result: dict[str, Any] = {}
    for line in (shared / "samples" / f"{sample}.jsonl").read_text().splitlines():
        message = read_object(line[2:]) or {}
        if not line.startswith("< "):
            continue
        if message.get("method") == "session/update":
            events += fold.take(message["params"]["update"])
        elif message.get("method") == "session/request_permission":
            events.append(fold.asked(message["params"]["toolCall"]))
        elif message.get("id") == 3:
            result = message["result"]
    calls = [event for event in events if isinstance(event, ProgramCall)]
    assert [(each.call.name, each.needs[0].value.endswith(COMMAND)) for each in calls] == [("Bash", True)]
    assert all(each.is_whole for each in calls) or program == "hermes"
    assert len([event for event in events if isinstance(event, ProgramResult)]) == 1
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert text.endswith("FAKE-ANSWER: the answer is 42.")
    assert fold.usage(result) == usage
    assert fold.cost == (None if cost is None else pytest.approx(cost))


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        pytest.param(
            {"inputTokens": 2000, "outputTokens": 40, "cachedReadTokens": 200, "totalTokens": 2040},
            Usage(1800, 40, 200),
            id="the total says that the cache is part of the input",
        ),
        pytest.param(
            {"inputTokens": 2000, "outputTokens": 40, "cachedReadTokens": 200, "totalTokens": 2240},
            Usage(2000, 40, 200),
            id="or beside it",
        ),
        pytest.param({"inputTokens": -1, "outputTokens": "x"}, Usage(), id="what is no count counts nothing"),
    ],
)
def test_the_cache_is_counted_once(told: dict[str, Any], usage: Usage) -> None:
    assert usage_of(told) == usage


def test_the_cost_of_a_turn_is_what_the_session_cost_more() -> None:
    fold = Fold(BY_NAME["vibe"], Path("/x"), 0.5)
    list(fold.take({"sessionUpdate": "usage_update", "cost": {"amount": 0.75, "currency": "USD"}}))
    assert fold.cost == 0.25
    other = Fold(BY_NAME["vibe"], Path("/x"), None)
    list(other.take({"sessionUpdate": "usage_update", "cost": {"amount": 0.75, "currency": "EUR"}}))
    assert other.cost is None


@pytest.mark.parametrize(
    "update",
    [
        {},
        {"sessionUpdate": 3},
        {"sessionUpdate": "tool_call"},
        {"sessionUpdate": "tool_call_update", "content": [1, {}]},
    ],
)
def test_a_misshapen_update_harms_nothing(update: dict[str, Any]) -> None:
    assert list(Fold(BY_NAME["qwen"], Path("/x"), None).take(update)) == []


class Recorded:
    """A process that says what was recorded, and a desk that keeps what it is told."""

    said = ""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = list(lines)
        self.told: list[ProgramEvent] = []

    async def write(self, line: str) -> None:
        del line

    def end_input(self) -> None:
        pass

    async def read_line(self) -> str | None:
        return self._lines.pop(0) if self._lines else None

    async def stop(self, how: str = "gently") -> int | None:
        del how
        return 0

    def tell(self, event: ProgramEvent) -> None:
        self.told.append(event)

    async def permit(self, call: ProgramCall) -> Permit:
        raise AssertionError(call)

    def play(self, runtime: type[Any], program: str) -> ProgramEnd:
        async def start(_start: ProgramStart) -> Any:
            return self

        none: Any = None
        task = ProgramTask("Do it", Path("/srv/demo"), 0)
        return asyncio.run(runtime(Launch(BY_NAME[program], lambda _arguments: none, start)).turn(task, self))


@pytest.mark.parametrize(
    ("sample", "runtime", "program", "succeeded", "usage", "cost"),
    [
        ("claude-permission-allow", ClaudeCodeRuntime, "claude-code", True, Usage(2000, 40, 200), 0.00666),
        ("claude-permission-deny", ClaudeCodeRuntime, "claude-code", False, Usage(2000, 40, 200), 0.00666),
        ("claude-partial", ClaudeCodeRuntime, "claude-code", None, Usage(1000, 20, 100), 0.00333),
        ("codex-tool", CodexRuntime, "codex", True, Usage(1800, 40, 200), None),
    ],
)
def test_a_recorded_turn_of_each_native_driver(
    shared: Path,
    sample: str,
    runtime: type[Any],
    program: str,
    succeeded: bool | None,
    usage: Usage,
    cost: float | None,
) -> None:
    recorded = Recorded((shared / "samples" / f"{sample}.jsonl").read_text().splitlines())
    end = recorded.play(runtime, program)
    assert (end.outcome, end.usage, end.cost_usd) == ("finished", usage, cost)
    text = "".join(event.text for event in recorded.told if isinstance(event, TextDelta))
    assert text == "FAKE-ANSWER: the answer is 42."
    ends = [event.succeeded for event in recorded.told if isinstance(event, ProgramResult)]
    assert ends == ([] if succeeded is None else [succeeded])
    measured = [event for event in recorded.told if isinstance(event, ContextMeasured)]
    sizes = [ContextMeasured(1_100, window, "measured") for window in (None, 200_000)]
    expected = sizes if program == "claude-code" else []
    assert measured == expected, "told as the call is seen; the window of the model is known at the end (R-2.099)"


@pytest.mark.parametrize(
    ("total", "before", "since"),
    [
        (Usage(30, 6, 4), Usage(10, 2, 4), Usage(20, 4, 0)),
        (Usage(30, 6), None, Usage(30, 6)),
        (None, Usage(10, 2), None),
        (Usage(5, 1), Usage(10, 2), Usage(5, 1)),
    ],
)
def test_of_a_session_s_sum_only_what_is_new_counts(
    total: Usage | None, before: Usage | None, since: Usage | None
) -> None:
    assert usage_since(total, before) == since
    assert (cost_since(0.75, 0.5), cost_since(0.75, None), cost_since(None, 1), cost_since(0.1, 0.5)) == (
        0.25,
        0.75,
        None,
        0.1,
    )
