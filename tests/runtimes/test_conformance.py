from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from maia.core.costs import Cost, Usage
from maia.core.events import (
    Answered,
    ApprovalRequested,
    Event,
    LimitReached,
    Notice,
    TextDelta,
    ToolCallFinished,
    TurnEnded,
)
from maia.core.messages import TextPart
from maia.core.permission import Answer, Decision, Need, Verdict
from maia.core.reason import Reason
from maia.runtimes.patience import Patience
from maia.runtimes.programs import Speaks
from maia.sandbox.places import Places
from maia.sandbox.wall import find_wall
from tests.engine.doubles import FakeJudge, play
from tests.runtimes.doubles import DIALECTS, KEY, names, opened, runtime, talk

ASKING: tuple[Speaks, ...] = ("acp", "claude-code")
CUT_BY: dict[str, str] = {"acp": "end_turn", "claude-code": "end_turn", "codex-exec": ""}


def run(
    folder: Path,
    speaks: Speaks,
    scenario: str,
    judge: FakeJudge | None = None,
    answers: Callable[[Event], Answer | None] = lambda _event: None,
    stop_at: Callable[[Event], bool] = lambda _event: False,
    limits: dict[str, int] | None = None,
    **more: Any,
) -> list[Event]:
    """One turn of the scripted program in that dialect."""

    async def whole() -> list[Event]:
        conversation = await opened(talk(folder, runtime(folder, speaks, scenario, **more), judge, **(limits or {})))
        try:
            return await play(conversation, "Do it", answers, stop_at)
        finally:
            await conversation.close()

    return asyncio.run(whole())


def ended(events: list[Event]) -> TurnEnded:
    last = events[-1]
    assert isinstance(last, TurnEnded)
    return last


def text(events: list[Event]) -> str:
    parts = [part for event in events if isinstance(event, Answered) for part in event.message.parts]
    assert "".join(part.text for part in parts if isinstance(part, TextPart)) == "".join(
        event.text for event in events if isinstance(event, TextDelta)
    )
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def notices(events: list[Event]) -> list[str]:
    return [event.key for event in events if isinstance(event, Notice)]


def results(events: list[Event]) -> list[ToolCallFinished]:
    return [event for event in events if isinstance(event, ToolCallFinished)]


@pytest.mark.parametrize("speaks", DIALECTS)
def test_a_text_answer_is_one_step_with_what_was_reported(tmp_path: Path, speaks: Speaks) -> None:
    events = run(tmp_path, speaks, "text")
    assert names(events) == ["TurnStarted", "UserSaid", "StepStarted", "Answered", "TurnEnded"]
    end = ended(events)
    assert (end.outcome, end.raw_stop, text(events)) == ("finished", CUT_BY[speaks], "The answer is 42.")
    assert (end.usage, end.provider, end.steps) == (Usage(10, 5, 2), "fake", 1)
    assert end.cost == (Cost() if speaks == "codex-exec" else Cost(0.5, "reported"))


@pytest.mark.parametrize("speaks", ASKING)
def test_a_tool_call_is_asked_about_by_our_rules_and_shown_under_our_name(tmp_path: Path, speaks: Speaks) -> None:
    events = run(tmp_path, speaks, "tool", answers=lambda _event: Answer("once"))
    assert names(events) == [
        *("TurnStarted", "UserSaid", "StepStarted", "Answered", "ApprovalRequested", "ApprovalAnswered"),
        *("ToolCallStarted", "ToolCallFinished", "StepStarted", "Answered", "TurnEnded"),
    ]
    question = next(event for event in events if isinstance(event, ApprovalRequested))
    assert (question.name, question.preview) == ("Bash", "echo hi > proof.txt && cat proof.txt")
    assert [(each.name, each.status, each.text) for each in results(events)] == [("Bash", "succeeded", "hi\n")]
    assert (tmp_path / "proof.txt").read_text() == "hi\n"
    assert (ended(events).tool_calls, ended(events).approvals, ended(events).steps) == (1, 1, 2)


def test_a_program_that_asks_twice_about_one_call_is_answered_twice_and_a_person_once(tmp_path: Path) -> None:
    events = run(tmp_path, "acp", "asks_twice", answers=lambda _event: Answer("once"))
    assert [each.name for each in events if isinstance(each, ApprovalRequested)] == ["Bash"]
    assert [(each.name, each.status) for each in results(events)] == [("Bash", "succeeded")]


