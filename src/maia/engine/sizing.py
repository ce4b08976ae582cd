"""How much room the sections of a prompt get, by the window of the model that answers (N-12.02, N-12.03). Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from maia.core.requests import Section
from maia.core.text import cut_middle

BASE_WINDOW: Final = 100_000
"""Tokens of the window that standard sizes are made for; they hold where nobody knows the window, too."""
MOST_GROWTH: Final = 2.5
SMALL_WINDOW: Final = 29_000
"""Tokens. Below it the whole prompt stays within `SMALL_PART` of the window, so that the conversation has room."""
SMALL_PART: Final = 0.35
CHARS_A_TOKEN: Final = 4
STANDARD: Final[Mapping[str, int]] = {
    "agent": 16_000,
    "master-prompt": 8_000,
    "project-prompt": 8_000,
    "conversation-prompt": 8_000,
    "project": 24_000,
}
"""Characters of the sections that may be cut. Who it is, its rules and where it runs are never cut."""
_LEAST = 200
"""Characters. Less of a section says nothing, so it is left out whole."""


def growth(window: int | None) -> float:
    """The factor of the standard sizes: 1 up to the base window, 2.5 from 250k on."""
    return min(MOST_GROWTH, max(1.0, (window or BASE_WINDOW) / BASE_WINDOW))


def sized(sections: Sequence[Section], window: int | None, others: Callable[[], int] = int) -> tuple[Section, ...]:
    """The sections within their sizes for that window. `others` counts the characters of the tools' descriptions.

    What is left out is counted in `cut_chars`, beside what was cut before.
    """
    factor = growth(window)
    limits = {name: round(size * factor) for name, size in STANDARD.items()}
    if window is not None and window < SMALL_WINDOW:
        limits = _shared(sections, limits, round(window * SMALL_PART) * CHARS_A_TOKEN - others())
    return tuple(_cut(each, limits[each.name]) if each.name in limits else each for each in sections)


def _shared(sections: Sequence[Section], limits: Mapping[str, int], room: int) -> dict[str, int]:
    """What the sections that can be cut get of the room that the others leave, each in proportion to what it wants."""
    left = max(0, room - sum(len(each.text) for each in sections if each.name not in limits))
    wanted = {each.name: min(len(each.text), limits[each.name]) for each in sections if each.name in limits}
    part = min(1.0, left / max(1, sum(wanted.values())))
    return {name: int(wanted.get(name, 0) * part) for name in limits}


def _cut(section: Section, limit: int) -> Section:
    if len(section.text) <= limit:
        return section
    if limit < _LEAST:
        return replace(section, text="", cut_chars=section.cut_chars + len(section.text))
    cut = cut_middle(section.text, limit)
    return replace(section, text=cut.text, cut_chars=section.cut_chars + cut.cut_chars)
