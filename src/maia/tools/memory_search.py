"""The MemorySearch tool: finds entries of the private memory that the tool was made for (C6.04)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import gmtime, strftime
from typing import Final

from maia.core.jsonvalue import JsonObject
from maia.core.memories import Memory, MemoryEntry
from maia.core.permission import Need
from maia.core.ports import Hands
from maia.core.requests import ToolSpec
from maia.core.results import Block, ToolResult
from maia.core.text import cut_middle, visible
from maia.tools.arguments import Parameter, Parameters
from maia.tools.prompt import load_spec
from maia.tools.tags import TAGS, read_tags, remembered

DEFAULT_LIMIT: Final = 10
MAX_LIMIT: Final = 50
MAX_CHARS: Final = 30_000
"""Of all entries together, so that one answer cannot fill the window; each gets an equal share of it."""

PARAMETERS: Final = Parameters(
    (
        Parameter("query", "string", aliases=("text", "question", "search", "q")),
        Parameter("limit", "integer", "default 10, at most 50", aliases=("count", "max_results"), minimum=1),
        TAGS,
    )
)


@dataclass(frozen=True, slots=True)
class MemorySearchArgs:
    """An empty query asks for the newest entries. Entries must have all of the tags."""

    query: str
    limit: int
    tags: tuple[str, ...]


class MemorySearchTool:
    """Reads one memory. Whose it is was settled when the tool was made, and is no argument."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @property
    def spec(self) -> ToolSpec:
        return load_spec("MemorySearch", PARAMETERS)

    def parse(self, arguments: JsonObject) -> MemorySearchArgs:
        values = PARAMETERS.read(arguments)
        limit = min(values["limit"] or DEFAULT_LIMIT, MAX_LIMIT)
        return MemorySearchArgs((values["query"] or "").strip(), limit, read_tags(values["tags"]))

    def needs(self, args: MemorySearchArgs, launch: Path) -> tuple[Need, ...]:
        return (Need("MemorySearch", "none"),)

    def preview(self, args: MemorySearchArgs) -> str:
        return visible(" ".join([args.query, *(f"#{tag}" for tag in args.tags)]).strip())[:200]

    def lock_key(self, args: MemorySearchArgs, launch: Path) -> str | None:
        return None

    async def proposal(self, args: MemorySearchArgs, hands: Hands) -> tuple[Block, ...]:
        return ()

    async def run(self, args: MemorySearchArgs, hands: Hands) -> ToolResult:
        entries = await remembered(self._found(args))
        if not entries:
            return ToolResult(hands.say("tool.memory.nothing"), summary=hands.say("tool.memory.entries", n=0))
        share = MAX_CHARS // len(entries)
        text = "\n\n".join(_shown(entry, share) for entry in entries)
        data: JsonObject = {"entries": [entry.entry_id for entry in entries]}
        return ToolResult(text, summary=hands.say("tool.memory.entries", n=len(entries)), data=data)

    async def _found(self, args: MemorySearchArgs) -> Sequence[MemoryEntry]:
        if not args.query:
            return await self._memory.recent(args.limit, args.tags)
        return [hit.entry for hit in await self._memory.search(args.query, args.limit, args.tags)]


def _shown(entry: MemoryEntry, most: int) -> str:
    when = strftime("%Y-%m-%d %H:%M UTC", gmtime(entry.created))
    tags = "".join(f" #{tag}" for tag in entry.tags)
    return f"[{entry.entry_id}] {when}{tags}\n{visible(cut_middle(entry.text, most).text)}"
