"""What a tool of the door is: its parameters, the form of what it answers, what clients may know of its effects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from maia.core.jsonvalue import JsonObject
from maia.core.parameters import Parameters
from maia.orchestrator.calls import Call, Reply

Values: TypeAlias = dict[str, Any]
"""The checked arguments: every parameter by its name, None where an optional one is absent."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One row of the table.

    `reads_only`, `destructive`, `idempotent` and `open_world` are what a client is told (tool annotations): whether it
    changes anything, may lose something, may be repeated without effect, reaches beyond this machine.
    """

    name: str
    title: str
    parameters: Parameters
    output: JsonObject
    run: Callable[[Call, Values], Awaitable[Reply]]
    reads_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False

    @property
    def description(self) -> str:
        """The prompt that lies beside the tool."""
        return _prompt(self.name)


@cache
def _prompt(name: str) -> str:
    return Path(__file__).with_name(f"{name}.md").read_text(encoding="utf-8").strip()
