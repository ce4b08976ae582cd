"""Events become rows of the log: one fold for the live screen and for a loaded session, so that both look the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, assert_never

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
from maia.core.messages import TextPart, ToolCallPart
from maia.core.results import DiffBlock
from maia.core.submission import Attachment
from maia.i18n.formats import number
from maia.terminal.asking import answer_text, origin_prefix, question_title
from maia.terminal.badges import badge_lines
from maia.terminal.colours import Look
from maia.terminal.contextbar import Fill, spoken
from maia.terminal.endings import ending_lines, notice_lines, retry_lines
from maia.terminal.spans import EMPTY, Line, Span, clean, clean_row, clip, line, prefix, wrap, wrap_text
from maia.terminal.toolrows import SHELL, Call, block_lines, call_lines, live_lines, preview_of, row_lines, tally

if TYPE_CHECKING:
    from maia.terminal.words import Words

Family: TypeAlias = Literal["", "user", "text", "calls", "badge", "end"]
"""Kinds of rows: those of one family stand together, a blank row parts two families."""

StatusKind: TypeAlias = Literal["idle", "thinking", "tools", "waiting"]

_TAIL_KEPT = 16_384
"""Characters of the streaming answer that are kept for the live rows; the whole comes with `Answered`."""
_USER_ROWS = 30


@dataclass(frozen=True, slots=True)
class Status:
    """What the status line says. `thinking` and `tools` have a spinner in front, `waiting` a `?`."""

    kind: StatusKind = "idle"
    text: str = ""


@dataclass(slots=True)
class RenderState:
    """What is known between two events. Changed by `render` only.

    `fill` is for the context bar, `questions` are those that wait, in order, by approval id.
    """

    family: Family = ""
    tail: str = ""
    draft: ToolCallDrafted | None = None
    working: bool = False
    calls: list[Call] = field(default_factory=list[Call])
    batch: list[Call] = field(default_factory=list[Call])
    questions: dict[str, ApprovalRequested | LimitReached] = field(
        default_factory=dict[str, "ApprovalRequested | LimitReached"]
    )
    fill: Fill | None = None
    model: str = ""


def render(event: Event, state: RenderState, look: Look, say: Words) -> tuple[Line, ...]:
    """The rows that this event adds to the log, for good, with the blank rows that part them from what is above.

    What may still change (streaming text, open calls) is in `live_lines_of`. Rows are never wider than the screen.
    """
    pieces = _fold(event, state, look, say)
    rows: list[Line] = []
    for family, lines in pieces:
        if lines:
            if state.family and (state.family != family or family in ("user", "text")) and not look.screen_reader:
                rows.append(EMPTY)
            rows += lines
            state.family = family
    return tuple(clip(row, look.width, "") for row in rows)


def render_all(events: Iterable[Event], look: Look, say: Words) -> tuple[tuple[Line, ...], RenderState]:
    """A stored conversation drawn again: its rows, and the state to go on with."""
    state = RenderState()
    rows = tuple(row for event in events for row in render(event, state, look, say))
    left = flush(state, look, say)
    return rows + left, state


def flush(state: RenderState, look: Look, say: Words) -> tuple[Line, ...]:
    """Draw what is still open as it is (a stored turn that was cut): calls become "outcome unknown"."""
    rows: list[Line] = []
    for call in state.calls:
        if call.open:
            call.state = "unknown"
        rows += call_lines(call, look, say)
    _forget(state)
    state.working = False
    return tuple(rows)


_Pieces: TypeAlias = "list[tuple[Family, list[Line]]]"


def _fold(event: Event, state: RenderState, look: Look, say: Words) -> _Pieces:
    match event:
        case UserSaid():
            return [("user", user_lines(event, look, say))]
        case Answered():
            return _answered(event, state, look, say.lang)
        case ToolCallStarted() | ToolOutput() | ToolCallFinished():
            return _call_event(event, state, look, say)
        case ApprovalRequested() | LimitReached() | ApprovalAnswered():
            return _question_event(event, state, look, say)
        case TurnStarted() | StepStarted() | TextDelta() | ReasoningDelta() | ToolCallDrafted() | ContextMeasured():
            _progress(event, state)
            return []
        case RetryScheduled():
            return [("badge", retry_lines(event, look, say))]
        case Notice():
            return [("badge", notice_lines(event, look, say))]
        case TurnEnded():
            return _turn_ended(event, state, look, say)
        case SessionRenamed() | ModelChanged() | ContextCleared() | PendingAdded():
            return [("badge", _around(event, state, look, say))]
        case SessionStarted() | Reminded() | CallQueued() | CallDecided() | RecordChanged():
            return []
        case SubConversationStarted() | SubConversationChanged():
            return []
        case _:
            assert_never(event)


def _progress(
    event: TurnStarted | StepStarted | TextDelta | ReasoningDelta | ToolCallDrafted | ContextMeasured,
    state: RenderState,
) -> None:
    match event:
        case TurnStarted():
            state.working, state.model = True, event.model
        case StepStarted():
            state.tail, state.draft, state.batch = "", None, []
        case TextDelta():
            state.tail = (state.tail + event.text)[-_TAIL_KEPT:]
        case ToolCallDrafted():
            state.draft = event
        case ContextMeasured():
            state.fill = Fill(event.tokens, event.window)
        case ReasoningDelta():
            pass


def _answered(event: Answered, state: RenderState, look: Look, lang: str) -> _Pieces:
    state.tail, state.draft = "", None
    state.batch = [
        Call(part.call_id, part.name, preview_of(part.arguments))
        for part in event.message.parts
        if isinstance(part, ToolCallPart)
    ]
    state.calls += state.batch
    text = "".join(part.text for part in event.message.parts if isinstance(part, TextPart)).strip("\n")
    return [("text", answer_lines(text, look, lang))] if text.strip() else []


def answer_lines(text: str, look: Look, lang: str) -> list[Line]:
    """A complete answer as Markdown, or raw when that is switched off (T2.02)."""
    if look.screen_reader or not look.markdown:
        return wrap_text(look.text(clean(text)), look.width)
    from maia.terminal.markdown import markdown_lines  # not needed before the first answer

    return markdown_lines(text, look, lang)


# Calls -------------------------------------------------------------------------------------------------------------


def _call_of(state: RenderState, call_id: str, name: str) -> Call:
    for call in state.calls:
        if call.call_id == call_id and call.open:
            return call
    call = Call(call_id, name)
    state.calls.append(call)
    state.batch.append(call)
    return call


def _call_event(
    event: ToolCallStarted | ToolOutput | ToolCallFinished, state: RenderState, look: Look, say: Words
) -> _Pieces:
    match event:
        case ToolCallStarted():
            call = _call_of(state, event.call_id, event.name)
            call.state, call.preview = "running", event.preview or preview_of(event.arguments)
            return [("calls", call_lines(call, look, say))] if look.screen_reader else []
        case ToolOutput():
            _call_of(state, event.call_id, "").heard(event.text)
            return []
        case ToolCallFinished():
            call = _call_of(state, event.call_id, event.name)
            call.state, call.summary, call.text = event.status, event.summary, event.text
            call.blocks, call.data, call.duration = event.blocks, event.data, event.duration
            return [("calls", _finished_rows(state, look, say))]


def _finished_rows(state: RenderState, look: Look, say: Words) -> list[Line]:
    """Rows of finished calls, but none before those that were asked for earlier: the log keeps the asked order."""
    rows: list[Line] = []
    while state.calls and not state.calls[0].open:
        rows += call_lines(state.calls.pop(0), look, say)
    if not state.calls:
        state.batch = []  # what begins from here on was not asked for together with these
    return rows


# Questions ---------------------------------------------------------------------------------------------------------


def _question_event(
    event: ApprovalRequested | LimitReached | ApprovalAnswered, state: RenderState, look: Look, say: Words
) -> _Pieces:
    if isinstance(event, ApprovalAnswered):
        question = state.questions.pop(event.approval_id, None)
        if isinstance(question, ApprovalRequested):
            _call_of(state, question.call_id, question.name).state = "queued"
        return [("calls", answered_lines(event, question, look, say))] if question else []
    state.questions[event.approval_id] = event
    if isinstance(event, LimitReached):
        return []
    call = _call_of(state, event.call_id, event.name)
    call.state, call.preview = "waiting", event.preview or preview_of(event.arguments)
    if not event.blocks:
        return []
    call.blocks = call.shown = event.blocks
    diffs = [row for block in event.blocks for row in block_lines(block, look, say)]
    return [("calls", [*row_lines(call, look, say), *diffs])]


def answered_lines(
    event: ApprovalAnswered, question: ApprovalRequested | LimitReached, look: Look, say: Words
) -> list[Line]:
    """The answered question of a call or a limit as it stays in the log."""
    origin = question if isinstance(question, ApprovalRequested) else None
    choice = answer_text(event.answer, origin, say, stopped=event.by == "stop")
    return chosen_lines(question_title(question, say), choice, look, say)


def chosen_lines(title: str, choice: str, look: Look, say: Words) -> list[Line]:
    """`◆ Question : choice` (T2.04), the choice in bold."""
    colon = "\u202f: " if say.lang == "fr" else ": "
    head = Span(look.text("◆") + " ", "answered")
    body = line(
        Span(look.text(clean_row(title) + colon), "answered"), Span(look.text(clean_row(choice)), "answered_choice")
    )
    if look.screen_reader:
        return wrap(body, look.width)
    return prefix(wrap(body, max(1, look.width - len(head.text))), line(head), line("  "))


# Around a turn -----------------------------------------------------------------------------------------------------


def user_lines(event: UserSaid, look: Look, say: Words) -> list[Line]:
    """What the user sent after `❯`, in bold, with what was joined to it; a long paste is shown by its beginning."""
    attached = [row for item in event.attachments for row in _attachment(item, look, say)]
    if not event.text:
        return attached
    mark = look.text("❯ ")
    rows = wrap_text(look.text(clean(event.text[:50_000])), max(1, look.width - len(mark)), "user")
    if len(rows) > _USER_ROWS + 1:
        more = say("term.output.more", n=len(rows) - _USER_ROWS)
        rows = [*rows[:_USER_ROWS], line(Span(look.text(more), "muted"))]
    rows = prefix(rows, line(Span(mark, "user")), line(" " * len(mark)))
    return rows + attached


def _attachment(item: Attachment, look: Look, say: Words) -> list[Line]:
    facts = say(f"term.attached.{item.kind}", n=len(item.text), source=clean_row(item.source))
    if item.cut_chars:
        facts += " · " + say("term.attached.cut", n=item.cut_chars)
    return prefix(wrap(line(Span(look.text(facts), "muted")), max(1, look.width - 2)), line("  "), line("  "))


def _turn_ended(event: TurnEnded, state: RenderState, look: Look, say: Words) -> _Pieces:
    cut = list(flush(state, look, say))
    rows = ending_lines(event, look, say)
    if look.screen_reader and state.fill is not None:
        rows += wrap(line(spoken(state.fill, say)), look.width)
    return [("calls", cut), ("end", rows)]


def _forget(state: RenderState) -> None:
    state.tail, state.draft, state.calls, state.batch = "", None, [], []
    state.questions.clear()


def _around(
    event: SessionRenamed | ModelChanged | ContextCleared | PendingAdded, state: RenderState, look: Look, say: Words
) -> list[Line]:
    match event:
        case SessionRenamed():
            return badge_lines("info", say("term.session.renamed", name=clean_row(event.name)), look)
        case ContextCleared():
            return badge_lines("info", say("term.context.cleared"), look)
        case PendingAdded():
            source = clean_row(event.attachment.source)
            return badge_lines("info", say("term.pending", source=source, n=len(event.attachment.text)), look)
        case ModelChanged():
            state.model = event.model
            if event.why not in ("command", "resumed"):
                return []
            model, provider = clean_row(event.model), clean_row(event.provider)
            return badge_lines("info", say("term.model.changed", model=model, provider=provider), look)


# What may still change ---------------------------------------------------------------------------------------------


def live_lines_of(state: RenderState, look: Look, say: Words, max_rows: int = 12) -> tuple[Line, ...]:
    """The rows that may still change: the end of the streaming answer as raw text, then the open calls in asked order.

    At most `max_rows`, the last ones; a blank row is in front where the log above is of another family.
    """
    if look.screen_reader:
        return ()
    rows = _streaming(state, look, max_rows)
    family: Family = "text" if rows else "calls"
    shown = [call for call in state.calls if call.state != "queued" and not (call.state == "waiting" and call.shown)]
    rows += [EMPTY] if rows and shown else []
    rows += [row for call in shown for row in _live_call(call, look, say)]
    if rows and state.family and (family == "text" or state.family != family):
        rows.insert(0, EMPTY)
    return tuple(clip(row, look.width, "") for row in rows[-max_rows:])


def _live_call(call: Call, look: Look, say: Words) -> list[Line]:
    return live_lines(call, look, say, 8 if call.name == SHELL else 3) if call.open else row_lines(call, look, say)


def _streaming(state: RenderState, look: Look, max_rows: int) -> list[Line]:
    if not state.tail.strip():
        return []
    text = state.tail[-(max_rows + 1) * max(look.width, 40) * 2 :].lstrip("\n")
    rows = wrap_text(look.text(clean(text + "▏")), look.width)
    return rows[-max_rows:]


def status_of(state: RenderState, say: Words) -> Status:
    """What the status line says now; idle and empty when nothing runs."""
    if state.questions:
        return Status("waiting", _waiting(state, say))
    if state.batch and any(call.open for call in state.batch):
        return Status("tools", tally(state.batch, say))
    if any(call.open for call in state.calls):
        return Status("tools", tally(state.calls, say))
    if not state.working:
        return Status()
    if state.draft is not None:
        chars = number(state.draft.chars, say.lang)
        return Status("thinking", say("term.status.drafting", n=state.draft.chars, name=state.draft.name, chars=chars))
    return Status("thinking", say("term.status.thinking"))


def _waiting(state: RenderState, say: Words) -> str:
    """`Bash attend votre réponse · 1 autre question ensuite`."""
    first = next(iter(state.questions.values()))
    if isinstance(first, LimitReached):
        text = say("term.status.limit")
    else:
        who = origin_prefix(first.origin, say).strip() or clean_row(first.name)
        text = say("term.status.waiting", name=who)
    others = len(state.questions) - 1
    return f"{text} · {say('term.status.more_questions', n=others)}" if others else text


def diff_of(state: RenderState) -> tuple[DiffBlock, ...]:
    """The changes that the waiting question proposes, whole, for `/diff`."""
    blocks = next(
        (event.blocks for event in state.questions.values() if isinstance(event, ApprovalRequested)),
        (),
    )
    return tuple(block for block in blocks if isinstance(block, DiffBlock))
