"""What a server that died left open gets its honest ending when the next one starts (R-2.187, R-2.227)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from maia.core.costs import Cost, Usage, add_costs
from maia.core.endings import Failure
from maia.core.events import (
    Answered,
    ApprovalRequested,
    Event,
    StepStarted,
    TextDelta,
    ToolCallFinished,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from maia.core.messages import AssistantMessage, TextPart, ToolCallPart
from maia.core.reason import Reason
from maia.database.approvals import status_after
from maia.database.conversations import ConversationRow, conversation, set_status
from maia.database.delegations import above, tell_above
from maia.database.events import Stamped, append_events, events_of_turns, forget_progress
from maia.database.ids import now_ms
from maia.database.late import settle
from maia.database.messages import close_answer, index_turn, messages_of, unfinished
from maia.engine.transcript import INTERRUPTED
from maia.workspace.files.joining import sent_along
from maia.workspace.meta import TurnSums

SERVER_STOPPED = Failure("incomplete", code="server_stopped")
"""Why such a turn ended."""


def endings(
    turn: int, said: UserSaid, model: str, provider: str, happened: Sequence[Event]
) -> tuple[list[Event], TurnEnded]:
    """What a turn lacks: its beginning where even that is missing, what is open closed; and then its end."""
    began = next((event for event in happened if isinstance(event, TurnStarted)), None)
    missing: list[Event] = []
    if began is None:
        began = TurnStarted(turn, model, provider)
        missing.append(began)
    if not any(isinstance(event, UserSaid) for event in happened):
        missing.append(said)
    text, calls = "", dict[str, ToolCallPart]()
    usage: Usage | None = None
    costs: list[Cost] = []
    for event in happened:
        match event:
            case TextDelta():
                text += event.text
            case Answered():
                text = ""
                calls |= {part.call_id: part for part in event.message.parts if isinstance(part, ToolCallPart)}
                if event.usage is not None:
                    usage = event.usage if usage is None else usage + event.usage
                    costs.append(event.cost)
            case ToolCallFinished():
                calls.pop(event.call_id, None)
            case _:
                pass
    if text:
        message = AssistantMessage((TextPart(text),), began.model, began.provider)
        missing.append(Answered(message, "unknown", "", None, Cost(), partial=True))
    missing += [_cut(call) for call in calls.values()]
    done = [event for event in happened if isinstance(event, ToolCallFinished)]
    ended = TurnEnded(
        outcome="failed",
        stop="unknown",
        raw_stop="",
        usage=usage,
        cost=add_costs(costs),
        model=began.model,
        provider=began.provider,
        steps=sum(isinstance(event, StepStarted) for event in happened),
        tool_calls=len(done) + len(calls),
        approvals=sum(isinstance(event, ApprovalRequested) for event in happened),
        failure=SERVER_STOPPED,
    )
    return missing, ended


def _cut(call: ToolCallPart) -> ToolCallFinished:
    return ToolCallFinished(
        call.call_id, call.name, "unknown", INTERRUPTED, duration=None, words=Reason("turn.call_lost")
    )


def _said(connection: Connection, row: ConversationRow, turn: int) -> UserSaid:
    """The message of that turn as far as its rows tell: they name no agent or stage that asked in a person's place."""
    rows = messages_of(connection, row.id, 2, turn + 1)
    message = next((each for each in rows if (each.turn, each.role) == (turn, "user")), None)
    if message is None:
        return UserSaid("")
    by = "" if message.author_id is not None else next((each.agent for each in above(connection, row.id)), "") or "maia"
    return UserSaid(message.text, sent_along(connection, row.id, turn), by=by)


def close_turn(connection: Connection, row: ConversationRow, turn: int) -> None:
    """Write the ending of a turn of which nobody knows any more, in the transaction of the caller."""
    happened = [logged.event for logged in events_of_turns(connection, row.id, turn, turn)]
    said = _said(connection, row, turn)
    missing, ended = endings(turn, said, row.model_id or "", row.provider_id or "", happened)
    sums = TurnSums()
    for event in (*happened, *missing):
        sums.take(event)
    append_events(connection, row.id, turn, [Stamped(now_ms(), event) for event in (*missing, ended)])
    index_turn(connection, row.id, turn)
    close_answer(connection, row.id, turn, sums.ending(ended), agent=row.agent)
    forget_progress(connection, row.id, turn)


def recover(connection: Connection, conversation_id: str) -> None:
    """Close every open turn of a conversation, which is idle from here on, or waits for approvals."""
    row = conversation(connection, conversation_id)
    if row is None:
        return
    open_turns = unfinished(connection, row.id)
    for turn in open_turns:
        close_turn(connection, row, turn)
    set_status(connection, row.id, status_after(connection, row.id, row.last_turn))
    if open_turns:
        settle(connection, row.id, open_turns[-1])
    tell_above(connection, row.id, "failed" if open_turns else "")
