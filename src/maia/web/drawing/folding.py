"""Events become what a reader sees: one function for the live stream and for a page that is loaded again (R-2.454)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, cast

from maia.core.costs import Usage
from maia.core.events import (
    Answered,
    ApprovalAnswered,
    ApprovalRequested,
    CallDecided,
    CallQueued,
    ContextMeasured,
    Event,
    Notice,
    ReasoningDelta,
    RetryScheduled,
    SessionRenamed,
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
    is_question,
)
from maia.core.messages import TextPart, ToolCallPart
from maia.core.text import cut_middle, one_line, visible
from maia.web.drawing.view import Call, Card, Item, Question, Said, Trace, TurnView, Words, Working
from maia.workspace.delegating.delegation import WAITS
from maia.workspace.meta import delegated_cost
from maia.workspace.records import Logged

LONGEST_OUTPUT: Final = 65_536
"""Characters of a call's output that are shown (R-2.177)."""
LONGEST_NAME: Final = 200
"""Characters of a program's own name of a tool."""

SEARCHES: Final[Mapping[str, str]] = {
    "foreign-memory": "web.search.foreign_memory",
    "maia-data": "web.search.maia_data",
    "provider-home": "web.search.provider_home",
    "other-workspace": "web.search.other_workspace",
    "unknown": "web.search.unknown",
}
"""Why a search was too broad, in the words of its row (R-2.191, R-2.192)."""


