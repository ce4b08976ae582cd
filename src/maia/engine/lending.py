"""Which of our tools an agent program is lent, and under which names: all that it has no tool of its own for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from maia.core.requests import ToolSpec
from maia.core.tool import AnyTool

_ITS_OWN: Final = frozenset(
    ("Read", "Write", "Edit", "Bash", "Glob", "Grep", "WebFetch", "WebSearch", "TodoWrite", "CurrentModel")
)
"""What every program does with tools of its own, in its own wall."""


def lent(tools: Mapping[str, AnyTool]) -> dict[str, AnyTool]:
    """The tools by the names under which a program calls them, other names of theirs included: `memory_search`."""
    return {common(name): tool for name, tool in tools.items() if tool.spec.name not in _ITS_OWN}


def told(tools: Mapping[str, AnyTool]) -> tuple[ToolSpec, ...]:
    """What the program is told of lent tools, each once."""
    specs = {common(tool.spec.name): tool.spec for tool in tools.values()}

    def words(text: str) -> str:
        for name, spec in specs.items():
            text = text.replace(spec.name, name)
        return text

    return tuple(ToolSpec(name, words(spec.description), spec.parameters) for name, spec in specs.items())


def common(name: str) -> str:
    """`MemorySearch` as `memory_search`; a name of that form stays as it is."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
