"""A terminal session and a conversation hold the same events: turns of the one become turns of the other. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from maia.core.endings import Failure
from maia.core.events import (
    ContextCleared,
    ModelChanged,
    PendingAdded,
    SessionRenamed,
    SessionStarted,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from maia.database.events import PROGRESS, Logged, Stamped
from maia.store.journal import Record
from maia.workspace.meta import as_stored
from maia.workspace.recovery import endings

CUT = Failure("incomplete", code="session_cut")
"""Why a turn ended whose terminal went away in the middle of it."""
_BETWEEN = (PendingAdded, ContextCleared)
"""What outside a turn changes what the model reads next."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a session: what was said, and its events, the last of which is its end."""

    said: str
    events: tuple[Stamped, ...]
    ended: TurnEnded

    def numbered(self, number: int) -> Turn:
        """The same turn under the number that it has in a conversation."""
        first = tuple(
            replace(each, event=replace(each.event, turn=number)) if isinstance(each.event, TurnStarted) else each
            for each in self.events
        )
        return replace(self, events=first)


def turns_of(records: Sequence[Record], *, is_going_on: bool) -> list[Turn]:
    """The turns of a session, in order; `is_going_on`: somebody writes it, so that a turn without end is left out.

    Where nobody does, such a turn gets the ending of one that was cut. Reasoning is not kept (N-01.17), nor what later
    events hold whole.
    """
    turns: list[Turn] = []
    held: list[Stamped] = []
    is_open = False
    for stamped in (Stamped(_moment(each.at), each.event) for each in records):
        match stamped.event:
            case TurnStarted():
                if is_open:
                    turns.append(_cut(held))
                    held = []
                held.append(stamped)
                is_open = True
            case TurnEnded() as ended if is_open:
                turns.append(_whole([*held, stamped], ended))
                held, is_open = [], False
            case _ if is_open or isinstance(stamped.event, _BETWEEN):
                held.append(stamped)
            case _:
                pass
    if is_open and not is_going_on:
        turns.append(_cut(held))
    return turns


def _whole(events: Iterable[Stamped], ended: TurnEnded) -> Turn:
    kept = tuple(
        replace(each, event=as_stored(each.event))
        for each in events
        if not isinstance(each.event, (*PROGRESS, SessionStarted, SessionRenamed, ModelChanged))
    )
    said = next((each.event.text for each in kept if isinstance(each.event, UserSaid)), "")
    return Turn(said, kept, ended)


def _cut(events: Sequence[Stamped]) -> Turn:
    """A turn whose program died: what is open in it is closed, and it says that it was cut."""
    begun = next(each.event for each in events if isinstance(each.event, TurnStarted))
    missing, ended = endings(begun.turn, UserSaid(""), begun.model, begun.provider, [each.event for each in events])
    ended = replace(ended, failure=CUT)
    at = events[-1].at
    return _whole([*events, *(Stamped(at, each) for each in missing), Stamped(at, ended)], ended)


def _moment(at: str) -> int:
    """Milliseconds since 1970 of a record's time; 0 for one that no clock wrote."""
    try:
        return int(datetime.fromisoformat(at).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return 0


# Back ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Handed:
    """The turns of a conversation that are over, for a session file. `last` began the last one; None without any."""

    events: tuple[Stamped, ...]
    last: TurnStarted | None


def handed(logged: Iterable[Logged]) -> Handed:
    """What a terminal gets of a conversation; a turn that still runs is left out."""
    over: list[Stamped] = []
    held: list[Stamped] = []
    begun: TurnStarted | None = None
    last: TurnStarted | None = None
    for each in logged:
        event = each.event
        if isinstance(event, (*PROGRESS, SessionRenamed, ModelChanged)):
            continue
        held.append(Stamped(each.at, event))
        if isinstance(event, TurnStarted):
            begun = event
        elif isinstance(event, TurnEnded):
            over, held, last = [*over, *held], [], begun
    return Handed(tuple(over), last)