@dataclass(slots=True)
class TurnFold:
    """Folds the events of one turn, in their order."""

    number: int
    _view: TurnView = field(init=False)
    _open: list[str] = field(default_factory=list[str])
    _thought: int = 0
    _calls: dict[str, str] = field(default_factory=dict[str, str])
    _asked: dict[str, str] = field(default_factory=dict[str, str])
    _queued: set[str] = field(default_factory=set[str])
    _notices: list[Notice] = field(default_factory=list[Notice])
    _met: set[str] = field(default_factory=set[str])
    _given: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self._view = TurnView(self.number)

    def view(self) -> TurnView:
        """The turn as it stands."""
        if not self._open:
            return self._view
        words = Words(self._next_id(), "".join(self._open), is_open=True)
        return replace(self._view, items=(*self._view.items, words))

    def take(self, logged: Logged) -> None:
        """Take one event in."""
        event = logged.event
        match event:
            case TurnStarted():
                self._set(
                    model=event.model,
                    provider=event.provider,
                    why=event.why,
                    agent=one_line(event.agent),
                    at=logged.at,
                    most_steps=event.most_steps,
                    working=Working("asking"),
                )
            case UserSaid():
                self._set(said=Said(event.text, logged.at, event.attachments, event.by))
            case Notice():
                self._notices.append(event)
                self._tell()
            case TurnEnded():
                self._close_words("")
                self._end_open_calls()
                self._set(ended=event, working=None)
            case SessionRenamed():
                pass
            case _:
                self._progress(logged.at, event)

    # Inside

    def _progress(self, at: int, event: Event) -> None:
        match event:
            case StepStarted():
                self._thought = 0
                self._set(working=Working("asking"), step=event.step)
            case ReasoningDelta():
                self._thought += len(event.text)
                self._set(working=Working("thinking", n=self._thought))
            case TextDelta():
                self._open.append(event.text)
                self._set(working=Working("writing"))
            case ToolCallDrafted():
                self._set(working=Working("drafting", n=event.chars, what=event.name))
            case RetryScheduled():
                self._set(working=Working("retry", n=max(1, round(event.delay)), of=event.attempt))
            case Answered():
                self._answered(event)
            case _:
                self._called(at, event)

    def _answered(self, event: Answered) -> None:
        text = "".join(part.text for part in event.message.parts if isinstance(part, TextPart))
        self._close_words(text)
        if event.usage is not None:
            self._set(usage=event.usage + (self._view.usage or Usage()))
        for part in event.message.parts:
            if isinstance(part, ToolCallPart) and part.call_id not in self._calls:
                self._add_call(part)
        self._tools()

    def _called(self, at: int, event: Event) -> None:
        match event:
            case ApprovalRequested():
                self._asked[event.approval_id] = event.call_id
                self._change(event.call_id, state="approval", preview=event.preview, blocks=event.blocks)
            case ApprovalAnswered():
                call_id = self._asked.pop(event.approval_id, "")
                self._change(call_id, state="running")
            case ContextMeasured():
                self._set(context=event)
            case CallQueued():
                self._queue(event)
            case CallDecided():
                self._decided(event)
            case ToolCallStarted():
                self._change(event.call_id, state="running", preview=event.preview, since=at)
            case SubConversationStarted():
                self._change(event.call_id, child=event.conversation)
            case SubConversationChanged():
                self._handed(event)
            case ToolOutput():
                if (call := self._call(event.call_id)) is not None:
                    self._change(event.call_id, output=(call.output + event.text)[-LONGEST_OUTPUT:])
            case ToolCallFinished():
                self._finished(event)
            case _:
                pass

    def _finished(self, event: ToolCallFinished) -> None:
        if (cost := delegated_cost(event)) is not None:
            self._set(below=(*self._view.below, cost))
        cut = cut_middle(_printed(event), LONGEST_OUTPUT)
        self._change(
            event.call_id,
            state="approval" if event.status == "refused" and event.call_id in self._queued else event.status,
            summary=event.summary,
            output=cut.text,
            cut_chars=cut.cut_chars,
            blocks=event.blocks or (call.blocks if (call := self._call(event.call_id)) else ()),
            seconds=event.duration,
            since=None,
            why=SEARCHES.get(str(event.data.get("search", "")), ""),
            own=visible(str(event.data.get("ownName", "")))[:LONGEST_NAME],
            asked=_question(event),
            told=event.words,
        )
        self._tools()

    def _handed(self, event: SubConversationChanged) -> None:
        """A row that waited for somebody below; what was said about that is not so any more, or is again."""
        self._given.add(event.call_id)
        self._change(event.call_id, state=event.status)
        (self._met.discard if event.status == "pending" else self._met.add)(event.conversation)
        self._tell()

    def _tell(self) -> None:
        def now(notice: Notice) -> Notice:
            is_met = notice.key in WAITS.values() and notice.values.get("conversation") in self._met
            return Notice("info", "delegate.met", notice.values) if is_met else notice

        self._set(notices=tuple(now(notice) for notice in self._notices))

    def _queue(self, event: CallQueued) -> None:
        """The row says what it waits for, also when the model was told to go on without it (R-2.185)."""
        call = self._call(event.call_id)
        if call is None:
            return
        self._queued.add(event.call_id)
        again = {card.ticket for card in self._view.cards if card.is_open}
        if event.ticket not in again:
            self._set(cards=(*self._view.cards, Card(call, event.ticket, event.reason)))

    def _decided(self, event: CallDecided) -> None:
        def after(card: Card) -> Card:
            return replace(card, verdict=event.verdict, by=event.by) if card.ticket == event.ticket else card

        self._set(cards=tuple(after(card) for card in self._view.cards))

    def _add_call(self, part: ToolCallPart) -> None:
        row = Call(f"t{self.number}-c{len(self._calls) + 1}", part.name, part.arguments, "running")
        self._calls[part.call_id] = row.id
        last = self._view.items[-1] if self._view.items else None
        if isinstance(last, Trace):
            self._set(items=(*self._view.items[:-1], Trace(last.id, (*last.calls, row))))
        else:
            self._set(items=(*self._view.items, Trace(self._next_id(), (row,))))

    def _close_words(self, text: str) -> None:
        text = text or "".join(self._open)
        self._open.clear()
        if text.strip():
            self._set(items=(*self._view.items, Words(self._next_id(), text, is_open=False)))

    def _end_open_calls(self) -> None:
        """A row that is still open when the turn ends has an outcome that nobody knows (R-2.187)."""
        for call_id in self._calls:
            call = self._call(call_id)
            is_elsewhere = call_id in self._queued or call_id in self._given
            if call is not None and not is_elsewhere and call.state in ("running", "approval"):
                self._change(call_id, state="unknown", since=None)

    def _tools(self) -> None:
        rows = [call for item in self._view.items if isinstance(item, Trace) for call in item.calls]
        waiting = [call for call in rows if call.state in ("running", "approval")]
        if waiting:
            self._set(working=Working("tools", len(rows) - len(waiting), len(rows), waiting[0].name))
        else:
            self._set(working=Working("asking"))

    def _call(self, call_id: str) -> Call | None:
        row_id = self._calls.get(call_id)
        traces = (item for item in reversed(self._view.items) if isinstance(item, Trace))
        return next((call for trace in traces for call in trace.calls if call.id == row_id), None)

    def _change(self, call_id: str, **changed: object) -> None:
        row_id = self._calls.get(call_id)
        if row_id is None:
            return

        def again(item: Item) -> Item:
            if not isinstance(item, Trace) or all(call.id != row_id for call in item.calls):
                return item
            calls = (replace(call, **changed) if call.id == row_id else call for call in item.calls)
            return Trace(item.id, tuple(calls))

        self._set(items=tuple(again(item) for item in self._view.items))

    def _set(self, **changed: object) -> None:
        self._view = replace(self._view, **changed)

    def _next_id(self) -> str:
        return f"t{self.number}-i{len(self._view.items) + 1}"


def _question(event: ToolCallFinished) -> Question | None:
    if not is_question(event):
        return None
    options = cast("list[str]", event.data.get("options", []))
    return Question(str(event.data.get("question", "")), tuple(options))


def _printed(event: ToolCallFinished) -> str:
    """What the call itself brought: our words, one line below it where it ran, stand beside it."""
    if event.words is None:
        return event.text
    return event.text.rpartition("\n")[0] if event.status == "unknown" else ""


def fold(logged: Iterable[Logged]) -> list[TurnFold]:
    """The turns of a log, in order; events outside any turn are no part of the stream."""
    folds: dict[int, TurnFold] = {}
    for each in logged:
        if each.turn:
            folds.setdefault(each.turn, TurnFold(each.turn)).take(each)
    return [folds[number] for number in sorted(folds)]