def test_another_call_under_the_id_of_one_that_was_allowed_is_asked_about(tmp_path: Path) -> None:
    events = run(tmp_path, "acp", "one_id", answers=lambda _event: Answer("once"))
    assert [each.name for each in events if isinstance(each, ApprovalRequested)] == ["Edit", "Edit"]


@pytest.mark.parametrize("speaks", ASKING)
def test_what_a_rule_allows_is_not_asked(tmp_path: Path, speaks: Speaks) -> None:
    events = run(tmp_path, speaks, "tool", FakeJudge(Bash=Verdict.ALLOW))
    assert "ApprovalRequested" not in names(events)
    assert [each.status for each in results(events)] == ["succeeded"]


@pytest.mark.parametrize("speaks", ASKING)
@pytest.mark.parametrize("by", ["a rule", "a person"])
def test_a_denied_call_never_runs_and_its_reason_is_told(tmp_path: Path, speaks: Speaks, by: str) -> None:
    judge = FakeJudge(Bash=Verdict.DENY) if by == "a rule" else FakeJudge()
    events = run(tmp_path, speaks, "denied", judge, lambda _event: Answer("no", "not today"))
    assert [each.status for each in results(events)] == ["refused"]
    assert not (tmp_path / "proof.txt").exists()
    assert ended(events).outcome == "finished"
    assert by == "a rule" or "not today" in results(events)[0].text


ALLOWED = FakeJudge(Bash=Verdict.ALLOW, Read=Verdict.ALLOW, Edit=Verdict.ALLOW)


def answers_limit(scope: Literal["once", "no"]) -> Callable[[Event], Answer | None]:
    return lambda event: Answer(scope) if isinstance(event, LimitReached) else None


@pytest.mark.parametrize("speaks", DIALECTS)
def test_at_the_limit_of_steps_nobody_says_go_on_and_the_program_is_stopped(tmp_path: Path, speaks: Speaks) -> None:
    events = run(tmp_path, speaks, "many", ALLOWED, answers_limit("no"), limits={"max_iterations": 2})
    assert ended(events).outcome == "turn_limit"
    assert [each.value for each in events if isinstance(each, LimitReached)] == [2]
    assert len(results(events)) >= 2, "it cannot be held while somebody is asked"
    assert_none_left(tmp_path)


@pytest.mark.parametrize("speaks", DIALECTS)
def test_a_person_may_let_the_program_go_on_for_another_series(tmp_path: Path, speaks: Speaks) -> None:
    events = run(tmp_path, speaks, "many", ALLOWED, answers_limit("once"), limits={"max_iterations": 2})
    assert (ended(events).outcome, len(results(events))) == ("finished", 4)
    assert text(events).endswith("The answer is 42.")


def test_a_question_about_the_limit_is_withdrawn_when_the_program_is_done(tmp_path: Path) -> None:
    events = run(tmp_path, "codex-exec", "many", ALLOWED, limits={"max_iterations": 2})
    kinds = [type(event).__name__ for event in events]
    assert (ended(events).outcome, len(results(events))) == ("finished", 4)
    assert kinds.index("LimitReached") < kinds.index("ApprovalAnswered") < kinds.index("TurnEnded")


@pytest.mark.parametrize("speaks", DIALECTS)
def test_a_budget_of_calls_ends_the_turn_when_it_is_spent(tmp_path: Path, speaks: Speaks) -> None:
    events = run(tmp_path, speaks, "many", ALLOWED, limits={"max_tool_calls": 2})
    done = [each.status for each in results(events)]
    assert (ended(events).outcome, done[:2]) == ("tool_budget", ["succeeded", "succeeded"])
    assert speaks not in ASKING or "succeeded" not in done[2:]


def test_a_refused_call_that_is_announced_again_is_one_call(tmp_path: Path) -> None:
    events = run(tmp_path, "acp", "denied_twice", FakeJudge(Bash=Verdict.DENY))
    assert [each.status for each in results(events)] == ["refused"]
    assert "ToolCallStarted" not in names(events)


