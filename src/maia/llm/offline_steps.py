"""What the plans of the `offline` model are made of.

A plan is a generator that yields calls, is sent their results, and returns its answer. It does no I/O and remembers
nothing, so that a conversation can be played again from its messages.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from maia.core.jsonvalue import JsonObject
from maia.core.messages import ToolResultPart
from maia.core.ports import Say
from maia.llm.offline_results import file_text, first_words


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call to make, by the tool's name."""

    name: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class Step:
    """Something to say and then do; the results come back in the order of `calls`."""

    text: str
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """What a plan knows: the words of the request's language, the tools on offer, and what was asked before."""

    say: Say
    tools: frozenset[str]
    window: int
    joined: tuple[tuple[str, str], ...] = ()
    earlier: tuple[str, ...] = ()


Results: TypeAlias = Sequence[ToolResultPart]
Plan: TypeAlias = Generator[Step, Results, str]
Known: TypeAlias = list[tuple[Call, ToolResultPart]]
"""Reads that succeeded, with their results, since the last step that may have changed anything."""


class CannotGoOn(Exception):
    """The wish ends here; the message is the answer."""


def try_calls(scene: Scene, text: str, *calls: Call) -> Generator[Step, Results, Results]:
    """A step of one or more calls; their results, errors included, in the order of the calls."""
    for call in calls:
        if call.name not in scene.tools:
            raise CannotGoOn(scene.say("offline.no_tool", tool=call.name))
    return (yield Step(text, calls))


def do(scene: Scene, text: str, name: str, **arguments: object) -> Generator[Step, Results, str]:
    """One call that must succeed; its text."""
    (result,) = yield from try_calls(scene, text, Call(name, arguments))
    return checked(scene, result)


def checked(scene: Scene, result: ToolResultPart) -> str:
    """The text of a result; an error ends the wish with its reason."""
    if result.is_error:
        raise CannotGoOn(scene.say("offline.failed", reason=quoted(first_words(result.text, 600))))
    return result.text


def read_text(scene: Scene, path: str, text: str = "", **arguments: int) -> Generator[Step, Results, str]:
    """Read a file, which must succeed; its own text."""
    return file_text((yield from do(scene, text, "Read", path=path, **arguments)))


def without_rereading(plan: Plan, known: Known) -> Plan:
    """The plan, where a read that was just made is answered from `known` instead of being asked for again."""
    try:
        step = next(plan)
        while True:
            results: Results = [result for call, result in known if step.calls == (call,)]
            if not results:
                results = yield step
                if any(call.name != "Read" for call in step.calls):
                    known.clear()
                pairs = zip(step.calls, results, strict=True)
                known += [(call, result) for call, result in pairs if call.name == "Read" and not result.is_error]
            step = plan.send(results)
    except StopIteration as end:
        return end.value


def quoted(text: str) -> str:
    """The text as a quotation in Markdown."""
    return "\n".join(f"> {line}" for line in text.splitlines() or [""])


def lines_of(text: str) -> int:
    """How many lines it has."""
    return len(text.splitlines())


_SHOWN_ITEMS = 60


def bullets(names: Sequence[str]) -> list[str]:
    """Names as the points of a list."""
    return [f"- `{name}`" for name in names]


def capped(scene: Scene, lines: Sequence[str]) -> str:
    """The first lines, and how many more there are."""
    shown = "\n".join(lines[:_SHOWN_ITEMS])
    more = len(lines) - _SHOWN_ITEMS
    return shown if more <= 0 else shown + "\n\n" + scene.say("offline.more_items", n=more)
