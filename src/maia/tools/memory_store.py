"""The MemoryStore tool: keeps a text in the private memory that the tool was made for (C6.04)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from maia.core.errors import ToolProblem
from maia.core.jsonvalue import JsonObject
from maia.core.memories import Memory
from maia.core.permission import Need
from maia.core.ports import Hands
from maia.core.requests import ToolSpec
from maia.core.results import Block, ToolResult
from maia.core.text import visible
from maia.tools.arguments import Parameter, Parameters
from maia.tools.prompt import load_spec
from maia.tools.tags import TAGS, read_tags, remembered

PARAMETERS: Final = Parameters(
    (
        Parameter("text", "text", "at most 100000 characters", required=True, aliases=("content", "memory", "fact")),
        TAGS,
    )
)


@dataclass(frozen=True, slots=True)
class MemoryStoreArgs:
    """What is kept, and under which tags."""

    text: str
    tags: tuple[str, ...]


class MemoryStoreTool:
    """Writes into one memory. Whose it is was settled when the tool was made, and is no argument."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @property
    def spec(self) -> ToolSpec:
        return load_spec("MemoryStore", PARAMETERS)

    def parse(self, arguments: JsonObject) -> MemoryStoreArgs:
        values = PARAMETERS.read(arguments)
        if not values["text"].strip():
            raise ToolProblem("tool.memory.empty")
        return MemoryStoreArgs(values["text"], read_tags(values["tags"]))

    def needs(self, args: MemoryStoreArgs, launch: Path) -> tuple[Need, ...]:
        return (Need("MemoryStore", "none"),)

    def preview(self, args: MemoryStoreArgs) -> str:
        return visible(" ".join(args.text.split()))[:200]

    def lock_key(self, args: MemoryStoreArgs, launch: Path) -> str | None:
        return "MemoryStore"

    async def proposal(self, args: MemoryStoreArgs, hands: Hands) -> tuple[Block, ...]:
        return ()

    async def run(self, args: MemoryStoreArgs, hands: Hands) -> ToolResult:
        entry = await remembered(self._memory.store(args.text, args.tags, hands.session))
        rows = [hands.say("tool.memory.kept", id=entry.entry_id)]
        if entry.text != args.text:
            rows.append(hands.say("tool.memory.masked"))
        data: JsonObject = {"id": entry.entry_id, "tags": list(entry.tags)}
        return ToolResult("\n".join(rows), summary=entry.entry_id, data=data)