@pytest.mark.parametrize("scenario", ["denied_ends", "denied_refusal"])
def test_a_refused_call_that_ends_the_answer_is_a_row_and_nothing_after_it(tmp_path: Path, scenario: str) -> None:
    events = run(tmp_path, "acp", scenario, FakeJudge(Bash=Verdict.DENY))
    assert names(events)[-2:] == ["ToolCallFinished", "TurnEnded"]
    assert [each.status for each in results(events)] == ["refused"]
    assert (text(events), ended(events).outcome, ended(events).failure) == ("I try. ", "finished", None)


def test_a_tool_that_is_called_through_another_one_is_shown_with_what_it_receives(tmp_path: Path) -> None:
    events = run(tmp_path, "acp", "envelope", answers=lambda _event: Answer("once"))
    question = next(event for event in events if isinstance(event, ApprovalRequested))
    assert (question.name, question.arguments) == ("Bash", {"command": "echo hi > proof.txt && cat proof.txt"})
    assert [(each.name, each.status) for each in results(events)] == [("Bash", "succeeded")]


def test_a_search_that_is_too_broad_is_refused_with_its_reason_and_a_narrower_one_may_follow(tmp_path: Path) -> None:
    why = Reason("folders.search.foreign_memory", {"path": "/", "search": "foreign-memory"})
    events = run(tmp_path, "claude-code", "denied", TooBroad(why))
    assert [(each.status, each.data) for each in results(events)] == [("refused", {"search": "foreign-memory"})]
    assert (text(events).endswith("The answer is 42."), ended(events).outcome) == (True, "finished")


class TooBroad(FakeJudge):
    def __init__(self, why: Reason) -> None:
        super().__init__()
        self.why = why

    def decide(self, needs: Sequence[Need]) -> Decision:
        return Decision(Verdict.DENY, self.why) if needs[0].tool == "Bash" else super().decide(needs)


def test_a_program_that_cannot_ask_shows_what_it_ran_and_may_only_read_until_it_is_trusted(tmp_path: Path) -> None:
    events = run(tmp_path, "codex-exec", "tool")
    assert [(each.name, each.status, each.text) for each in results(events)] == [("Bash", "succeeded", "hi\n")]
    assert notices(events) == ["runtime.read_only"]
    trusted = run(tmp_path, "codex-exec", "tool", FakeJudge(Agent=Verdict.ALLOW))
    assert "runtime.read_only" not in notices(trusted)


@pytest.mark.parametrize("speaks", DIALECTS)
def test_a_program_that_runs_what_a_rule_denies_is_stopped(tmp_path: Path, speaks: Speaks) -> None:
    events = run(tmp_path, speaks, "unasked", FakeJudge(Bash=Verdict.DENY))
    end = ended(events)
    assert (end.outcome, end.failure and end.failure.code) == ("failed", "denied_call")
    assert "runtime.denied_call" in notices(events)


@pytest.mark.parametrize("speaks", DIALECTS)
def test_calls_that_overlap_are_one_step_and_each_has_its_result(tmp_path: Path, speaks: Speaks) -> None:
    async def whole() -> tuple[list[Event], Any]:
        allow = FakeJudge(Read=Verdict.ALLOW, Edit=Verdict.ALLOW)
        conversation = await opened(talk(tmp_path, runtime(tmp_path, speaks, "two"), allow))
        events = await play(conversation, "Do it")
        messages = conversation.transcript.messages()
        await conversation.close()
        return events, messages

    events, messages = asyncio.run(whole())
    calls = {event.call_id for event in results(events)}
    assert (len(calls), ended(events).tool_calls, ended(events).steps) == (2, 2, 3 if speaks == "claude-code" else 2)
    kinds = [type(message).__name__ for message in messages]
    assert kinds[0] == "UserMessage"
    assert kinds[1:] in (
        ["AssistantMessage", "ToolMessage", "AssistantMessage"],
        ["AssistantMessage", "ToolMessage", "AssistantMessage", "ToolMessage", "AssistantMessage"],
    )


def test_what_a_program_changed_without_asking_is_told_as_not_to_be_undone(tmp_path: Path) -> None:
    events = run(tmp_path, "codex-exec", "two", ALLOWED)
    assert notices(events).count("runtime.no_undo") == 1
    assert "runtime.no_undo" not in notices(run(tmp_path, "acp", "tool", FakeJudge(Bash=Verdict.ALLOW)))


