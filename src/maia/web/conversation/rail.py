"""The right column of a conversation: its tabs, each drawn by its own route when it is shown (R-2.294, R-2.295)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab; `GET /ui/conversations/:id/rail/<id>` draws its panel. It is drawn again when one of `parts` changes."""

    id: str
    key: str
    parts: tuple[str, ...]


TABS: Final = (
    Tab("history", "rail.history", ("history",)),
    Tab("folders", "rail.folders", ("folders",)),
    Tab("files", "rail.files", ("files",)),
)
"""From left to right. A stream's frame `record` names the parts of the record that changed (`live.changed`)."""
