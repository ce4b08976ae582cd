"""The contract of a tool: what it tells the model, what a call needs, and how a call runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, TypeVar

from maia.core.jsonvalue import JsonObject
from maia.core.permission import Need
from maia.core.ports import Hands
from maia.core.requests import ToolSpec
from maia.core.results import Block, ToolResult

ArgsT = TypeVar("ArgsT")


class Tool(Protocol[ArgsT]):
    """Built-in, custom and MCP tools alike. A tool reads no rule and opens nothing itself: it works with its hands.

    The engine calls, in this order: `parse` once; `needs` and `preview` to decide and to ask; `lock_key` to queue;
    `run` when it was allowed. All but `run` are quick, pure of side effects, and may raise only `ToolProblem`.
    """

    @property
    def spec(self) -> ToolSpec:
        """What the model sees. The text is constant within a session, so that prompt caches hold."""
        ...

    def parse(self, arguments: JsonObject) -> ArgsT:
        """Checked arguments. Raises `ArgumentProblem`, whose sentence lists the parameters received (T5.02)."""
        ...

    def needs(self, args: ArgsT, launch: Path) -> tuple[Need, ...]:
        """What the call would do. An empty tuple needs no permission unless a rule names the tool."""
        ...

    def preview(self, args: ArgsT) -> str:
        """One line for the row and for the question: the command, the path, the URL."""
        ...

    def lock_key(self, args: ArgsT, launch: Path) -> str | None:
        """Calls with the same key run one after the other (T5.07): a resolved path, or the tool's name."""
        ...

    async def proposal(self, args: ArgsT, hands: Hands) -> tuple[Block, ...]:
        """What the call would change, shown above the question (a diff). Reads only; empty where there is nothing."""
        ...

    async def run(self, args: ArgsT, hands: Hands) -> ToolResult:
        """Do it. `ToolProblem` becomes an error result; a cancelled call stops what it started, then re-raises."""
        ...


AnyTool = Tool[Any]