@pytest.mark.parametrize("speaks", DIALECTS)
def test_a_plan_is_our_task_list_and_needs_no_permission(tmp_path: Path, speaks: Speaks) -> None:
    events = run(tmp_path, speaks, "plan", FakeJudge(TodoWrite=Verdict.ALLOW))
    assert [(each.name, each.status) for each in results(events)] == [("TodoWrite", "succeeded")]


@pytest.mark.parametrize("speaks", DIALECTS)
def test_a_stopped_turn_ends_at_once_keeps_its_text_and_leaves_no_process(tmp_path: Path, speaks: Speaks) -> None:
    began = time.monotonic()
    events = run(tmp_path, speaks, "cancelled", stop_at=lambda event: isinstance(event, TextDelta))
    assert (ended(events).outcome, text(events)) == ("stopped", "I am th")
    assert time.monotonic() - began < 30
    assert_none_left(tmp_path)


@pytest.mark.parametrize("speaks", DIALECTS)
def test_a_program_that_ignores_a_stop_is_killed(tmp_path: Path, speaks: Speaks) -> None:
    events = run(tmp_path, speaks, "stubborn", stop_at=lambda event: isinstance(event, TextDelta))
    assert ended(events).outcome == "stopped"
    assert_none_left(tmp_path)


@pytest.mark.parametrize("speaks", DIALECTS)
def test_a_crash_keeps_the_text_and_tells_the_last_words_apart(tmp_path: Path, speaks: Speaks) -> None:
    events = run(tmp_path, speaks, "crashed")
    failure = ended(events).failure
    assert failure is not None
    assert (ended(events).outcome, failure.kind, failure.code) == ("failed", "incomplete", "exit 139")
    assert failure.provider_text == "Segmentation fault (core dumped)"
    assert text(events) == "Half an ans"
    assert notices(events)[-1] == "runtime.crashed"


@pytest.mark.parametrize("speaks", DIALECTS)
def test_silence_is_bounded_and_ends_the_program(tmp_path: Path, speaks: Speaks) -> None:
    events = run(tmp_path, speaks, "hung", patience=Patience(start=20, idle=0.6, tool=20, cancel=0.3))
    failure = ended(events).failure
    assert failure is not None
    assert (failure.kind, notices(events)[-1]) == ("timeout", "runtime.hung")
    assert_none_left(tmp_path)


@pytest.mark.parametrize("speaks", DIALECTS)
def test_a_program_that_never_ends_is_ended_by_a_stop(tmp_path: Path, speaks: Speaks) -> None:
    said: list[Event] = []

    def enough(event: Event) -> bool:
        said.extend([event] if isinstance(event, TextDelta) else [])
        return len(said) == 5

    events = run(tmp_path, speaks, "endless", stop_at=enough)
    assert (ended(events).outcome, text(events).split()[:2]) == ("stopped", ["more", "more"])
    assert_none_left(tmp_path)


@pytest.mark.parametrize("speaks", DIALECTS)
def test_news_of_an_update_are_no_answer_and_harm_nothing(tmp_path: Path, speaks: Speaks) -> None:
    events = run(tmp_path, speaks, "update")
    assert (ended(events).outcome, text(events)) == ("finished", "The answer is 42.")


@pytest.mark.parametrize("speaks", DIALECTS)
def test_a_program_that_waits_for_an_answer_about_its_update_is_ended(tmp_path: Path, speaks: Speaks) -> None:
    events = run(tmp_path, speaks, "asks_update", patience=Patience(start=0.8, idle=0.8, tool=20, cancel=0.3))
    failure = ended(events).failure
    assert failure is not None
    assert (failure.kind, notices(events)[-1]) == ("timeout", "runtime.hung")
    assert_none_left(tmp_path)


def test_a_program_of_another_protocol_says_which(tmp_path: Path) -> None:
    events = run(tmp_path, "acp", "old")
    told = next(event for event in events if isinstance(event, Notice) and event.key == "runtime.protocol")
    assert (ended(events).outcome, told.values) == ("failed", {"program": "Fake Agent", "version": "0", "ours": 1})


