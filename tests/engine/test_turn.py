"""The loop: what a turn emits, what it leaves in the history, and how it ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from maia.core.codec import dump_event, load_event
from maia.core.costs import Cost, Usage
from maia.core.endings import Failure
from maia.core.events import (
    Answered,
    ApprovalAnswered,
    ApprovalRequested,
    BrokenCall,
    ContextMeasured,
    Event,
    LimitReached,
    Notice,
    Reminded,
    StepStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnEnded,
    TurnStarted,
    UserSaid,
    WireFailed,
)
from maia.core.messages import AssistantMessage, TextPart, ToolMessage, ToolResultPart, UserMessage
from maia.core.permission import Answer, Need, Verdict
from maia.core.results import ToolResult
from maia.core.told import told
from maia.engine.turn import STEPS_SPENT
from tests.engine.doubles import (
    FakeJudge,
    FakeTool,
    FakeWire,
    call,
    call_answer,
    conversation,
    counting,
    play,
    say,
    text_answer,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def names(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in events]


def ended(events: list[Event]) -> TurnEnded:
    last = events[-1]
    assert isinstance(last, TurnEnded)
    return last


def assert_told_again(events: list[Event]) -> None:
    """Why a call has no result of its own is there as data too, for a reader of another language."""
    for event in events:
        if isinstance(event, ToolCallFinished) and event.status != "succeeded":
            assert event.words is not None, event
            assert f"\n{event.text}".endswith("\n" + told(event.words, say))
            assert load_event(json.loads(dump_event(event))) == event


async def opened(talk):
    async for _ in talk.open():
        pass
    return talk


async def test_a_plain_answer_streams_and_finishes(tmp_path: Path) -> None:
    talk = await opened(conversation(tmp_path, FakeWire(text_answer("Hello."))))
    events = await play(talk, "hi")
    assert names(events) == ["TurnStarted", "UserSaid", "StepStarted", "TextDelta", "Answered", "TurnEnded"]
    end = ended(events)
    assert (end.outcome, end.stop, end.usage, end.cost, end.steps, end.tool_calls) == (
        "finished",
        "end",
        Usage(10, 2),
        Cost(),
        1,
        0,
    )
    assert talk.transcript.messages() == (
        UserMessage((TextPart("hi"),)),
        AssistantMessage((TextPart("Hello."),), "m1", "fake"),
    )


async def test_a_call_runs_and_its_result_goes_back(tmp_path: Path) -> None:
    wire = FakeWire(call_answer(call("Read", path="a")), text_answer("It says so."))
    talk = await opened(conversation(tmp_path, wire, FakeTool("Read", lambda *_: "content of a")))
    events = await play(talk, "read a")
    assert names(events)[4:8] == ["ToolCallStarted", "ToolCallFinished", "StepStarted", "TextDelta"]
    assert wire.requests[1].messages[-1] == ToolMessage((ToolResultPart("c1", "Read", "content of a"),))
    assert ended(events).tool_calls == 1


async def test_results_go_back_in_the_order_asked_whatever_ends_first(tmp_path: Path) -> None:
    async def work(args, _hands):
        await asyncio.sleep(args["wait"])
        return args["name"]

    calls = [call("T", f"c{n}", wait=0.05 - n * 0.02, name=str(n)) for n in range(3)]
    wire = FakeWire(call_answer(*calls), text_answer("ok"))
    talk = await opened(conversation(tmp_path, wire, FakeTool("T", work)))
    events = await play(talk, "go")
    finished = [event.call_id for event in events if isinstance(event, ToolCallFinished)]
    assert finished == ["c2", "c1", "c0"]
    last = wire.requests[1].messages[-1]
    assert isinstance(last, ToolMessage)
    assert [result.text for result in last.results] == ["0", "1", "2"]


async def test_at_most_eight_calls_run_at_once(tmp_path: Path) -> None:
    running = most = 0
    full = asyncio.Event()

    async def work(_args, _hands):
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 8:
            full.set()
        await asyncio.wait_for(full.wait(), 10)
        await asyncio.sleep(0.01)
        running -= 1
        return "x"

    calls = [call("T", f"c{n}") for n in range(20)]
    talk = await opened(conversation(tmp_path, FakeWire(call_answer(*calls)), FakeTool("T", work)))
    await play(talk, "go")
    assert most == 8


async def test_calls_on_one_file_run_one_after_the_other_in_the_order_asked(tmp_path: Path) -> None:
    log: list[str] = []

    async def work(args, _hands):
        log.append(f"begin {args['n']}")
        await asyncio.sleep(0.02 if args["n"] == 1 else 0)
        log.append(f"end {args['n']}")
        return "x"

    calls = [call("T", f"c{n}", path="same", n=n) for n in (1, 2, 3)]
    talk = await opened(conversation(tmp_path, FakeWire(call_answer(*calls)), FakeTool("T", work)))
    await play(talk, "go")
    assert log == ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"]


async def test_an_error_or_a_refusal_does_not_touch_the_other_calls(tmp_path: Path) -> None:
    def crash(_args, _hands):
        raise ZeroDivisionError

    tools = (FakeTool("Good"), FakeTool("Crash", crash), FakeTool("Denied"))
    judge = FakeJudge(Good=Verdict.ALLOW, Crash=Verdict.ALLOW, Denied=Verdict.DENY)
    calls = [
        call("Crash", "c1"),
        call("Denied", "c2"),
        call("Nowhere", "c3"),
        call("Good", "c4"),
        call("Good", "c5", bad=1),
    ]
    wire = FakeWire(call_answer(*calls), text_answer("ok"))
    talk = await opened(conversation(tmp_path, wire, *tools, judge=judge))
    events = await play(talk, "go")
    status = {event.call_id: event.status for event in events if isinstance(event, ToolCallFinished)}
    assert status == {"c1": "failed", "c2": "refused", "c3": "refused", "c4": "succeeded", "c5": "failed"}
    texts = {event.call_id: event.text for event in events if isinstance(event, ToolCallFinished)}
    assert "Traceback" not in texts["c1"]
    assert "known=Good, Crash, Denied" in texts["c3"]
    assert_told_again(events)
    assert "received=bad" in texts["c5"]
    assert ended(events).outcome == "finished"


async def test_a_result_that_comes_later_is_no_error_for_the_model(tmp_path: Path) -> None:
    wire = FakeWire(call_answer(call("T", "c1")), text_answer("ok"))
    tool = FakeTool("T", lambda *_: ToolResult("Later.", is_pending=True))
    events = await play(await opened(conversation(tmp_path, wire, tool)), "go")
    assert [each.status for each in events if isinstance(each, ToolCallFinished)] == ["pending"]
    assert wire.requests[1].messages[-1] == ToolMessage((ToolResultPart("c1", "T", "Later."),))


async def test_an_error_reaches_the_model_with_its_remedy(tmp_path: Path) -> None:
    wire = FakeWire(call_answer(call("T", "c1", bad=1)), text_answer("ok"))
    talk = await opened(conversation(tmp_path, wire, FakeTool("T")))
    await play(talk, "go")
    text = "tool.argument.bad received=bad\ntool.argument.bad.fix received=bad"
    assert wire.requests[1].messages[-1] == ToolMessage((ToolResultPart("c1", "T", text, True),))


async def test_questions_come_one_by_one_and_a_session_answer_spares_the_next(tmp_path: Path) -> None:
    open_now = most = 0

    def answers(event: Event) -> Answer:
        nonlocal most
        most = max(most, open_now)
        return Answer("session")

    calls = [call("T", f"c{n}", path="same") for n in range(3)]
    talk = await opened(conversation(tmp_path, FakeWire(call_answer(*calls)), FakeTool("T"), judge=FakeJudge()))
    events = await play(talk, "go", answers)
    assert len([event for event in events if isinstance(event, ApprovalRequested)]) == 1
    assert ended(events).approvals == 1


async def test_two_questions_are_never_open_together(tmp_path: Path) -> None:
    calls = [call("T", f"c{n}", path=f"p{n}") for n in range(3)]
    talk = await opened(conversation(tmp_path, FakeWire(call_answer(*calls)), FakeTool("T"), judge=FakeJudge()))
    events = await play(talk, "go", lambda _: Answer("once"))
    asked = [type(event).__name__ for event in events if isinstance(event, (ApprovalRequested, ApprovalAnswered))]
    assert asked == ["ApprovalRequested", "ApprovalAnswered"] * 3


async def test_a_deny_rule_that_comes_while_a_question_waits_holds_for_the_next_call(tmp_path: Path) -> None:
    verdicts = {"A": Verdict.ASK, "B": Verdict.ASK}

    class ReadAgain(FakeJudge):
        def allow_always(self, needs: Sequence[Need]) -> str:
            self._verdicts["B"] = Verdict.DENY  # somebody wrote it into the file that was read again to save the rule
            return super().allow_always(needs)

    forbidden = FakeTool("B")
    wire = FakeWire(call_answer(call("A", "c1"), call("B", "c2")), text_answer("ok"))
    talk = conversation(tmp_path, wire, FakeTool("A"), forbidden, judge=ReadAgain(**verdicts))
    await opened(talk)
    events = await play(talk, "go", lambda _event: Answer("always"))
    assert [event.name for event in events if isinstance(event, ApprovalRequested)] == ["A"]
    assert [event.status for event in events if isinstance(event, ToolCallFinished)] == ["succeeded", "refused"]
    assert forbidden.ran == []
    await talk.close()


async def test_a_refusal_gives_its_reason_to_the_model(tmp_path: Path) -> None:
    tool = FakeTool("T")
    wire = FakeWire(call_answer(call("T", path="x")), text_answer("as you wish"))
    talk = await opened(conversation(tmp_path, wire, tool, judge=FakeJudge()))
    events = await play(talk, "go", lambda _: Answer("no", "not on a Friday"))
    assert tool.ran == []
    result = next(event for event in events if isinstance(event, ToolCallFinished))
    assert result.status == "refused"
    assert "not on a Friday" in result.text
    assert not any(isinstance(event, ToolCallStarted) for event in events)


async def test_always_saves_the_rule_and_says_where(tmp_path: Path) -> None:
    judge = FakeJudge()
    talk = await opened(conversation(tmp_path, FakeWire(call_answer(call("T", path="x"))), FakeTool("T"), judge=judge))
    events = await play(talk, "go", lambda _: Answer("always"))
    assert [need.value for need in judge.saved] == ["x"]
    assert Notice("info", "turn.rule_saved", {"rule": "T(x)", "file": "./.maia/settings.json"}) in events


async def test_stopping_in_mid_stream_keeps_what_was_written(tmp_path: Path) -> None:
    wire = FakeWire([TextDelta("half an "), 5.0, TextDelta("answer")], text_answer("again"))
    talk = await opened(conversation(tmp_path, wire))
    events = await play(talk, "go", stop_at=lambda event: isinstance(event, TextDelta))
    assert ended(events).outcome == "stopped"
    assert wire.closed == 1
    assert talk.transcript.messages()[-1] == AssistantMessage((TextPart("half an "),), "m1", "fake")
    await play(talk, "next")
    assert [type(message).__name__ for message in wire.requests[1].messages] == [
        "UserMessage",
        "AssistantMessage",
        "UserMessage",
    ]


async def test_stopping_before_any_text_merges_the_next_request(tmp_path: Path) -> None:
    wire = FakeWire([5.0], text_answer("again"))
    talk = await opened(conversation(tmp_path, wire))
    await play(talk, "first", stop_at=lambda event: isinstance(event, StepStarted))
    events = await play(talk, "second")
    said = next(event for event in events if isinstance(event, UserSaid))
    assert said.merged
    assert wire.requests[1].messages == (UserMessage((TextPart("first"), TextPart("second"))),)


async def test_stopping_a_running_call_gives_every_call_a_result(tmp_path: Path) -> None:
    async def work(args, hands):
        hands.emit("partial output\n")
        await asyncio.sleep(5)

    wire = FakeWire(call_answer(call("T", "c1", path="a"), call("T", "c2", path="a")), text_answer("ok"))
    talk = await opened(conversation(tmp_path, wire, FakeTool("T", work)))
    events = await play(talk, "go", stop_at=lambda event: isinstance(event, ToolCallStarted))
    status = {event.call_id: event.status for event in events if isinstance(event, ToolCallFinished)}
    assert status == {"c1": "unknown", "c2": "skipped"}
    assert ended(events).outcome == "stopped"
    assert_told_again(events)
    await play(talk, "next")
    results = [m for m in wire.requests[1].messages if isinstance(m, ToolMessage)]
    assert [result.call_id for result in results[0].results] == ["c1", "c2"]
    assert "partial output" in results[0].results[0].text


async def test_stopping_while_a_question_waits_refuses_it(tmp_path: Path) -> None:
    talk = await opened(conversation(tmp_path, FakeWire(call_answer(call("T"))), FakeTool("T"), judge=FakeJudge()))
    events = await play(talk, "go", stop_at=lambda event: isinstance(event, ApprovalRequested))
    assert ApprovalAnswered("approval-1", Answer("no"), "stop") in events
    assert ended(events).outcome == "stopped"


async def test_a_stop_right_at_the_start_still_ends_the_turn_properly(tmp_path: Path) -> None:
    talk = await opened(conversation(tmp_path, FakeWire([5.0])))
    events = await play(talk, "go", stop_at=lambda event: isinstance(event, TurnStarted))
    assert ended(events).outcome == "stopped"


async def test_a_failed_call_of_the_model_keeps_the_text_and_tells_the_failure(tmp_path: Path) -> None:
    failure = Failure("overloaded", "host", 529)
    partial = AssistantMessage((TextPart("Well"), call("T")), "m1", "fake")
    wire = FakeWire([TextDelta("Well"), WireFailed(failure, partial)])
    talk = await opened(conversation(tmp_path, wire))
    events = await play(talk, "go")
    assert ended(events).failure == failure
    assert ended(events).outcome == "failed"
    answered = next(event for event in events if isinstance(event, Answered))
    assert answered.partial
    assert answered.message.parts == (TextPart("Well"),)


async def test_a_wire_with_a_defect_ends_the_turn_and_keeps_the_text(tmp_path: Path) -> None:
    events = await play(conversation(tmp_path, FakeWire([TextDelta("half a"), ValueError("a defect")])), "go")
    assert [event.message.parts for event in events if isinstance(event, Answered)] == [(TextPart("half a"),)]
    ended = events[-1]
    assert isinstance(ended, TurnEnded)
    assert (ended.outcome, ended.failure) == (
        "failed",
        Failure("other", code="defect", provider_text="ValueError('a defect')"),
    )


async def test_a_wire_that_just_ends_is_an_unfinished_answer(tmp_path: Path) -> None:
    talk = await opened(conversation(tmp_path, FakeWire([TextDelta("and then")])))
    assert ended(await play(talk, "go")).failure == Failure("incomplete")


@pytest.mark.parametrize(
    ("stop", "outcome"),
    [
        ("end", "finished"),
        ("stop_sequence", "finished"),
        ("unknown", "finished"),
        ("tool_calls", "finished"),
        ("length", "output_limit"),
        ("refusal", "refused"),
        ("context_full", "failed"),
    ],
)
async def test_the_reason_to_stop_makes_the_outcome(tmp_path: Path, stop: str, outcome: str) -> None:
    talk = await opened(conversation(tmp_path, FakeWire(text_answer("x", stop))))
    events = await play(talk, "go")
    assert ended(events).outcome == outcome
    assert not any(isinstance(event, Notice) for event in events), "the outcome says it, and it is said once"


async def test_a_cut_call_is_not_run_and_the_model_is_told(tmp_path: Path) -> None:
    tool = FakeTool("Write")
    broken = (BrokenCall("c1", "Write", 4096, '{"path":"a"'),)
    wire = FakeWire(call_answer(stop="length", broken=broken), text_answer("ok"))
    talk = await opened(conversation(tmp_path, wire, tool))
    events = await play(talk, "go")
    assert tool.ran == []
    assert Notice("warn", "turn.call_cut", {"tool": "Write", "chars": 4096}) in events
    reminder = next(event for event in events if isinstance(event, Reminded))
    assert "4096 characters" in reminder.text
    assert "several pieces" in reminder.text
    last = wire.requests[1].messages[-1]
    assert isinstance(last, UserMessage)
    assert last.parts[-1] == TextPart(reminder.text)


async def test_a_model_that_sends_cut_calls_for_ever_is_given_up(tmp_path: Path) -> None:
    broken = (BrokenCall("c1", "Write", 10),)
    wire = FakeWire(*[call_answer(broken=broken) for _ in range(20)])
    talk = await opened(conversation(tmp_path, wire))
    events = await play(talk, "go")
    assert ended(events).outcome == "output_limit"
    assert len(wire.requests) == 3


async def test_an_output_that_ends_on_a_usual_limit_with_a_call_warns(tmp_path: Path) -> None:
    wire = FakeWire(call_answer(call("T"), likely_cut=True), text_answer("ok"))
    talk = await opened(conversation(tmp_path, wire, FakeTool("T")))
    events = await play(talk, "go")
    assert any(isinstance(event, Notice) and event.key == "turn.answer_cut" for event in events)


async def test_at_the_limit_the_person_is_asked_and_may_grant_another_series(tmp_path: Path) -> None:
    wire = FakeWire(*[call_answer(call("T", f"c{n}", n=n)) for n in range(6)])
    talk = await opened(conversation(tmp_path, wire, FakeTool("T"), max_iterations=2))
    asked: list[int] = []

    def answers(event: Event) -> Answer | None:
        assert isinstance(event, LimitReached)
        asked.append(event.value)
        return Answer("once" if len(asked) == 1 else "no")

    events = await play(talk, "go", answers)
    assert asked == [2, 4]
    assert ended(events).outcome == "turn_limit"
    assert ended(events).steps == 4


async def test_a_spent_tool_budget_skips_the_rest_and_ends_the_turn(tmp_path: Path) -> None:
    tool = FakeTool("T")
    wire = FakeWire(call_answer(*[call("T", f"c{n}") for n in range(3)]))
    talk = await opened(conversation(tmp_path, wire, tool, max_tool_calls=2))
    events = await play(talk, "go")
    status = [event.status for event in events if isinstance(event, ToolCallFinished)]
    assert sorted(status) == ["skipped", "succeeded", "succeeded"]
    assert ended(events).outcome == "tool_budget"


async def test_a_model_that_goes_round_in_circles_is_asked_for_words_alone(tmp_path: Path) -> None:
    wire = FakeWire(*[call_answer(call("T", f"c{n}", path="x")) for n in range(3)], text_answer("It says x."))
    talk = await opened(conversation(tmp_path, wire, FakeTool("T")))
    events = await play(talk, "what is in x?")
    assert [request.answer_only for request in wire.requests] == [False, False, False, True]
    assert [len(request.messages) for request in wire.requests] == [1, 3, 5, 3]
    assert Notice("info", "turn.circles") in events
    assert ended(events).outcome == "finished"
    assert len(talk.transcript.messages()) == 8
    await play(talk, "and in y?")
    assert not wire.requests[-1].answer_only


async def test_a_call_repeated_until_something_changes_is_left_alone(tmp_path: Path) -> None:
    results = iter(["1 of 3 done", "2 of 3 done", "3 of 3 done"])
    wire = FakeWire(*[call_answer(call("T", f"c{n}", path="x")) for n in range(3)], text_answer("ok"))
    talk = await opened(conversation(tmp_path, wire, FakeTool("T", lambda *_: next(results))))
    await play(talk, "wait for it")
    assert not any(request.answer_only for request in wire.requests)


async def test_the_context_is_measured_before_each_request_after_each_answer_and_after_results(tmp_path: Path) -> None:
    wire = FakeWire(call_answer(call("T")), text_answer("ok"))
    talk = await opened(conversation(tmp_path, wire, FakeTool("T"), tally=counting()))
    events = await play(talk, "go")
    where = [names(events)[n - 1] for n, event in enumerate(events) if isinstance(event, ContextMeasured)]
    assert where == ["StepStarted", "Answered", "ToolCallFinished", "StepStarted", "Answered"]
    tokens = [event.tokens for event in events if isinstance(event, ContextMeasured)]
    assert tokens == sorted(tokens)
    assert tokens[0] < tokens[1] < tokens[2] == tokens[3] < tokens[4], "each answer and each result counts"
    await talk.close()


async def test_a_server_that_reads_less_than_half_of_what_is_sent_is_told_once(tmp_path: Path) -> None:
    counts = {
        "cut": Usage(4_000, 2),
        "counted otherwise": Usage(9_000, 2),
        "in a cache": Usage(0, 2, cache_read=11_000),
    }
    told: dict[str, int] = {}
    for name, usage in counts.items():
        wire = FakeWire(text_answer("one", usage=usage), text_answer("two", usage=usage))
        talk = await opened(conversation(tmp_path, wire, tally=counting()))
        events = [*await play(talk, "x" * 12_000), *await play(talk, "more")]
        told[name] = sum(isinstance(event, Notice) and event.key == "turn.prompt_cut" for event in events)
        await talk.close()
    assert told == {"cut": 1, "counted otherwise": 0, "in a cache": 0}
    short = await opened(conversation(tmp_path, FakeWire(text_answer("one", usage=Usage(9, 2))), tally=counting()))
    assert not any(isinstance(event, Notice) for event in await play(short, "hi"))
    await short.close()


async def test_sums_of_a_turn_never_invent_a_zero(tmp_path: Path) -> None:
    wire = FakeWire(call_answer(call("T"), cost_usd=0.5), text_answer("ok", usage=None))
    talk = await opened(conversation(tmp_path, wire, FakeTool("T")))
    end = ended(await play(talk, "go"))
    assert end.usage == Usage(10, 2)
    assert end.cost == Cost(0.5, "reported")
    silent = await opened(conversation(tmp_path, FakeWire(text_answer("x", usage=None))))
    end = ended(await play(silent, "go"))
    assert (end.usage, end.cost) == (None, Cost())


async def test_a_result_shows_its_three_readers(tmp_path: Path) -> None:
    result = ToolResult("for the model", False, "12 lines", (), {"exit": 0})
    wire = FakeWire(call_answer(call("T")), text_answer("ok"))
    talk = await opened(conversation(tmp_path, wire, FakeTool("T", lambda *_: result)))
    event = next(event for event in await play(talk, "go") if isinstance(event, ToolCallFinished))
    assert (event.text, event.summary, event.data) == ("for the model", "12 lines", {"exit": 0})


async def test_an_agent_whose_steps_are_spent_is_asked_for_its_conclusion_in_words_alone(tmp_path: Path) -> None:
    wire = FakeWire(*[call_answer(call("T", f"c{n}", n=n)) for n in range(2)], text_answer("what I found"))
    talk = await opened(conversation(tmp_path, wire, FakeTool("T"), max_iterations=2, concludes=True))
    events = await play(talk, "go")
    assert [event for event in events if isinstance(event, LimitReached)] == [], "nobody is asked"
    assert [request.answer_only for request in wire.requests] == [False, False, True]
    assert [event.text for event in events if isinstance(event, Reminded)] == [STEPS_SPENT]
    assert (ended(events).outcome, ended(events).steps) == ("turn_limit", 3)
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["what I found"]


async def test_an_agent_that_is_done_within_its_steps_is_asked_for_nothing(tmp_path: Path) -> None:
    wire = FakeWire(call_answer(call("T", "c1")), text_answer("done"))
    talk = await opened(conversation(tmp_path, wire, FakeTool("T"), max_iterations=2, concludes=True))
    events = await play(talk, "go")
    assert (ended(events).outcome, len(wire.requests)) == ("finished", 2)
