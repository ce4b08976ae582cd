"""The notes of a run folded into how it stands: the same for whoever runs it and for whoever reads its file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from maia.core.costs import Cost, Usage, add_costs
from maia.core.events import (
    Answered,
    ApprovalAnswered,
    ApprovalRequested,
    Event,
    ModelChanged,
    StepStarted,
    TextDelta,
    ToolCallStarted,
    TurnEnded,
    TurnStarted,
)
from maia.core.messages import TextPart
from maia.core.runs import RunInfo
from maia.runs.notes import NoteReader

_UNREAD: Final = frozenset(
    {
        b"ToolOutput",
        b"ToolCallDrafted",
        b"ToolCallFinished",
        b"ReasoningDelta",
        b"SessionStarted",
        b"ContextMeasured",
        b"UserSaid",
        b"Notice",
    }
)
"""Types that change nothing of the view; of a long run they are nearly all bytes."""


@dataclass(slots=True)
class RunView:
    """What the events so far come to. `ended` is the last event of the turn, None until it came."""

    model: str = ""
    provider: str = ""
    steps: int = 0
    tool_calls: int = 0
    usage: Usage | None = None
    ended: TurnEnded | None = None
    open_asks: dict[str, ApprovalRequested] = field(default_factory=dict[str, ApprovalRequested])
    _text: str = ""
    _growing: list[str] = field(default_factory=list[str])
    _costs: list[Cost] = field(default_factory=list[Cost])

    def apply(self, event: Event) -> None:
        """Take one event in."""
        match event:
            case ModelChanged() | TurnStarted():
                self.model, self.provider = event.model, event.provider
            case StepStarted():
                self.steps = event.step
                self._growing.clear()
            case TextDelta():
                self._growing.append(event.text)
            case Answered():
                self._answered(event)
            case ToolCallStarted():
                self.tool_calls += 1
            case ApprovalRequested():
                self.open_asks[event.approval_id] = event
            case ApprovalAnswered():
                self.open_asks.pop(event.approval_id, None)
            case TurnEnded():
                self._ended(event)
            case _:
                pass

    @property
    def text(self) -> str:
        """The answer: the last one that has any text, and before there is a whole one, what has come of it."""
        return "".join(self._growing) or self._text

    def info(self, settled: RunInfo) -> RunInfo:
        """How the run stands, on top of what was settled before it began."""
        ended = self.ended
        return replace(
            settled,
            model=self.model or settled.model,
            provider=self.provider or settled.provider,
            text=self.text,
            steps=self.steps,
            tool_calls=self.tool_calls,
            usage=self.usage,
            cost=ended.cost if ended is not None else add_costs(self._costs),
            outcome=ended.outcome if ended is not None else None,
            failure=ended.failure if ended is not None else None,
            open_asks=tuple(self.open_asks.values()),
        )

    def _answered(self, event: Answered) -> None:
        self._growing.clear()
        text = "".join(part.text for part in event.message.parts if isinstance(part, TextPart))
        self._text = text or self._text
        if event.usage is not None:
            self.usage = event.usage if self.usage is None else self.usage + event.usage
        if event.usage is not None or event.cost.usd is not None:
            self._costs.append(event.cost)

    def _ended(self, event: TurnEnded) -> None:
        self.ended = event
        self.model, self.provider = event.model or self.model, event.provider or self.provider
        self.steps, self.tool_calls, self.usage = event.steps, event.tool_calls, event.usage
        self.open_asks.clear()


def view_of(path: Path) -> RunView:
    """The view of a file of notes as far as it is written; of none, an empty one. Raises `OSError`."""
    view = RunView()
    for note in NoteReader(path, without=_UNREAD).read():
        view.apply(note.event)
    return view
