"""Fake hands for the file tools: a real folder, real words, rules and a change log that only remember."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from maia.core.errors import ToolProblem
from maia.core.jsonvalue import JsonObject
from maia.core.permission import Decision, Need, Rule, RuleSource, Verdict
from maia.core.ports import Fetcher, Hands, Processes, ToolMemory
from maia.core.reason import Reason
from maia.core.results import ToolResult
from maia.core.tool import AnyTool
from maia.i18n.catalogue import Catalogue
from maia.tools.readlog import SessionReads

FRENCH = Catalogue("fr", strict=True)
ENGLISH = Catalogue("en", strict=True)


@dataclass
class FakeChanges:
    """A `ChangeLog` that keeps what it is told."""

    records: list[tuple[str, Path, bytes | None, bytes | None, int | None]] = field(default_factory=list)

    def record(self, call_id: str, path: Path, before: bytes | None, after: bytes | None, mode: int | None) -> None:
        self.records.append((call_id, path, before, after, mode))


def decision(verdict: Verdict, rule: str = "") -> Decision:
    made = Rule(verdict, "Read", rule, rule, RuleSource("session")) if rule else None
    return Decision(verdict, Reason("test"), made)


def allow_all(_need: Need) -> Decision:
    return decision(Verdict.ALLOW)


def rules(**verdicts: Verdict) -> Callable[[Need], Decision]:
    """`rules(secret=Verdict.DENY)`: a path that contains the word gets the verdict."""

    def decide(need: Need) -> Decision:
        for word, verdict in verdicts.items():
            if word in need.value:
                return decision(verdict, f"*{word}*")
        return decision(Verdict.ALLOW)

    return decide


def hands_at(folder: Path, **fields: Any) -> Hands:
    values: dict[str, Any] = {
        "launch": folder.resolve(),
        "call_id": "call-1",
        "say": ENGLISH,
        "processes": cast(Processes, None),
        "fetcher": cast(Fetcher, None),
        "reads": SessionReads(),
        "changes": FakeChanges(),
        "memory": ToolMemory(),
        "current_model": lambda: "fake-model",
        "emit": lambda _text: None,
        "allowed": allow_all,
        "saved_outputs": folder / "saved",
    }
    return Hands(**(values | fields))


def call(tool: AnyTool, hands: Hands, **arguments: Any) -> ToolResult:
    """Parse and run, as the engine does."""
    return asyncio.run(run(tool, hands, arguments))


async def run(tool: AnyTool, hands: Hands, arguments: JsonObject) -> ToolResult:
    return await tool.run(tool.parse(arguments), hands)


def refusal(tool: AnyTool, hands: Hands, **arguments: Any) -> ToolProblem:
    """The problem that the call ends with; its words must exist in both languages."""
    try:
        result = call(tool, hands, **arguments)
    except ToolProblem as problem:
        for say in (FRENCH, ENGLISH):
            say(problem.key, **problem.values)
        return problem
    raise AssertionError(f"not refused: {result.text}")


def words(problem: ToolProblem) -> str:
    return ENGLISH(problem.key, **problem.values)
