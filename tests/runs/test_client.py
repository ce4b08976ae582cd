from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from maia.core.codec import dump_event
from maia.core.errors import RunProblem
from maia.core.events import StepStarted
from maia.core.runs import RunInfo, RunWish
from maia.runs import client
from maia.runs.client import LONGEST_WAIT, HostedRuns
from maia.runs.control import Line
from maia.runs.record import Record
from maia.runs.store import RunStore, new_id


async def no_host() -> tuple[str, Line]:
    raise RunProblem("runs.no_host", problem="a test")


class GrowingStore(RunStore):
    """Notes what stands next in its script just before each look whether the run is over; the last look is the end."""

    def __init__(self, folder: Path, script: list[int]) -> None:
        super().__init__(folder)
        self.script = script
        self.seq = 0
        self.run_id = new_id(1_764_500_000.0)
        self.create(Record("0123456789ab", RunWish("x"), RunInfo(self.run_id, "x", "running", 1.0)))

    def is_over(self, run_id: str) -> bool:
        with self.notes(run_id).open("a", encoding="utf-8") as file:
            for _ in range(self.script.pop(0)):
                self.seq += 1
                file.write(f'{{"seq":{self.seq},"time":1.0,"event":{dump_event(StepStarted(self.seq))}}}\n')
        return not self.script


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited, without waiting."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(round(seconds, 4))

    monkeypatch.setattr(client.asyncio, "sleep", sleep)
    return waited


def followed(store: GrowingStore, after: int = 0) -> list[int]:
    async def work() -> list[int]:
        runs = HostedRuns(store, no_host)
        return [note.seq async for note in runs.follow(store.run_id, after)]

    return asyncio.run(work())


def test_what_is_noted_before_the_end_is_seen_is_never_lost(tmp_path: Path, waits: list[float]) -> None:
    assert followed(GrowingStore(tmp_path / "runs", [1, 0, 3])) == [1, 2, 3, 4]
    assert followed(GrowingStore(tmp_path / "more", [1, 0, 3]), after=2) == [3, 4]
    assert len(waits) == 4


def test_a_silent_run_is_looked_at_less_and_less_often_and_a_lively_one_often_again(
    tmp_path: Path, waits: list[float]
) -> None:
    followed(GrowingStore(tmp_path / "runs", [0] * 12 + [1, 0]))
    assert waits[:3] == [0.03, 0.045, 0.0675]
    assert set(waits[6:12]) == {LONGEST_WAIT}
    assert waits[12:] == [0.02]


def test_a_long_past_leaves_others_their_turn(tmp_path: Path, waits: list[float]) -> None:
    assert len(followed(GrowingStore(tmp_path / "runs", [950]))) == 950
    assert waits.count(0) == 9


def test_where_no_host_starts_the_reason_is_told(tmp_path: Path) -> None:
    async def work() -> None:
        runs = HostedRuns(RunStore(tmp_path / "runs"), no_host)
        with pytest.raises(RunProblem, match=r"runs\.no_host"):
            await runs.start(RunWish("x"))
        with pytest.raises(RunProblem, match=r"runs\.no_host"):
            await runs.warm()
        await runs.aclose()

    asyncio.run(work())
