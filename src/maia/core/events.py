"""The one stream of events: everything that happens in a turn, in order, for every door, the journal and the tests.

The order of a turn, as a grammar (`*` any number, `?` at most one):

    turn  = TurnStarted UserSaid? (Notice | step)* TurnEnded
    step  = StepStarted ContextMeasured? RetryScheduled* delta* (Answered ContextMeasured?)? call* Reminded?
            ContextMeasured? limit?
    delta = ReasoningDelta | TextDelta | ToolCallDrafted
    call  = (ApprovalRequested CallQueued? ApprovalAnswered)? ToolCallStarted?
            (ToolOutput | SubConversationStarted)* ToolCallFinished
    limit = LimitReached ApprovalAnswered

Calls of one answer interleave; within one call the order above holds, and every call of an `Answered` gets exactly one
`ToolCallFinished` before the turn goes on or ends, refused, skipped and stopped ones included. `TurnEnded` is always
last and always comes, whatever failed. Notices may come anywhere. Events outside a turn (`SessionStarted`,
`SessionRenamed`, `ModelChanged`, `ContextCleared`, `PendingAdded`, `CallDecided`, `Notice`) stand between two turns;
those that people cause, and `RecordChanged`, may come in the middle of one.

Where an external agent program answers the turn, a step holds the calls that overlap: `(delta* Answered call*)+`. A
program may tell of a call only when it is over; `ToolCallStarted` and `ToolCallFinished` then follow each other.

Events are frozen and hold no handles: waiting for an answer happens in the engine, and the answer is an event again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from maia.core.costs import Cost, Usage
from maia.core.endings import Failure, Outcome, StopReason
from maia.core.jsonvalue import JsonObject
from maia.core.messages import AssistantMessage
from maia.core.permission import Answer, Decision, Need
from maia.core.reason import Reason
from maia.core.requests import BoundWhy, ChosenBy, Section
from maia.core.results import Block, ToolStatus
from maia.core.submission import Attachment

# Around a session ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """First event of every session file. `sections` is the start context (MAIA.md…) as it was read.

    `conversation` is that of the workspace which the session goes on with, empty for a session of its own; the first
    `turns` turns are a copy of that one's.
    """

    name: str
    folder: str
    version: str
    sections: tuple[Section, ...] = ()
    conversation: str = ""
    turns: int = 0


@dataclass(frozen=True, slots=True)
class SessionRenamed:
    """The session has another name from here on."""

    name: str


@dataclass(frozen=True, slots=True)
class ModelChanged:
    """Another model answers from here on. `why` says who chose it."""

    model: str
    provider: str
    why: ChosenBy


@dataclass(frozen=True, slots=True)
class ContextCleared:
    """Messages before this event are no longer sent (`/clear`); they stay in the file."""


@dataclass(frozen=True, slots=True)
class PendingAdded:
    """Something that will go with the next request: the result of a `!` command."""

    attachment: Attachment


@dataclass(frozen=True, slots=True)
class Notice:
    """A quiet line for the person: a key of the catalogue with its values. Never sent to the model."""

    level: Literal["info", "warn", "fail"]
    key: str
    values: JsonObject = field(default_factory=dict[str, Any])


RecordPart: TypeAlias = Literal["fields", "history", "folders", "files", "children"]


@dataclass(frozen=True, slots=True)
class RecordChanged:
    """Something beside the messages of a workspace's conversation is other now; who shows these parts looks again."""

    parts: tuple[RecordPart, ...]


# A turn -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """First of its turn. The model named here is the one that is asked; `why` is there where a door tells it.

    `most_steps` is how many round trips the turn may do, where whoever answers reports each of them. `resumes` is the
    turn that waited for a person and goes on with this one; 0 for any other. `system` stood in place of the whole
    system prompt, empty where none was given. `agent` is what the agent is called that answers in a workspace; empty
    where none does.
    """

    turn: int
    model: str
    provider: str
    why: BoundWhy | None = None
    most_steps: int | None = None
    resumes: int = 0
    system: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class UserSaid:
    """The request as typed with what was joined to it. Comes right after `TurnStarted`, before any model call.

    `merged` is True when the history already ended with a request without an answer, and this one joins it (T4.06).
    `by` names who asked in a person's place: the agent that delegated, the stage of a board; empty for a person.
    """

    text: str
    attachments: tuple[Attachment, ...] = ()
    merged: bool = False
    by: str = ""


@dataclass(frozen=True, slots=True)
class StepStarted:
    """One round trip to the model begins. `step` counts from 1 within the turn."""

    step: int


@dataclass(frozen=True, slots=True)
class ContextMeasured:
    """How full the window is. Before a request it counts what will be sent; after an answer and after results, what
    would be sent next.

    `window` is None when nobody knows it; `source` says whether the provider reported the number or we counted.
    """

    tokens: int
    window: int | None
    source: Literal["measured", "estimated"] = "estimated"


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """A model call failed before anything was shown and is tried again after `delay` seconds.

    `attempt` counts from 1.
    """

    attempt: int
    delay: float
    failure: Failure


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer. All deltas of a step, joined, are the text of its `Answered`."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of what the model thinks aloud."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDrafted:
    """The model is writing a call: `chars` of arguments have arrived so far. Only progress, never executed."""

    index: int
    name: str
    chars: int


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer of the model is over, whole or cut. The message holds only whole, valid calls.

    `partial` is True when the stream was stopped or failed after text was shown. `usage` is None when none was
    reported; with `is_booked_later` the last answer of the turn tells it for the whole turn, as external programs do.
    While calls of an earlier answer are open (programs only), this one belongs to the same message.
    """

    message: AssistantMessage
    stop: StopReason
    raw_stop: str
    usage: Usage | None
    cost: Cost
    partial: bool = False
    is_booked_later: bool = False


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """A call begins to run: it was allowed."""

    call_id: str
    name: str
    arguments: JsonObject
    preview: str = ""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """A running call printed something. For the person only; the model gets the result."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class SubConversationStarted:
    """A running call delegates: the workspace's conversation of that id is its, for that agent if there is one."""

    call_id: str
    conversation: str
    agent: str = ""


