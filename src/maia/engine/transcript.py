"""Events folded into what the next request sends: the same fold serves a live conversation and a loaded file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import assert_never

from maia.core.events import (
    Answered,
    ApprovalAnswered,
    ApprovalRequested,
    CallDecided,
    CallQueued,
    ContextCleared,
    ContextMeasured,
    Event,
    LimitReached,
    ModelChanged,
    Notice,
    PendingAdded,
    ReasoningDelta,
    RecordChanged,
    Reminded,
    RetryScheduled,
    SessionRenamed,
    SessionStarted,
    StepStarted,
    SubConversationChanged,
    SubConversationStarted,
    TextDelta,
    ToolCallDrafted,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutput,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from maia.core.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
    UserPart,
)
from maia.core.requests import Section
from maia.core.results import NO_FAILURE
from maia.core.submission import Attachment
from maia.engine.attached import attachment_text
from maia.engine.views import ModelCost

INTERRUPTED = "The call was interrupted before it reported; whether it took effect is unknown."


@dataclass(slots=True)
class Transcript:
    """A conversation as its events left it. Only `apply` changes it, one event at a time, in order.

    The messages are always fit to send: roles alternate (T4.06), and every tool call has a result.
    """

    name: str = ""
    folder: str = ""
    model: str = ""
    provider: str = ""
    turn: int = 0
    sections: tuple[Section, ...] = ()
    pending: list[Attachment] = field(default_factory=list[Attachment])
    spent: list[ModelCost] = field(default_factory=list[ModelCost])
    _messages: list[Message] = field(default_factory=list[Message])
    _open_text: list[str] = field(default_factory=list[str])
    _open_calls: dict[str, ToolCallPart] = field(default_factory=dict[str, ToolCallPart])
    _results: dict[str, ToolResultPart] = field(default_factory=dict[str, ToolResultPart])
    _asked: tuple[str, str] = ("", "")

    @classmethod
    def of(cls, events: Iterable[Event]) -> Transcript:
        """The transcript of a whole file of events."""
        transcript = cls()
        for event in events:
            transcript.apply(event)
        return transcript

    def branch(self) -> Transcript:
        """Another one that goes on from here; this one stays as it is."""
        lists = {"pending": [*self.pending], "spent": [*self.spent], "_messages": [*self._messages]}
        opened = {"_open_text": [*self._open_text], "_open_calls": {**self._open_calls}, "_results": {**self._results}}
        return replace(self, **lists, **opened)

    def messages(self) -> tuple[Message, ...]:
        """What would be sent now. A call still open, or cut off by a crash, counts with a result that says so."""
        return (*self._messages, *self._unfinished())

    def so_far(self) -> tuple[Message, ...]:
        """What is there to be counted (T3.02): as `messages`, without words for results that are still to come."""
        return (*self._messages, *self._unfinished(only_known=True))

    def apply(self, event: Event) -> None:
        """Take one event in."""
        match event:
            case SessionStarted():
                self.name, self.folder, self.sections = event.name, event.folder, event.sections
            case SessionRenamed():
                self.name = event.name
            case ModelChanged():
                self.model, self.provider = event.model, event.provider
            case ContextCleared():
                self._close()
                self._messages.clear()
                self.pending.clear()
            case PendingAdded():
                self.pending.append(event.attachment)
            case TurnStarted():
                self._close()
                self.turn = event.turn
                self._asked = (event.model, event.provider)
            case UserSaid():
                self.pending.clear()
                self._say(user_parts(event))
            case Reminded():
                self._close()
                self._say((TextPart(event.text),), reminder=True)
            case TextDelta():
                self._open_text.append(event.text)
            case Answered():
                self._answered(event)
            case ToolCallFinished():
                self._finished(event)
            case TurnEnded():
                self._close()
            case (
                Notice()
                | StepStarted()
                | ContextMeasured()
                | RetryScheduled()
                | ReasoningDelta()
                | ToolCallDrafted()
                | ToolCallStarted()
                | ToolOutput()
                | SubConversationStarted()
                | SubConversationChanged()
                | ApprovalRequested()
                | ApprovalAnswered()
                | CallQueued()
                | CallDecided()
                | LimitReached()
                | RecordChanged()
            ):
                pass
            case _:
                assert_never(event)

    def _say(self, parts: tuple[UserPart, ...], *, reminder: bool = False) -> None:
        last = self._messages[-1] if self._messages else None
        if isinstance(last, UserMessage):
            self._messages[-1] = UserMessage((*last.parts, *parts), last.reminder and reminder)
        else:
            self._messages.append(UserMessage(parts, reminder))

    def _answered(self, event: Answered) -> None:
        self._open_text.clear()
        calls = {part.call_id: part for part in event.message.parts if isinstance(part, ToolCallPart)}
        last = self._messages[-1] if self._messages else None
        if self._open_calls and isinstance(last, AssistantMessage):  # an external program says more while calls run
            self._messages[-1] = replace(last, parts=(*last.parts, *event.message.parts))
            self._open_calls |= calls
        else:
            if event.message.parts:
                self._messages.append(event.message)
            self._open_calls = calls
            self._results.clear()
        if (not event.partial or event.usage is not None) and not event.is_booked_later:
            self.spent.append(ModelCost(event.message.model or self._asked[0], event.usage, event.cost))

    def _finished(self, event: ToolCallFinished) -> None:
        if event.call_id not in self._open_calls:
            return
        error = event.status not in NO_FAILURE
        self._results[event.call_id] = ToolResultPart(event.call_id, event.name, event.text, error)
        if len(self._results) == len(self._open_calls):
            self._close()

    def _close(self) -> None:
        """End what is open: a text without its `Answered` and calls without results are what a crash leaves."""
        for message in self._unfinished():
            self._messages.append(message)
        self._open_text.clear()
        self._open_calls = {}
        self._results.clear()

    def _unfinished(self, *, only_known: bool = False) -> list[Message]:
        rest: list[Message] = []
        if self._open_text:
            rest.append(AssistantMessage((TextPart("".join(self._open_text)),), *self._asked))
        results = [
            self._results.get(call_id) or ToolResultPart(call_id, call.name, INTERRUPTED, True)
            for call_id, call in self._open_calls.items()
            if call_id in self._results or not only_known
        ]
        if results:
            rest.append(ToolMessage(tuple(results)))
        return rest


def known_files(event: Event) -> list[tuple[str, str]]:
    """Files that the model has seen whole or written in this event: (path, digest of the content)."""
    if isinstance(event, UserSaid):
        return [(item.path, item.digest) for item in event.attachments if item.path and item.digest]
    if isinstance(event, ToolCallFinished) and event.status == "succeeded":
        path, digest = event.data.get("path"), event.data.get("digest")
        return [(path, digest)] if isinstance(path, str) and isinstance(digest, str) and digest else []
    return []


def user_parts(said: UserSaid) -> tuple[UserPart, ...]:
    """A request as the model reads it: what was joined first, each fenced as data, then the words, if there are any."""
    parts: list[UserPart] = []
    for item in said.attachments:
        parts.append(TextPart(attachment_text(item)))
        if item.kind == "image":
            parts.append(ImagePart(item.media_type, "", item.digest))
    return (*parts, TextPart(said.text)) if said.text or not parts else tuple(parts)
