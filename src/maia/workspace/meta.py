"""What a turn came to, as it is stored with its answer and told at the end of its stream (R-2.085, R-2.212–R-2.215)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from maia.core.codec import to_json
from maia.core.events import Answered, Event, Notice, TurnEnded, TurnStarted
from maia.core.types import AssistantMessage, BoundWhy, JsonObject, ReasoningPart, TextPart
from maia.database.messages import Ending


@dataclass(slots=True)
class TurnSums:
    """What is gathered while a turn goes on, for the row of its answer."""

    texts: list[str] = field(default_factory=list[str])
    notices: list[Notice] = field(default_factory=list[Notice])
    why: BoundWhy | None = None

    def take(self, event: Event) -> None:
        match event:
            case Answered():
                text = "".join(part.text for part in event.message.parts if isinstance(part, TextPart))
                if text.strip():
                    self.texts.append(text)
            case Notice():
                self.notices.append(event)
            case TurnStarted():
                self.why = event.why
            case _:
                pass

    def ending(self, ended: TurnEnded) -> Ending:
        """The row of the answer. Its text is all that was said; an error is no text (R-2.228)."""
        usage = ended.usage
        return Ending(
            text="\n\n".join(self.texts).replace("\x00", "\ufffd"),
            outcome=ended.outcome,
            provider_id=ended.provider,
            model_id=ended.model,
            tokens_in=None if usage is None else usage.prompt,
            tokens_out=None if usage is None else usage.output,
            cost_usd=ended.cost.usd,
            cost_source=ended.cost.source,
            turn_meta=turn_meta(ended, self.notices, self.why),
        )


def turn_meta(ended: TurnEnded, notices: Sequence[Notice], why: BoundWhy | None = None) -> JsonObject:
    """The object `turnMeta`. `tokens` is null where nothing was reported; `cost.usd` is null where it is unknown."""
    failure = ended.failure
    error: dict[str, Any] | None = None
    if failure is not None:
        error = {"type": failure.kind, "code": failure.code, "status": failure.status, "host": failure.host}
    return {
        "outcome": ended.outcome,
        "stopReason": ended.raw_stop or ended.stop,
        "tokens": to_json(ended.usage),
        "cost": to_json(ended.cost),
        "steps": ended.steps,
        "toolCalls": ended.tool_calls,
        "approvals": ended.approvals,
        "provider": ended.provider,
        "model": ended.model,
        "why": to_json(why),
        "notices": [to_json(notice) for notice in notices],
        "error": error,
        "seconds": ended.duration,
    }


def as_stored(event: Event) -> Event:
    """What of an event is kept: a model's reasoning is shown while it comes, and stays nowhere (N-01.17)."""
    if not isinstance(event, Answered):
        return event
    parts = tuple(part for part in event.message.parts if not isinstance(part, ReasoningPart))
    if len(parts) == len(event.message.parts):
        return event
    message = AssistantMessage(parts, event.message.model, event.message.provider)
    return Answered(message, event.stop, event.raw_stop, event.usage, event.cost, event.partial, event.is_booked_later)
