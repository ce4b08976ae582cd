"""What a turn came to, as it is stored with its answer and told at the end of its stream (R-2.085, R-2.212–R-2.215)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from maia.core.codec import to_json
from maia.core.costs import Cost, add_costs
from maia.core.events import Answered, Event, Notice, ToolCallFinished, TurnEnded, TurnStarted, is_question
from maia.core.jsonvalue import JsonObject
from maia.core.messages import AssistantMessage, ReasoningPart, TextPart
from maia.core.requests import BoundWhy
from maia.database.messages import Ending


@dataclass(slots=True)
class TurnSums:
    """What is gathered while a turn goes on, for the row of its answer; `below` is what its delegated runs cost.

    `asks`: a question was put to the person.
    """

    texts: list[str] = field(default_factory=list[str])
    notices: list[Notice] = field(default_factory=list[Notice])
    why: BoundWhy | None = None
    agent: str = ""
    below: list[Cost] = field(default_factory=list[Cost])
    ended: TurnEnded | None = None
    asks: bool = False

    def take(self, event: Event) -> None:
        match event:
            case Answered():
                text = "".join(part.text for part in event.message.parts if isinstance(part, TextPart))
                if text.strip():
                    self.texts.append(text)
            case Notice():
                self.notices.append(event)
            case TurnStarted():
                self.why, self.agent = event.why, event.agent
            case ToolCallFinished():
                if (cost := delegated_cost(event)) is not None:
                    self.below.append(cost)
                self.asks = self.asks or is_question(event)
            case TurnEnded():
                self.ended = event
            case _:
                pass

    def whole_cost(self) -> Cost:
        """What the turn cost, with the runs that it delegated."""
        return add_costs([*([self.ended.cost] if self.ended else []), *self.below])

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
            turn_meta=turn_meta(ended, self.notices, self.why, self.below, self.agent),
        )


def turn_meta(
    ended: TurnEnded,
    notices: Sequence[Notice],
    why: BoundWhy | None = None,
    below: Sequence[Cost] = (),
    agent: str = "",
) -> JsonObject:
    """The object `turnMeta`. `tokens` is null where nothing was reported; `cost.usd` is null where it is unknown.

    `delegated` is what the runs below cost, which is in their own answers and in no sum of this one; null without any.
    `agent` is what the agent was called that answered; null where none did.
    """
    failure = ended.failure
    error: dict[str, Any] | None = None
    if failure is not None:
        error = {"type": failure.kind, "code": failure.code, "status": failure.status, "host": failure.host}
    return {
        "outcome": ended.outcome,
        "stopReason": ended.raw_stop or ended.stop,
        "tokens": to_json(ended.usage),
        "cost": to_json(ended.cost),
        "delegated": to_json(add_costs(below)) if below else None,
        "steps": ended.steps,
        "toolCalls": ended.tool_calls,
        "approvals": ended.approvals,
        "provider": ended.provider,
        "model": ended.model,
        "why": to_json(why),
        "agent": agent or None,
        "notices": [to_json(notice) for notice in notices],
        "error": error,
        "seconds": ended.duration,
    }


def delegated_cost(event: ToolCallFinished) -> Cost | None:
    """What a run cost that this call delegated and waited for; None for other calls."""
    if "delegated" not in event.data:
        return None
    told: JsonObject = event.data["delegated"]
    usd, source = told.get("usd"), told.get("source")
    if not isinstance(usd, int | float) or source not in ("reported", "estimated"):
        return Cost()
    return Cost(float(usd), source)


def as_stored(event: Event) -> Event:
    """What of an event is kept: a model's reasoning is shown while it comes, and stays nowhere (N-01.17)."""
    if not isinstance(event, Answered):
        return event
    parts = tuple(part for part in event.message.parts if not isinstance(part, ReasoningPart))
    if len(parts) == len(event.message.parts):
        return event
    message = AssistantMessage(parts, event.message.model, event.message.provider)
    return Answered(message, event.stop, event.raw_stop, event.usage, event.cost, event.partial, event.is_booked_later)
