from maia.core.costs import Cost
from maia.core.endings import Failure
from maia.core.events import (
    Answered,
    ContextCleared,
    Event,
    ModelChanged,
    Notice,
    PendingAdded,
    ReasoningDelta,
    SessionStarted,
    StepStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from maia.core.messages import AssistantMessage, ReasoningPart, TextPart, ToolCallPart
from maia.core.submission import Attachment
from maia.database.events import Logged, Stamped
from maia.engine.transcript import Transcript
from maia.store.journal import Record
from maia.workspace.takeover import CUT, Handed, handed, turns_of

START = SessionStarted("s", "/f", "1")
CALL = ToolCallPart("c1", "Read", {"path": "a"})
CLEAR, PENDING = ContextCleared(), PendingAdded(Attachment("file", "a.py", "print()"))
AT = "2026-11-30T10:00:00.250Z"
MS = 1_796_032_800_250


def records(*events: Event) -> list[Record]:
    return [Record(n, AT, event) for n, event in enumerate(events, 1)]


def answered(*parts: TextPart | ToolCallPart | ReasoningPart) -> Answered:
    return Answered(AssistantMessage(parts, "m", "p"), "end", "stop", None, Cost())


def ended(failure: Failure | None = None, calls: int = 0, outcome: str = "finished") -> TurnEnded:
    stop = "end" if failure is None else "unknown"
    raw = "stop" if failure is None else ""
    return TurnEnded(outcome, stop, raw, None, Cost(), "m", "p", 1, calls, 0, failure=failure)  # type: ignore[arg-type]


def whole(number: int) -> list[Event]:
    return [TurnStarted(number, "m", "p"), UserSaid(f"q{number}"), StepStarted(1), answered(TextPart("a")), ended()]


def events_of(*events: Event, is_going_on: bool = False) -> list[list[Event]]:
    return [[each.event for each in turn.events] for turn in turns_of(records(*events), is_going_on=is_going_on)]


def test_turns_are_cut_at_their_ends_and_keep_their_times() -> None:
    turns = turns_of(records(START, Notice("info", "x"), *whole(1), *whole(2)), is_going_on=False)
    assert [turn.said for turn in turns] == ["q1", "q2"]
    assert [[each.event for each in turn.events] for turn in turns] == [whole(1), whole(2)]
    assert {each.at for turn in turns for each in turn.events} == {MS}


def test_what_later_events_hold_and_reasoning_are_left_out() -> None:
    said = [TurnStarted(1, "m", "p"), UserSaid("q"), StepStarted(1)]
    thought = [ReasoningDelta("hm"), TextDelta("a"), answered(ReasoningPart("hm"), TextPart("a"))]
    assert events_of(START, *said, *thought, ended()) == [[*said, answered(TextPart("a")), ended()]]


def test_what_changes_the_next_request_goes_with_the_next_turn() -> None:
    events = [START, *whole(1), ModelChanged("n", "p", "command"), CLEAR, PENDING, *whole(2)]
    assert events_of(*events) == [whole(1), [CLEAR, PENDING, *whole(2)]]
    log = [each for turn in events_of(*events) for each in turn]
    assert Transcript.of(log).messages() == Transcript.of(events).messages()


def test_a_turn_that_still_runs_waits_and_one_that_was_cut_gets_its_end() -> None:
    begun = [TurnStarted(2, "m", "p"), UserSaid("q2"), StepStarted(1), answered(CALL)]
    called = [*begun, ToolCallStarted("c1", "Read", {"path": "a"})]
    assert events_of(*whole(1), *called, is_going_on=True) == [whole(1)]
    cut = events_of(*whole(1), *called)[1]
    assert cut[: len(called)] == called
    assert [type(each) for each in cut[len(called) :]] == [ToolCallFinished, TurnEnded]
    assert cut[-1] == ended(CUT, calls=1, outcome="failed")
    messages = Transcript.of([*whole(1), *cut]).messages()
    assert messages == Transcript.of([*whole(1), *called]).messages(), "every call has a result"


def test_a_turn_gets_the_number_of_its_conversation() -> None:
    (turn,) = turns_of(records(*whole(7)), is_going_on=False)
    assert turn.numbered(3).events[0].event == TurnStarted(3, "m", "p")


def test_a_terminal_gets_the_turns_that_are_over() -> None:
    running: list[Event] = [TurnStarted(2, "m", "p"), UserSaid("q2"), TextDelta("a")]
    log = [Logged(n, n, 1, each) for n, each in enumerate([*whole(1), *running], 1)]
    stamped = tuple(Stamped(each.at, each.event) for each in log[:5])
    assert handed(log) == Handed(stamped, TurnStarted(1, "m", "p"))
    assert handed(log[5:]) == Handed((), None)
