"""The business fields of a conversation as they may be asked for: checked before anything is written. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, Final, Literal, TypeAlias

from maia.core.jsonvalue import JsonObject
from maia.core.text import kept_name, visible
from maia.workspace.colleagues import Colleague, named
from maia.workspace.problems import Unusable

Priority: TypeAlias = Literal["low", "normal", "high", "urgent"]
PRIORITIES: Final[tuple[Priority, ...]] = ("low", "normal", "high", "urgent")
"""From the least to the most pressing (R-2.021)."""
MOST_LABELS, LONGEST_LABEL, LONGEST_NOTE = 20, 40, 10_000
LONGEST_PROMPT: Final = 20_000
"""Characters of what people write for a model."""


def checked_due(given: str | None) -> str | None:
    """A day such as `2026-12-04`, None for no deadline. Raises `Unusable`."""
    if not given:
        return None
    try:
        return date.fromisoformat(given).isoformat() if len(given) == 10 else _bad_day()
    except ValueError:
        return _bad_day()


def _bad_day() -> str:
    raise Unusable("card.bad_due")


def checked_labels(given: Sequence[str]) -> tuple[str, ...]:
    """Labels, each on one line and once. Raises `Unusable` for too many, too long ones, and those nobody sees."""
    clean = tuple(dict.fromkeys(kept_name(label) for label in given if label.strip()))
    if "" in clean:
        raise Unusable("card.unseen_label")
    if len(clean) > MOST_LABELS or any(len(label) > LONGEST_LABEL for label in clean):
        raise Unusable("card.bad_labels", n=MOST_LABELS, limit=LONGEST_LABEL)
    return clean


def checked_note(given: str) -> str:
    """A note as a person wrote it. Raises `Unusable` for an empty or an endless one."""
    clean = given.strip().replace("\x00", "\ufffd")
    if not clean:
        raise Unusable("card.note_empty")
    if len(clean) > LONGEST_NOTE:
        raise Unusable("card.note_long", limit=LONGEST_NOTE)
    return clean


def checked_agent(given: str | None, known: Sequence[Colleague], *, is_locked: bool) -> str | None:
    """The name of a colleague, None for none. Raises `Unusable` for a stranger, and once it is locked (R-2.007)."""
    if is_locked:
        raise Unusable("card.agent_locked")
    if given and named(known, given) is None:
        raise Unusable("card.no_agent", name=visible(given)[:100])
    return given or None


COLUMNS: Final = {"priority": "priority", "projectId": "project_id", "stageId": "stage_id", "dueOn": "due_on"}
"""What is tracked, by its name outside and in the database."""


def wanted(asked: JsonObject) -> dict[str, Any]:
    """The columns that a request sets, checked as far as that needs no database. Raises `Unusable`."""
    values: dict[str, Any] = {COLUMNS[name]: asked[name] for name in COLUMNS if name in asked}
    if "due_on" in values:
        values["due_on"] = checked_due(values["due_on"])
    for name in ("project_id", "stage_id"):
        if name in values:
            values[name] = values[name] or None
    if values.get("priority", "normal") not in PRIORITIES:
        raise Unusable("card.bad_priority")
    if "prompt" in asked:
        values["prompt"] = str(asked["prompt"]).strip().replace("\x00", "\ufffd")
    if "pinned" in asked:
        values["is_pinned"] = bool(asked["pinned"])
    return values