@dataclass(frozen=True, slots=True)
class SubConversationChanged:
    """What a call handed on is in another state, after the call ended as `pending`: the same turn's, or an earlier one.

    `running`: it goes on; `pending`: it waits for a person again; else how it ended, `unknown` where it was deleted.
    """

    call_id: str
    conversation: str
    status: Literal["running"] | ToolStatus


@dataclass(frozen=True, slots=True)
class ToolCallFinished:
    """Last event of a call, also of one that never started (refused, skipped).

    `text` is what the model reads. `unknown` is the status of a call that was still open when the turn was cut,
    `pending` that of one whose specialist waits for a person.
    `reason` is there where no person refused the call, but a rule, a place, the list of tools or a check.
    `words` is our own sentence at the end of `text`, for a reader of another language. `duration` is None when the
    server died meanwhile.
    """

    call_id: str
    name: str
    status: ToolStatus
    text: str
    summary: str = ""
    blocks: tuple[Block, ...] = ()
    data: JsonObject = field(default_factory=dict[str, Any])
    duration: float | None = 0.0
    reason: Reason | None = None
    words: Reason | None = None


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """A call waits for a person. Comes before `ToolCallStarted` of the same call.

    `proposed` is the rule that "always" would save, None where an allow could not win. `origin` names the sub-agent
    that asks, empty for the main agent. `blocks` shows what would change.
    """

    approval_id: str
    call_id: str
    name: str
    arguments: JsonObject
    needs: tuple[Need, ...]
    decision: Decision
    proposed: str | None
    preview: str = ""
    blocks: tuple[Block, ...] = ()
    origin: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalAnswered:
    """Somebody answered, or the door answers by itself (`by`): nobody is there, the queue of approvals knows, or the
    check of calls that nobody answers for.
    """

    approval_id: str
    answer: Answer
    by: Literal["person", "headless", "stop", "queue", "check"] = "person"


@dataclass(frozen=True, slots=True)
class CallQueued:
    """A call was not made because somebody must decide on it first; the turn goes on without it (R-2.238, R-2.244).

    `ticket` names the request in the queue of approvals, and is empty where the call cannot be decided on later.
    """

    call_id: str
    name: str
    ticket: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class CallDecided:
    """Somebody decided on a call in the queue, at any time. Approved, it may be made once (R-2.242)."""

    ticket: str
    verdict: Literal["approved", "refused"]
    by: str


@dataclass(frozen=True, slots=True)
class Reminded:
    """The engine tells the model something in the user's role (a call that arrived cut). Part of the history."""

    text: str


@dataclass(frozen=True, slots=True)
class LimitReached:
    """The turn used up its steps (T5.08) and waits for an answer to `approval_id`: once = a new series, no = stop."""

    approval_id: str
    limit: Literal["turns", "tools"]
    value: int


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """Always the last event of a turn, with what it came to. Sums are over the whole turn.

    `usage` is None when no call reported any; `cost` is the sum of what is known.
    """

    outcome: Outcome
    stop: StopReason
    raw_stop: str
    usage: Usage | None
    cost: Cost
    model: str
    provider: str
    steps: int
    tool_calls: int
    approvals: int
    duration: float = 0.0
    failure: Failure | None = None


Event: TypeAlias = (
    SessionStarted
    | SessionRenamed
    | ModelChanged
    | ContextCleared
    | PendingAdded
    | RecordChanged
    | Notice
    | TurnStarted
    | UserSaid
    | StepStarted
    | ContextMeasured
    | RetryScheduled
    | TextDelta
    | ReasoningDelta
    | ToolCallDrafted
    | Answered
    | ToolCallStarted
    | ToolOutput
    | SubConversationStarted
    | SubConversationChanged
    | ToolCallFinished
    | ApprovalRequested
    | ApprovalAnswered
    | CallQueued
    | CallDecided
    | Reminded
    | LimitReached
    | TurnEnded
)


# What a wire says ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BrokenCall:
    """A call that arrived cut or unreadable: never executed, never kept; the model is told (T5.09)."""

    call_id: str
    name: str
    received_chars: int
    head: str = ""


@dataclass(frozen=True, slots=True)
class WireAnswer:
    """Last event of a stream that ended by itself, well or cut. `cost_usd` is what the provider reported, if it did.

    `likely_cut` is True when the output falls exactly on a usual limit with a tool call in it (T5.09).
    """

    message: AssistantMessage
    stop: StopReason
    raw_stop: str
    usage: Usage | None = None
    cost_usd: float | None = None
    broken: tuple[BrokenCall, ...] = ()
    likely_cut: bool = False


@dataclass(frozen=True, slots=True)
class WireFailed:
    """Last event of a stream that failed. `partial` is what had arrived, without cut calls."""

    failure: Failure
    partial: AssistantMessage
    usage: Usage | None = None


WireEvent: TypeAlias = TextDelta | ReasoningDelta | ToolCallDrafted | RetryScheduled | Notice | WireAnswer | WireFailed


def is_question(event: Event) -> bool:
    """Whether the tool `AskUser` showed a question, which waits for the person's next message (R-2.014)."""
    return isinstance(event, ToolCallFinished) and (event.name, event.status) == ("AskUser", "succeeded")
