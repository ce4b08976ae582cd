"""How a tool call ended, and what it shows: text for the model, blocks for the person."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from maia.core.jsonvalue import JsonObject

ToolStatus: TypeAlias = Literal["succeeded", "failed", "refused", "skipped", "unknown", "pending"]
"""How a call ended; `pending`: what it handed on waits for a person, and its result comes later (R-2.188)."""
NO_FAILURE: Final[tuple[ToolStatus, ...]] = ("succeeded", "pending")
"""Calls that did what was asked of them, or have it done."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Plain output for the person, shown literally."""

    text: str


@dataclass(frozen=True, slots=True)
class DiffBlock:
    """A change of one file. `before` and `after` are whole texts; empty `before` is a new file.

    Of a long file they are only the changed lines with some around them, and `first_line` is the number of their first.
    """

    path: str
    before: str
    after: str
    first_line: int = 1


@dataclass(frozen=True, slots=True)
class TodoItem:
    """One task of the list (T5.04)."""

    content: str
    status: Literal["pending", "in_progress", "completed"]
    active_form: str = ""


@dataclass(frozen=True, slots=True)
class TodoBlock:
    """The whole task list after a TodoWrite."""

    items: tuple[TodoItem, ...]


Block: TypeAlias = TextBlock | DiffBlock | TodoBlock


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A result has three readers: `text` is for the model, `summary` and `blocks` for the person, `data` for machines.

    `summary` is a few words for the row ("412 lines"), already in the user's language. With `is_pending` the result is
    still to come: it is no error, and no success.
    """

    text: str
    is_error: bool = False
    summary: str = ""
    blocks: tuple[Block, ...] = ()
    data: JsonObject = field(default_factory=dict[str, Any])
    is_pending: bool = False

    @property
    def status(self) -> ToolStatus:
        """How the call ended that brought it."""
        return "failed" if self.is_error else "pending" if self.is_pending else "succeeded"
