"""What the History tab shows: days and words."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from maia.i18n.catalogue import Catalogue, Lang
from maia.web.conversation.history import days_of, line_of
from maia.web.drawing.clock import Clock
from maia.workspace.records import Entry, Tracked

NOW = datetime(2031, 3, 5, 12, tzinfo=UTC)
NOTE = Entry("n", round(NOW.timestamp() * 1000), "note", None, None, None, "A <b>note</b>\x1b", "Léa")


def clock(lang: Lang) -> Clock:
    return Clock(NOW, Catalogue(lang, strict=True), lang)


def test_entries_stand_under_today_yesterday_and_their_day() -> None:
    say = Catalogue("fr", strict=True)
    ages = (timedelta(), timedelta(hours=2), timedelta(hours=13), timedelta(days=30), timedelta(days=400))
    entries = [replace(NOTE, at=round((NOW - age).timestamp() * 1000)) for age in ages]
    days = list(days_of(entries, clock("fr"), say))
    assert [(each.name, len(each.lines)) for each in days] == [
        ("Aujourd'hui", 2),
        ("Hier", 1),
        ("3\u00a0févr.", 1),
        ("29\u00a0janv.\u00a02030", 1),
    ]
    assert next(iter(days_of(entries, clock("fr"), say, days[0].id))).name == "", "the page before has it"


@pytest.mark.parametrize(
    ("tracked", "old", "new", "words"),
    [
        ("stage", None, "<i>Review</i>", "Stage: none → <i>Review</i>"),
        ("project", "Tax\x07", None, "Project: Tax\u2407 → none"),
        ("priority", "normal", "urgent", "Priority: Normal → Urgent"),
        ("priority", "normal", "huge", "Priority: Normal → huge"),
        ("status", "idle", "waiting_approval", "Status: Idle → Waiting for approval"),
        ("status", "running", "failed", "Status: Running… → Error"),
        ("due", None, "2031-12-04", "Due date: none → 4\u00a0Dec"),
    ],
)
def test_a_change_is_told_in_words(tracked: Tracked, old: str | None, new: str | None, words: str) -> None:
    change = Entry("c", 0, "change", tracked, old, new, None, None)
    line = line_of(change, clock("en"), Catalogue("en", strict=True))
    assert (line.badge, line.text, line.by) == ("Update", words, "maia")


def test_what_one_message_does_to_the_status_is_one_quiet_line() -> None:
    def status(old: str, new: str, by: str | None) -> Entry:
        return Entry("s", NOTE.at, "change", "status", old, new, None, by)

    ran = (status("running", "idle", None), status("idle", "running", "Léa"))
    waited = (status("running", "waiting_approval", None), status("idle", "running", "Léa"))
    entries = [status("idle", "running", "Léa"), *ran, NOTE, *waited, status("idle", "archived", "Léa")]
    (day,) = days_of(entries, clock("en"), Catalogue("en", strict=True))
    assert [(each.text, each.by, each.is_quiet) for each in day.lines] == [
        ("Status: Idle → Running…", "Léa", True),
        ("Status: Idle → Running… → Idle", "Léa · maia", True),
        ("A <b>note</b>\u241b", "Léa", False),
        ("Status: Idle → Running… → Waiting for approval", "Léa · maia", True),
        ("Status: Idle → Archived", "Léa", False),
    ]


def test_a_note_is_shown_as_it_was_written() -> None:
    line = line_of(NOTE, clock("en"), Catalogue("en", strict=True))
    assert (line.badge, line.text, line.by) == ("Note", "A <b>note</b>\u241b", "Léa")
