"""The History tab: notes and changes of tracked fields, by day, the newest first (R-2.299–R-2.304)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import groupby
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse, Response

from maia.core.ports import Say
from maia.core.text import visible
from maia.i18n.formats import day
from maia.web.drawing.clock import Clock
from maia.web.drawing.words import FAILED, PRIORITIES, STATUSES
from maia.web.drawing.words import OUTCOMES as ENDED
from maia.web.entry.auth import AtDesk, Owned, Person, SignedIn
from maia.web.entry.desk import Desk
from maia.web.entry.strangers import NO_STORE
from maia.web.layout.frame import reader_of
from maia.workspace.records import ConversationRow, Entry, EntryKind, Status, Tracked

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
_ENTRIES: Final = 40
_ICONS: Final[Mapping[Tracked, str]] = {
    "stage": "stage",
    "project": "project",
    "priority": "flag",
    "status": "idle",
    "due": "calendar",
    "task": "branch",
}
OUTCOMES: Final[Mapping[str, str]] = {
    "running": "web.status.running",
    "finished": "rail.run.finished",
    **{outcome: sign.key for outcome, sign in ENDED.items() if sign is not None},
}
"""How a task that was given to a colleague stands, in words."""
Kind = Annotated[Literal["note", "change"] | None, Query()]
Id = Annotated[str | None, Query(max_length=60)]


@dataclass(frozen=True, slots=True)
class Line:
    """One entry in words. `is_quiet` for what a message does to the status: changes by people stand out beside it."""

    icon: str
    badge: str
    text: str
    by: str
    at: int
    is_quiet: bool = False


@dataclass(frozen=True, slots=True)
class Day:
    """The entries of one day; `name` is empty where the page before has it already."""

    id: str
    name: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class History:
    """What the tab shows: the filter, the days, the entry before which older ones stand, and words for none."""

    kind: EntryKind | None
    days: tuple[Day, ...]
    older: str | None
    nothing: str


async def history_of(
    desk: Desk, person: Person, row: ConversationRow, kind: EntryKind | None, before: str | None = None, seen: str = ""
) -> History:
    """The newest entries, or those before one; `seen` is the day that is named already."""
    read = await desk.workspace.cards.history(row, kind, _ENTRIES + 1, before)
    found = read[:_ENTRIES]
    clock = reader_of(desk, person).clock()
    days = tuple(days_of(found, clock, person.say, seen))
    older = found[-1].id if len(read) > _ENTRIES else None
    return History(kind, days, older, person.say(f"history.empty.{kind or 'all'}"))


def days_of(entries: Iterable[Entry], clock: Clock, say: Say, seen: str = "") -> Iterable[Day]:
    """Entries by day; the one that is `seen` has its name on the page before (R-2.303)."""
    for at, those in groupby(entries, lambda entry: clock.moment(entry.at).date()):
        name = "" if at.isoformat() == seen else _day(at, clock, say)
        yield Day(at.isoformat(), name, tuple(_lines(tuple(those), clock, say)))


def _lines(entries: Sequence[Entry], clock: Clock, say: Say) -> Iterator[Line]:
    """A line an entry, the newest first; the two changes of status that one message makes are one (R-2.304)."""
    later: Entry | None = None
    for entry in entries:
        if later is not None and _is_one_run(entry, later):
            yield _run(entry, later, clock, say)
            later = None
            continue
        if later is not None:
            yield line_of(later, clock, say)
        later = entry
    if later is not None:
        yield line_of(later, clock, say)


def _is_one_run(began: Entry, ended: Entry) -> bool:
    return (began.field, ended.field, began.new, ended.old) == ("status", "status", "running", "running")


def _run(began: Entry, ended: Entry, clock: Clock, say: Say) -> Line:
    """`Status: Idle → Running… → Idle`."""
    line, old = line_of(ended, clock, say), _value("status", began.old, clock, say)
    change = say(
        "history.changed", field=say("history.field.status"), old=old, new=_value("status", began.new, clock, say)
    )
    by = " · ".join(dict.fromkeys((visible(began.by) if began.by else "maia", line.by)))
    return replace(line, text=f"{change} → {_value('status', ended.new, clock, say)}", by=by)


def _day(at: date, clock: Clock, say: Say) -> str:
    """Today, yesterday, else the date (R-2.303)."""
    today = clock.now.date()
    if at in (today, today - timedelta(days=1)):
        return say("history.today" if at == today else "history.yesterday")
    return day(at, clock.lang, today)


def line_of(entry: Entry, clock: Clock, say: Say) -> Line:
    """A note as it was written; a change as `Stage: To do → Review`."""
    by = visible(entry.by) if entry.by else "maia"
    if entry.field is None:
        return Line("note", say("history.note"), visible(entry.note or ""), by, entry.at)
    old, new = (_value(entry.field, value, clock, say) for value in (entry.old, entry.new))
    text = say("history.changed", field=say(f"history.field.{entry.field}"), old=old, new=new)
    is_quiet = entry.field == "status" and "archived" not in (entry.old, entry.new)
    return Line(_ICONS[entry.field], say("history.change"), text, by, entry.at, is_quiet)


def _value(tracked: Tracked, value: str | None, clock: Clock, say: Say) -> str:
    """A value in words; what is not known any more is shown as it was kept."""
    if value is None:
        return say(f"history.none.{tracked}")
    match tracked:
        case "status":
            known = FAILED if value == "failed" else STATUSES[found] if (found := _status(value)) else None
            return say(known.key) if known else visible(value)
        case "priority":
            return say(PRIORITIES[value].key) if value in PRIORITIES else visible(value)
        case "due":
            return day(date.fromisoformat(value), clock.lang, clock.now.date())
        case "task":
            return say(OUTCOMES[value]) if value in OUTCOMES else visible(value)
        case "stage" | "project":
            return visible(value)


def _status(value: str) -> Status | None:
    return next((each for each in STATUSES if each == value), None)


@router.get("/ui/conversations/{conversation_id}/rail/history")
async def history_panel(
    desk: AtDesk, person: SignedIn, row: Owned, kind: Kind = None, before: Id = None, seen: Id = None
) -> Response:
    """The tab, or with `before` only what goes below what it shows."""
    history = await history_of(desk, person, row, kind, before, seen or "")
    template = "history.html" if before is None else "older.html"
    html = reader_of(desk, person).draw(template, row=row, history=history)
    return HTMLResponse(html, headers=NO_STORE)
