"""The memory tools of the workspace: search, expand, keep. Whose memory it is, is no argument (N-11.07)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import gmtime, strftime
from typing import Any, Final

from maia.core.errors import ToolProblem
from maia.core.jsonvalue import JsonObject
from maia.core.memories import Item, Lookups
from maia.core.permission import Need
from maia.core.ports import Hands
from maia.core.requests import ToolSpec
from maia.core.results import Block, ToolResult
from maia.core.text import visible
from maia.tools.arguments import Parameter, Parameters
from maia.tools.prompt import load_spec
from maia.tools.tags import remembered

DEFAULT_LIMIT: Final = 8
MAX_LIMIT: Final = 20
MOST_IDS: Final = 8

_SEARCH: Final = Parameters(
    (
        Parameter("query", "string", required=True, aliases=("text", "question", "search", "q")),
        Parameter("limit", "integer", "default 8, at most 20", aliases=("count", "max_results"), minimum=1),
    )
)
_EXPAND: Final = Parameters(
    (Parameter("ids", "list", "at most 8", required=True, aliases=("id", "items", "item"), items="string"),)
)
_KEEP: Final = Parameters(
    (
        Parameter("text", "text", "at most 4000 characters", required=True, aliases=("content", "memory", "fact")),
        Parameter("everywhere", "boolean", "true: for all projects; default: for this project", aliases=("global",)),
    )
)


class _LookupTool:
    """What the three have in common: no file, no command, nothing to be asked about."""

    def __init__(self, lookups: Lookups) -> None:
        self.lookups = lookups

    def lock_key(self, args: Any, launch: Path) -> str | None:
        return "MemorySearch"

    async def proposal(self, args: Any, hands: Hands) -> tuple[Block, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class SearchArgs:
    query: str
    limit: int


class RecallSearchTool(_LookupTool):
    """Finds notes and earlier messages."""

    @property
    def spec(self) -> ToolSpec:
        return load_spec("MemorySearch", _SEARCH, "recallsearch")

    def parse(self, arguments: JsonObject) -> SearchArgs:
        values = _SEARCH.read(arguments)
        return SearchArgs(values["query"].strip(), min(values["limit"] or DEFAULT_LIMIT, MAX_LIMIT))

    def needs(self, args: SearchArgs, launch: Path) -> tuple[Need, ...]:
        return (Need("MemorySearch", "none"),)

    def preview(self, args: SearchArgs) -> str:
        return visible(" ".join(args.query.split()))[:200]

    async def run(self, args: SearchArgs, hands: Hands) -> ToolResult:
        items = await remembered(self.lookups.search(args.query, args.limit))
        return _result(items, hands)


@dataclass(frozen=True, slots=True)
class ExpandArgs:
    ids: tuple[str, ...]


class RecallExpandTool(_LookupTool):
    """Gives items whole."""

    @property
    def spec(self) -> ToolSpec:
        return load_spec("MemoryExpand", _EXPAND, "recallexpand")

    def parse(self, arguments: JsonObject) -> ExpandArgs:
        given = [each for each in _EXPAND.read(arguments)["ids"] if isinstance(each, str) and each.strip()]
        if not given:
            raise ToolProblem("tool.memory.no_id")
        return ExpandArgs(tuple(dict.fromkeys(each.strip() for each in given))[:MOST_IDS])

    def needs(self, args: ExpandArgs, launch: Path) -> tuple[Need, ...]:
        return (Need("MemoryExpand", "none"),)

    def preview(self, args: ExpandArgs) -> str:
        return visible(", ".join(args.ids))[:200]

    async def run(self, args: ExpandArgs, hands: Hands) -> ToolResult:
        items = await remembered(self.lookups.expand(args.ids))
        return _result(items, hands)


@dataclass(frozen=True, slots=True)
class KeepArgs:
    text: str
    everywhere: bool


class RecallKeepTool(_LookupTool):
    """Keeps a note."""

    @property
    def spec(self) -> ToolSpec:
        return load_spec("MemoryStore", _KEEP, "recallkeep")

    def parse(self, arguments: JsonObject) -> KeepArgs:
        values = _KEEP.read(arguments)
        if not values["text"].strip():
            raise ToolProblem("tool.memory.empty")
        return KeepArgs(values["text"], bool(values["everywhere"]))

    def needs(self, args: KeepArgs, launch: Path) -> tuple[Need, ...]:
        return (Need("MemoryStore", "none"),)

    def preview(self, args: KeepArgs) -> str:
        return visible(" ".join(args.text.split()))[:200]

    async def run(self, args: KeepArgs, hands: Hands) -> ToolResult:
        item = await remembered(self.lookups.keep(args.text, everywhere=args.everywhere))
        rows = [hands.say("tool.memory.kept", id=item.item_id)]
        if item.text != args.text.strip():
            rows.append(hands.say("tool.memory.masked"))
        return ToolResult("\n".join(rows), summary=item.item_id, data={"id": item.item_id})


def _result(items: Sequence[Item], hands: Hands) -> ToolResult:
    summary = hands.say("tool.memory.entries", n=len(items))
    if not items:
        return ToolResult(hands.say("tool.memory.nothing"), summary=summary)
    data: JsonObject = {"items": [item.item_id for item in items]}
    return ToolResult("\n\n".join(map(_shown, items)), summary=summary, data=data)


def _shown(item: Item) -> str:
    when = strftime("%Y-%m-%d", gmtime(item.when))
    where = f" · {visible(item.where)}" if item.where else ""
    return f"[{item.item_id}] {when}{where}\n{visible(item.text)}"


def lookup_tools(lookups: Lookups) -> tuple[RecallSearchTool, RecallExpandTool, RecallKeepTool]:
    """The three, over one memory."""
    return RecallSearchTool(lookups), RecallExpandTool(lookups), RecallKeepTool(lookups)
