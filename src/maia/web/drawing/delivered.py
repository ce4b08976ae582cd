"""What memory reached a model, in words: one line a fact, the same for every kind of provider (R-2.115–R-2.124)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from maia.core.jsonvalue import JsonObject
from maia.core.ports import Say

Count = Callable[[int], str]


def delivered(memory: JsonObject, say: Say, count: Count) -> Iterator[str]:
    """The lines for what `workspace.briefing` kept of a turn; none for a turn that was recorded before."""
    if not memory.get("recall"):
        return
    yield _sized(memory["sizedFor"], say, count)
    yield _recalled(memory["recall"], say, count)
    yield _looked_up(memory.get("lookups"), say, count)
    if memory.get("promptChannel"):
        yield say(f"context.channel.{memory['promptChannel']}")


def _sized(sized: JsonObject, say: Say, count: Count) -> str:
    if sized["window"] is None:
        return say("context.sized_unknown", model=sized["model"])
    return say("context.sized", model=sized["model"], window=count(sized["window"]))


def _recalled(recall: JsonObject, say: Say, count: Count) -> str:
    if recall["withheld"] == "nothing":
        return say("context.recalled_none")
    if recall["withheld"]:
        return say("context.withheld", reason=say(f"context.withheld.{recall['withheld']}"))
    return say(
        "context.recalled",
        n=recall["items"],
        expanded=count(recall["expanded"]),
        tokens=count(recall["tokens"]),
        budget=count(recall["budget"]),
    )


def _looked_up(lookups: JsonObject | None, say: Say, count: Count) -> str:
    """Where the calls were not counted, only what was read (R-2.122)."""
    if lookups is None:
        return say("context.lookups_none")
    if lookups["calls"] is None:
        return say("context.items_read", n=lookups["items"])
    return say("context.lookups", n=lookups["items"], calls=count(lookups["calls"]), limit=count(lookups["limit"]))
