"""What both memory tools share: the parameter `tags`, and a memory's problem as the error result of a call."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Final, TypeVar

from maia.core.errors import MaiaError, ToolProblem
from maia.tools.arguments import Parameter

TAGS: Final = Parameter("tags", "list", "short words; several narrow a search down", aliases=("tag", "labels"))

ResultT = TypeVar("ResultT")


def read_tags(given: list[Any] | None) -> tuple[str, ...]:
    """The tags of a call. Raises `ToolProblem` where one is no text."""
    tags = given or []
    if any(not isinstance(tag, str) for tag in tags):
        raise ToolProblem("tool.memory.tags")
    return tuple(tags)


async def remembered(work: Awaitable[ResultT]) -> ResultT:
    """What the memory answers. Its problems are told to the model: they never end a turn."""
    try:
        return await work
    except MaiaError as problem:
        raise ToolProblem(problem.key, **problem.values) from None
