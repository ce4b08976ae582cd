"""What a run did, as rows for a client that polls: pieces of text joined, sizes bounded, nothing shown twice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from maia.core.events import (
    Answered,
    ApprovalAnswered,
    ApprovalRequested,
    Event,
    Notice,
    RetryScheduled,
    StepStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutput,
    TurnEnded,
    UserSaid,
)
from maia.core.jsonvalue import JsonObject
from maia.core.text import cut_middle, visible
from maia.orchestrator.shapes import what_it_would_do
from maia.orchestrator.words import failure_data, sentence

if TYPE_CHECKING:
    from maia.core.ports import Say
    from maia.core.runs import RunNote

MOST_CHARS: Final = 40_000
"""Of one answer; what does not fit comes with the next one."""
ROW_CHARS: Final = 4_000

NOTE_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "seq": {"type": "integer", "description": "Number of the (last) note of this row"},
        "time": {"type": "number", "description": "Seconds since 1970"},
        "kind": {
            "type": "string",
            "enum": ["task", "step", "text", "tool_started", "tool_output", "tool_finished", "approval_requested",
                     "approval_answered", "retry", "notice", "ended"],
        },
        "text": {"type": "string"},
        "tool": {"type": "string"},
        "status": {"type": "string"},
        "approval_id": {"type": "string"},
    },
    "required": ["seq", "time", "kind", "text"],
}  # fmt: skip

_JOINED: Final = ("text", "tool_output")
"""Kinds of which neighbours are one row."""


@dataclass(frozen=True, slots=True)
class Page:
    """Rows so far. `after` is the note it begins after; `more` is True when it is full and something is left out."""

    after: int
    rows: tuple[JsonObject, ...] = ()
    chars: int = 0
    last: int = 0
    more: bool = False

    @property
    def next_after(self) -> int:
        return max(self.after, self.last)

    @property
    def text(self) -> str:
        """The rows to read."""
        return "\n".join(_line(row) for row in self.rows)

    def with_note(self, note: RunNote, since: float, say: Say) -> Page:
        """The page with one note more; where it is full the note is left for the next one."""
        told = None if note.time < since else _row(note.event, say)
        if told is None:
            return replace(self, last=note.seq)
        row: JsonObject = {"seq": note.seq, "time": note.time, **told}
        row["text"] = visible(cut_middle(row["text"], ROW_CHARS).text)
        if self.rows and self.chars + len(row["text"]) > MOST_CHARS:
            return replace(self, more=True)
        before = self.rows[-1] if self.rows else {}
        if row["kind"] in _JOINED and before.get("kind") == row["kind"] and before.get("tool") == row.get("tool"):
            rows = (*self.rows[:-1], {**before, "seq": note.seq, "text": before["text"] + row["text"]})
        else:
            rows = (*self.rows, row)
        return replace(self, rows=rows, chars=self.chars + len(row["text"]) + 60, last=note.seq)


def _row(event: Event, say: Say) -> JsonObject | None:
    """An event as a row, None for what a client has no use for. Text comes as deltas, so `Answered` tells nothing."""
    match event:
        case UserSaid():
            return {"kind": "task", "text": event.text}
        case StepStarted():
            return {"kind": "step", "text": str(event.step)}
        case TextDelta():
            return {"kind": "text", "text": event.text}
        case ToolCallStarted():
            return {"kind": "tool_started", "tool": event.name, "text": event.preview}
        case ToolOutput():
            return {"kind": "tool_output", "text": event.text}
        case ToolCallFinished():
            return {
                "kind": "tool_finished",
                "tool": event.name,
                "status": event.status,
                "text": event.summary or event.text,
            }
        case ApprovalRequested():
            return {
                "kind": "approval_requested",
                "tool": event.name,
                "approval_id": event.approval_id,
                "text": what_it_would_do(event),
            }
        case ApprovalAnswered():
            return {
                "kind": "approval_answered",
                "approval_id": event.approval_id,
                "status": event.answer.scope,
                "text": event.answer.reason,
            }
        case RetryScheduled():
            return {"kind": "retry", "text": failure_data(event.failure, say)["message"]}
        case Notice():
            return {"kind": "notice", "status": event.level, "text": sentence(event.key, event.values, say)}
        case TurnEnded():
            return {"kind": "ended", "status": event.outcome, "text": ""}
        case Answered() | _:
            return None  # fmt: skip


def _line(row: JsonObject) -> str:
    if row["kind"] == "text":
        return row["text"]
    facts = (row["kind"], row.get("tool", ""), row.get("status", ""), row.get("approval_id", ""), row["text"])
    return f"[{row['seq']}] " + " ".join(fact for fact in facts if fact)
