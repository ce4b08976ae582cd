"""A background run that waited for a person goes on in a turn of its own: what it had done, it does not do again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import Connection

from maia.core.events import ToolCallFinished, ToolCallStarted, TurnStarted, UserSaid
from maia.core.results import NO_FAILURE
from maia.database.events import Logged, events_of_turns
from maia.engine.repeats import call_key


@dataclass(frozen=True, slots=True)
class Task:
    """What a run was asked for when it began, and `by` whom where that was no person."""

    text: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a run was asked for when it began, and the calls that it made since, as `call_key` names them.

    `system` stood in place of its system prompt.
    """

    task: Task = field(default_factory=Task)
    done: frozenset[str] = frozenset()
    system: str = ""


def earlier_of(connection: Connection, conversation_id: str, turn: int) -> Earlier:
    """What a run did up to that turn, which waited, and in the turns from which this one went on (N-07.08)."""
    done: set[str] = set()
    task, system = Task(), ""
    while turn > 0:
        logged = events_of_turns(connection, conversation_id, turn, turn)
        done |= made_in(logged)
        said = (each.event for each in logged if isinstance(each.event, UserSaid))
        task = next((Task(event.text, event.by) for event in said), Task())
        begun = next((each.event for each in logged if isinstance(each.event, TurnStarted)), None)
        turn, system = (begun.resumes, begun.system or system) if begun is not None else (0, system)
    return Earlier(task, frozenset(done), system)


def made_in(logged: Iterable[Logged]) -> set[str]:
    """The calls that did what was asked, or had it begun, among these events."""
    begun: dict[str, str] = {}
    made: set[str] = set()
    for each in logged:
        event = each.event
        if isinstance(event, ToolCallStarted):
            begun[event.call_id] = call_key(event.name, event.arguments)
        elif isinstance(event, ToolCallFinished) and event.status in NO_FAILURE and event.call_id in begun:
            made.add(begun[event.call_id])
    return made