@pytest.mark.parametrize("speaks", DIALECTS)
def test_garbage_is_no_message_and_its_end_is_a_failure(tmp_path: Path, speaks: Speaks) -> None:
    events = run(tmp_path, speaks, "garbage")
    assert (ended(events).outcome, notices(events)[-1], text(events)) == ("failed", "runtime.garbage", "")


@pytest.mark.parametrize("speaks", DIALECTS)
def test_a_line_of_half_a_megabyte_is_a_line(tmp_path: Path, speaks: Speaks) -> None:
    events = run(tmp_path, speaks, "half_megabyte")
    assert (ended(events).outcome, text(events)) == ("finished", "The answer is 42.")


@pytest.mark.parametrize("speaks", ASKING)
def test_an_unknown_request_of_the_program_is_answered_with_an_error(tmp_path: Path, speaks: Speaks) -> None:
    events = run(tmp_path, speaks, "unknown_request")
    assert (ended(events).outcome, text(events)) == ("finished", "The answer is 42.")


@pytest.mark.parametrize("speaks", DIALECTS)
def test_usage_that_is_not_reported_is_unknown_never_zero(tmp_path: Path, speaks: Speaks) -> None:
    end = ended(run(tmp_path, speaks, "no_usage"))
    assert (end.outcome, end.usage, end.cost) == ("finished", None, Cost())


@pytest.mark.parametrize("speaks", DIALECTS)
def test_a_refused_key_is_told_as_one(tmp_path: Path, speaks: Speaks) -> None:
    failure = ended(run(tmp_path, speaks, "auth")).failure
    assert failure is not None
    assert (failure.kind, failure.host) == ("auth", "Fake Agent")


def test_a_program_that_makes_room_in_its_context_says_so(tmp_path: Path) -> None:
    events = run(tmp_path, "claude-code", "compacted")
    assert notices(events) == ["runtime.compacted"]
    assert (ended(events).outcome, text(events)) == ("finished", "The answer is 42.")


@pytest.mark.parametrize("speaks", DIALECTS)
def test_a_key_that_a_program_prints_never_reaches_the_session(tmp_path: Path, speaks: Speaks) -> None:
    events = run(tmp_path, speaks, "secret")
    assert "My key is [FAKE_API_KEY]" in text(events)
    written = "".join(path.read_text() for path in (tmp_path / ".maia").rglob("*") if path.is_file())
    assert KEY not in written + repr(events)


@pytest.mark.parametrize("speaks", DIALECTS)
def test_a_second_turn_goes_on_and_a_cleared_conversation_begins_anew(tmp_path: Path, speaks: Speaks) -> None:
    async def three() -> list[str]:
        conversation = await opened(talk(tmp_path, runtime(tmp_path, speaks, "resumed")))
        said = [text(await play(conversation, words)) for words in ("one", "two")]
        async for _ in conversation.clear():
            pass
        said.append(text(await play(conversation, "three")))
        await conversation.close()
        return said

    mark = "" if speaks == "acp" else "resumed "
    assert asyncio.run(three()) == ["one", f"{mark}two", "three"]


@pytest.mark.parametrize("speaks", DIALECTS)
def test_behind_the_wall_killed_means_that_the_whole_tree_is_gone(tmp_path: Path, speaks: Speaks) -> None:
    found = find_wall("auto", Places(tmp_path, tmp_path / "nobody", writable=(tmp_path,)))
    if found.wall is None:
        pytest.skip("no wall works here")
    events = run(
        tmp_path, speaks, "leftover", stop_at=lambda event: isinstance(event, TextDelta), wall=lambda _home: found
    )
    assert (ended(events).outcome, text(events)) == ("stopped", "I left ")
    assert_none_left(tmp_path)


def test_without_a_wall_no_program_is_started(tmp_path: Path) -> None:
    from maia.sandbox.wall import WallFound

    events = run(tmp_path, "acp", "text", wall=lambda _home: WallFound(None))
    failure = ended(events).failure
    assert failure is not None
    assert (failure.kind, notices(events)) == ("not_configured", ["runtime.no_wall"])


def assert_none_left(folder: Path) -> None:
    """No process has its working folder here any more."""
    until = time.monotonic() + 20
    while left := [pid for pid in os.listdir("/proc") if pid.isdigit() and _folder(pid) == str(folder)]:
        assert time.monotonic() < until, left
        time.sleep(0.05)


def _folder(pid: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""
