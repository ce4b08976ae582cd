"""The pages that the navigation offers, in its order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the navigation."""

    key: str
    icon: str
    href: str


NAV: Final = (
    Entry("web.nav.home", "home", "/"),
    Entry("approvals.nav", "hand", "/approvals"),
    Entry("provider.title", "plug", "/providers"),
)
