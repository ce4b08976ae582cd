"""Keeps placeholders out of files and commands: a call that holds one is refused, and never filled in (N-10.06).

A model that was shown `[EMAIL]` does not know the value. To put it back would let a model send away what it may not
see, and two values of one type have one placeholder; to let it through would write `[EMAIL]` over a real address.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from maia.core.errors import ToolProblem
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.permission import Need
from maia.core.ports import Hands
from maia.core.requests import ToolSpec
from maia.core.results import Block, ToolResult
from maia.core.tool import AnyTool
from maia.privacy.sent import Sent
from maia.privacy.wire import placeholders_of


class Placed:
    """The placeholders that a conversation's model was shown in the place of values."""

    def __init__(self) -> None:
        self._known: frozenset[str] = frozenset()

    def note(self, sent: Sent) -> None:
        self._known |= placeholders_of(sent)

    def within(self, arguments: JsonValue) -> tuple[str, ...]:
        """Those that stand in the arguments of a call, in alphabetical order."""
        if not self._known:
            return ()
        texts = tuple(_texts(arguments))
        return tuple(sorted(each for each in self._known if any(each in text for text in texts)))


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, member in cast("Mapping[str, Any]", value).items():
            yield key
            yield from _texts(member)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _texts(item)


class CarefulTool:
    """A tool that refuses arguments with a placeholder, before anybody is asked and before anything is done."""

    def __init__(self, tool: AnyTool, placed: Placed) -> None:
        self._tool = tool
        self._placed = placed

    @property
    def spec(self) -> ToolSpec:
        return self._tool.spec

    def parse(self, arguments: JsonObject) -> Any:
        """As the tool does. Raises `ToolProblem` for a placeholder, with what the model can do instead."""
        if found := self._placed.within(arguments):
            raise ToolProblem("privacy.placeholder", tool=self.spec.name, placeholders=", ".join(found))
        return self._tool.parse(arguments)

    def needs(self, args: Any, launch: Path) -> tuple[Need, ...]:
        return self._tool.needs(args, launch)

    def preview(self, args: Any) -> str:
        return self._tool.preview(args)

    def lock_key(self, args: Any, launch: Path) -> str | None:
        return self._tool.lock_key(args, launch)

    async def proposal(self, args: Any, hands: Hands) -> tuple[Block, ...]:
        return await self._tool.proposal(args, hands)

    async def run(self, args: Any, hands: Hands) -> ToolResult:
        return await self._tool.run(args, hands)
