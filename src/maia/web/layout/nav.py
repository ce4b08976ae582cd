"""The pages that the navigation offers, in its order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from maia.workspace.people.rights import Right, may
from maia.workspace.records import User


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the navigation, for those who have the `right`; `is_daily` for where the work itself is done."""

    key: str
    icon: str
    href: str
    right: Right | None = None
    is_daily: bool = False


NAV: Final = (
    Entry("web.nav.home", "home", "/", is_daily=True),
    Entry("board.title", "stage", "/board", is_daily=True),
    Entry("plan.title", "project", "/projects", is_daily=True),
    Entry("approvals.nav", "hand", "/autonomy", is_daily=True),
    Entry("memories.title", "note", "/memory", is_daily=True),
    Entry("sessions.title", "terminal", "/terminal", "chat", is_daily=True),
    Entry("agentpage.title", "bulb", "/agents"),
    Entry("tools.title", "gear", "/tools"),
    Entry("provider.title", "plug", "/providers"),
    Entry("observe.title", "gauge", "/observability"),
    Entry("privacy.title", "mask", "/privacy", "privacy_read"),
    Entry("security.title", "shield", "/security", "audit"),
    Entry("people.title", "user", "/users", "users"),
)


def entries_for(user: User) -> list[Entry]:
    """The lines that somebody sees."""
    return [entry for entry in NAV if entry.right is None or may(user, entry.right)]
