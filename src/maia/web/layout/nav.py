"""The pages that the navigation offers, in its order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from maia.workspace.people.rights import Right, may
from maia.workspace.records import User


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the navigation, for those who have the `right`."""

    key: str
    icon: str
    href: str
    right: Right | None = None


NAV: Final = (
    Entry("web.nav.home", "home", "/"),
    Entry("board.title", "stage", "/board"),
    Entry("plan.title", "project", "/projects"),
    Entry("approvals.nav", "hand", "/approvals"),
    Entry("memories.title", "note", "/memory"),
    Entry("sessions.nav", "terminal", "/terminal"),
    Entry("provider.title", "plug", "/providers"),
    Entry("observe.title", "gauge", "/observability"),
    Entry("privacy.title", "mask", "/privacy", "privacy_read"),
    Entry("people.title", "user", "/users", "users"),
)


def entries_for(user: User) -> list[Entry]:
    """The lines that somebody sees."""
    return [entry for entry in NAV if entry.right is None or may(user, entry.right)]
