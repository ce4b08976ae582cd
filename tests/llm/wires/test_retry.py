from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from maia.core.endings import Failure
from maia.core.events import RetryScheduled, TextDelta, ToolCallDrafted, WireAnswer, WireEvent, WireFailed
from maia.core.messages import AssistantMessage
from maia.llm.retry import MAX_WAIT, retrying, tries_for, wait_before

NOTHING = AssistantMessage(())
DONE = WireAnswer(NOTHING, "end", "stop")
BUSY = Failure("overloaded", status=503)


def failed(failure: Failure) -> WireFailed:
    return WireFailed(failure, NOTHING)


class Script:
    """Attempts that yield what they are told, one list each."""

    def __init__(self, *attempts: list[WireEvent]) -> None:
        self.attempts = list(attempts)
        self.closed = 0

    async def __call__(self) -> AsyncGenerator[WireEvent]:
        try:
            for event in self.attempts.pop(0):
                yield event
        finally:
            self.closed += 1


def run(script: Script) -> tuple[list[WireEvent], list[float]]:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def collect() -> list[WireEvent]:
        return [event async for event in retrying(lambda: script(), sleep=sleep, chance=lambda: 0.5)]

    return asyncio.run(collect()), waits


def test_a_good_answer_is_asked_for_once() -> None:
    assert run(Script([TextDelta("a"), DONE])) == ([TextDelta("a"), DONE], [])


def test_waits_double_and_are_told() -> None:
    script = Script([failed(BUSY)], [failed(BUSY)], [failed(BUSY)], [TextDelta("a"), DONE])
    events, waits = run(script)
    assert events == [
        RetryScheduled(1, 0.5, BUSY),
        RetryScheduled(2, 1.0, BUSY),
        RetryScheduled(3, 2.0, BUSY),
        TextDelta("a"),
        DONE,
    ]
    assert waits == [0.5, 1.0, 2.0]
    assert script.closed == 4


def test_the_last_failure_is_the_answer() -> None:
    events, waits = run(Script(*[[failed(BUSY)]] * 9))
    assert events[-1] == failed(BUSY)
    assert len(waits) == 3


@pytest.mark.parametrize("shown", [TextDelta("a"), ToolCallDrafted(0, "Read", 3)])
def test_nothing_is_tried_again_once_something_was_shown(shown: WireEvent) -> None:
    assert run(Script([shown, failed(BUSY)], [DONE])) == ([shown, failed(BUSY)], [])


@pytest.mark.parametrize(
    ("failure", "tries"),
    [
        (Failure("rate_limit", status=429), 4),
        (Failure("overloaded", status=529), 4),
        (Failure("network", code="ReadError"), 4),
        (Failure("network", code="ConnectError"), 2),
        (Failure("network", cause="certificate"), 1),
        (Failure("network", code="InvalidURL"), 1),
        (Failure("timeout"), 2),
        (Failure("incomplete"), 2),
        (Failure("rate_limit", status=429, code="insufficient_quota"), 1),
        (Failure("rate_limit", status=402), 1),
        (Failure("auth", status=401), 1),
        (Failure("rejected", status=400), 1),
        (Failure("too_long", status=400), 1),
        (Failure("not_llm", status=404), 1),
        (Failure("other"), 1),
    ],
    ids=lambda value: f"{value.kind}-{value.code or value.status}" if isinstance(value, Failure) else "",
)
def test_only_what_may_pass_is_tried_again(failure: Failure, tries: int) -> None:
    assert tries_for(failure) == tries
    events, _ = run(Script(*[[failed(failure)]] * 9))
    assert len(events) == tries


@pytest.mark.parametrize(
    ("attempt", "failure", "chance", "wait"),
    [
        (1, Failure("rate_limit", retry_after=7.0), 0.0, 7.0),
        (1, Failure("rate_limit", retry_after=3600.0), 0.0, MAX_WAIT),
        (1, Failure("rate_limit", retry_after=0.0), 0.0, 0.0),
        (1, BUSY, 0.0, 0.375),
        (1, BUSY, 1.0, 0.625),
        (3, BUSY, 0.5, 2.0),
        (20, BUSY, 0.5, MAX_WAIT),
    ],
)
def test_the_wait_is_the_servers_own_or_grows_with_chance(
    attempt: int, failure: Failure, chance: float, wait: float
) -> None:
    assert wait_before(attempt, failure, chance) == wait


def test_a_wait_can_be_cancelled() -> None:
    async def test() -> None:
        script = Script([failed(Failure("rate_limit", retry_after=50.0))], [DONE])
        told = asyncio.Event()

        async def read() -> None:
            async for _ in retrying(lambda: script()):
                told.set()

        task = asyncio.create_task(read())
        await asyncio.wait_for(told.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert script.closed == 1

    asyncio.run(test())


def test_closing_closes_the_attempt() -> None:
    async def test() -> None:
        script = Script([TextDelta("a"), DONE])
        events = retrying(lambda: script())
        assert await anext(events) == TextDelta("a")
        await events.aclose()
        assert script.closed == 1

    asyncio.run(test())
