"""memory_store, memory_search and memory_runs: what the caller, and nobody else, has kept and done (C6.04)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from maia.core.errors import UsageProblem
from maia.core.jsonvalue import JsonObject
from maia.core.parameters import Parameter, Parameters
from maia.core.text import visible
from maia.orchestrator.calls import Call, Reply
from maia.orchestrator.shapes import rows_text, run_data
from maia.orchestrator.tools.agent_control import MOST_RUNS, RUNS_SCHEMA, STATES
from maia.orchestrator.tools.row import Tool, Values

if TYPE_CHECKING:
    from maia.core.memories import Found, MemoryEntry

MOST_HITS: Final = 100

_ENTRY: Final[JsonObject] = {
    "entry_id": {"type": "string"},
    "text": {"type": "string"},
    "created": {"type": "number", "description": "Seconds since 1970"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "source": {"type": "string", "description": "The run it comes from"},
}


async def memory_store(call: Call, values: Values) -> Reply:
    """Keep a text in the caller's own memory."""
    if not values["text"].strip():
        raise UsageProblem("mcp.empty_memory")
    memory = await call.desk.memory(call.identity.name)
    entry = await memory.store(values["text"], tuple(values["tags"] or ()))
    return Reply(call.desk.say("mcp.memory.stored", id=entry.entry_id), {"entry": _entry_data(entry)})


async def memory_search(call: Call, values: Values) -> Reply:
    """Find in the caller's own memory; without words, the newest."""
    memory = await call.desk.memory(call.identity.name)
    limit, tags = min(values["limit"] or 10, MOST_HITS), tuple(values["tags"] or ())
    if (values["query"] or "").strip():
        hits = [_hit_data(found) for found in await memory.search(values["query"], limit, tags)]
    else:
        entries = await memory.recent(limit, tags)
        hits = [{**_entry_data(entry), "score": None, "found_by": "recent"} for entry in entries]
    text = "\n\n".join(_hit_text(hit) for hit in hits) or call.desk.say("mcp.memory.nothing")
    return Reply(text, {"hits": hits})


async def memory_runs(call: Call, values: Values) -> Reply:
    """The caller's runs, those of one agent or state where asked; the person sees everybody's."""
    whose = None if call.identity.is_person else call.identity.name
    infos = await call.desk.runs.listed(whose, MOST_RUNS)
    agent = (values["agent"] or "").casefold()
    shown = [
        info
        for info in infos
        if (not agent or agent in (info.agent.casefold(), info.nickname.casefold()))
        and values["state"] in (None, info.state)
    ][: min(values["limit"] or 20, MOST_RUNS)]
    say = call.desk.say
    return Reply(rows_text(shown, say), {"runs": [run_data(info, say) for info in shown]})


def _entry_data(entry: MemoryEntry) -> JsonObject:
    return {
        "entry_id": entry.entry_id,
        "text": entry.text,
        "created": entry.created,
        "tags": list(entry.tags),
        "source": entry.source,
    }


def _hit_data(found: Found) -> JsonObject:
    return {**_entry_data(found.entry), "score": found.score, "found_by": found.by}


def _hit_text(hit: JsonObject) -> str:
    from time import gmtime, strftime

    tags = "".join(f" #{tag}" for tag in hit["tags"])
    return visible(f"[{hit['entry_id']}] {strftime('%Y-%m-%d', gmtime(hit['created']))}{tags}\n{hit['text']}")


STORE: Final = Tool(
    "memory_store",
    "Remember something",
    Parameters(
        (
            Parameter("text", "text", "What to keep", required=True, aliases=("content", "memory", "value")),
            Parameter("tags", "list", "Words to find it by", items="string"),
        ),
        closed=True,
    ),
    {
        "type": "object",
        "properties": {"entry": {"type": "object", "properties": _ENTRY, "required": list(_ENTRY)}},
        "required": ["entry"],
    },
    memory_store,
)

SEARCH: Final = Tool(
    "memory_search",
    "Search the memory",
    Parameters(
        (
            Parameter("query", "string", "Words, or a question; without it the newest entries", aliases=("q", "text")),
            Parameter("limit", "integer", "How many, 10 unless said", minimum=1),
            Parameter("tags", "list", "Only entries with all of these", items="string"),
        ),
        closed=True,
    ),
    {
        "type": "object",
        "properties": {
            "hits": {
                "type": "array",
                "description": "Best first",
                "items": {
                    "type": "object",
                    "properties": {
                        **_ENTRY,
                        "score": {"type": ["number", "null"], "description": "Comparable within one answer only"},
                        "found_by": {"type": "string", "enum": ["words", "meaning", "both", "recent"]},
                    },
                    "required": [*_ENTRY, "score", "found_by"],
                },
            }
        },
        "required": ["hits"],
    },
    memory_search,
    reads_only=True,
)

RUNS: Final = Tool(
    "memory_runs",
    "List past runs",
    Parameters(
        (
            Parameter("agent", "string", "Only runs of this agent, by name or nickname", aliases=("agent_name",)),
            Parameter("state", "string", "Only runs of this state", choices=STATES),
            Parameter("limit", "integer", "How many, 20 unless said", minimum=1),
        ),
        closed=True,
    ),
    {"type": "object", "properties": {"runs": RUNS_SCHEMA}, "required": ["runs"]},
    memory_runs,
    reads_only=True,
)
