from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.codec import dump_event
from maia.core.costs import Cost, Usage
from maia.core.endings import Failure
from maia.core.errors import RunProblem
from maia.core.events import (
    Answered,
    ApprovalAnswered,
    ApprovalRequested,
    Event,
    ModelChanged,
    StepStarted,
    TextDelta,
    ToolCallStarted,
    TurnEnded,
)
from maia.core.messages import AssistantMessage, TextPart
from maia.core.permission import Answer, Decision, Verdict
from maia.core.reason import Reason
from maia.core.runs import RunInfo, RunWish
from maia.runs import store
from maia.runs.hostplace import HOSTS, open_place
from maia.runs.record import Record, UnreadableRecord, dump_record, load_record
from maia.runs.store import RESERVE_BYTES, RunStore, new_id
from maia.runs.view import RunView, view_of

HOST = "0123456789ab"
ASKED = ApprovalRequested("approval-1", "c1", "Bash", {"command": "ls"}, (), Decision(Verdict.ASK, Reason("x")), None)


def made(kept: RunStore, at: float = 1_764_500_000.0, **info: Any) -> Record:
    run_id = new_id(at)
    record = Record(HOST, RunWish("Do it"), RunInfo(run_id, "Do it", "running", at, **info))
    kept.create(record)
    return record


def note(kept: RunStore, record: Record, *events: Event) -> None:
    with (kept.folder / record.info.run_id / "events.jsonl").open("a", encoding="utf-8") as file:
        for seq, event in enumerate(events, 1):
            file.write(f'{{"seq":{seq},"time":1.0,"event":{dump_event(event)}}}\n')


def always(value: str) -> Callable[[int], str]:
    return lambda _number: value


@pytest.fixture
def kept(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


# The record ----------------------------------------------------------------------------------------------------------

INFOS = st.builds(
    RunInfo,
    run_id=st.text(),
    task=st.text(),
    state=st.sampled_from(["queued", "running", "ended"]),
    started=st.floats(0, 2e9),
    ended=st.none() | st.floats(0, 2e9),
    text=st.text(),
    usage=st.none() | st.builds(Usage, st.integers(0, 9), st.integers(0, 9)),
    cost=st.builds(Cost, st.floats(0, 9), st.just("estimated")),
    failure=st.none() | st.builds(Failure, st.just("timeout"), st.text()),
    problem=st.none() | st.builds(Reason, st.text(), st.dictionaries(st.text(), st.integers())),
    open_asks=st.just(()) | st.just((ASKED,)),
)
WISHES = st.builds(RunWish, st.text(), timeout=st.none() | st.floats(0, 9), max_iterations=st.none() | st.integers())


@given(st.builds(Record, st.text(), WISHES, INFOS))
def test_a_record_comes_back_as_it_was(record: Record) -> None:
    assert load_record(dump_record(record)) == record


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"v": 2, "host": "h", "wish": {}, "info": {}}',
        b'{"v": 1, "host": "h", "wish": {"task": 5}, "info": {}}',
    ],
)
def test_a_broken_or_newer_record_is_told_apart(data: bytes) -> None:
    with pytest.raises(UnreadableRecord):
        load_record(data)


@given(st.binary(max_size=80))
def test_no_bytes_break_the_reader_of_records(data: bytes) -> None:
    with pytest.raises(UnreadableRecord):
        load_record(data)


# The view ------------------------------------------------------------------------------------------------------------


def said(text: str, usage: Usage | None = None, cost: Cost | None = None) -> Answered:
    return Answered(AssistantMessage((TextPart(text),)), "end", "", usage, cost or Cost())


END = TurnEnded("finished", "end", "stop", Usage(5, 5), Cost(0.5, "reported"), "m2", "p", 2, 1, 0)
VIEWS: list[tuple[str, list[Event], dict[str, Any]]] = [
    ("nothing yet", [], {}),
    ("text that grows", [ModelChanged("m", "p", "default"), StepStarted(1), TextDelta("Hel"), TextDelta("lo")],
     {"model": "m", "provider": "p", "steps": 1, "text": "Hello"}),
    ("the last text counts", [StepStarted(1), TextDelta("Look"), said("Look", Usage(1, 1)), StepStarted(2), said("")],
     {"steps": 2, "text": "Look", "usage": Usage(1, 1)}),
    ("usage and cost add up",
     [said("a", Usage(1, 2), Cost(0.25, "reported")), said("b", Usage(1, 2), Cost(0.5, "estimated"))],
     {"text": "b", "usage": Usage(2, 4), "cost": Cost(0.75, "estimated")}),
    ("an open question", [ToolCallStarted("c0", "Read", {}), ASKED], {"tool_calls": 1, "open_asks": (ASKED,)}),
    ("an answered one", [ASKED, ApprovalAnswered("approval-1", Answer("no"))], {}),
    ("the end has the sums", [StepStarted(1), said("Done", Usage(1, 1)), END],
     {"steps": 2, "tool_calls": 1, "text": "Done", "usage": Usage(5, 5), "cost": Cost(0.5, "reported"), "model": "m2",
      "provider": "p", "outcome": "finished"}),
]  # fmt: skip


@pytest.mark.parametrize(("events", "shown"), [row[1:] for row in VIEWS], ids=[row[0] for row in VIEWS])
def test_the_notes_say_how_a_run_stands(kept: RunStore, events: list[Event], shown: dict[str, Any]) -> None:
    record = made(kept)
    note(kept, record, *events)
    live = RunView()
    for event in events:
        live.apply(event)
    expected = RunInfo(record.info.run_id, "Do it", "running", record.info.started, **shown)
    assert live.info(record.info) == expected
    assert view_of(kept.notes(record.info.run_id)).info(record.info) == expected


# Alive, over or lost -------------------------------------------------------------------------------------------------


def test_a_run_whose_host_is_there_runs_or_waits_and_is_lost_when_that_is_gone(kept: RunStore) -> None:
    opened = open_place(kept.folder / HOSTS, {})
    record = made(kept)
    record = Record(opened.name, record.wish, record.info)
    kept.keep(record)
    run_id = record.info.run_id
    assert (kept.info(run_id).state, kept.is_over(run_id)) == ("running", False)
    note(kept, record, ASKED)
    assert (kept.info(run_id).state, kept.info(run_id).open_asks) == ("waiting", (ASKED,))
    opened.let_go()
    lost = kept.info(run_id)
    assert (lost.state, lost.open_asks, lost.problem) == ("lost", (), Reason("runs.lost_early"))
    with_session = Record(opened.name, record.wish, replace(record.info, session="session_x"))
    kept.keep(with_session)
    assert kept.info(run_id).problem == Reason("runs.lost")
    assert kept.is_over(run_id)


def test_a_run_is_not_over_before_its_record_says_so(kept: RunStore) -> None:
    opened = open_place(kept.folder / HOSTS, {})
    record = made(kept)
    kept.keep(Record(opened.name, record.wish, record.info))
    note(kept, record, END)
    info = kept.info(record.info.run_id)
    assert (info.state, info.outcome) == ("running", None)
    opened.let_go()


def test_on_a_disk_without_locks_the_socket_tells_who_lives(kept: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    opened = open_place(kept.folder / HOSTS, {})
    place = kept.host(opened.name)
    assert place.is_alive()
    opened.let_go()
    assert not place.is_alive()


@pytest.mark.parametrize("name", ["", "..", "../x", "0123456789abc", "ABCDEF012345"])
def test_what_is_no_name_of_a_host_is_nowhere(kept: RunStore, name: str) -> None:
    assert not kept.host(name).is_alive()


def test_a_socket_below_a_long_path_is_reached_all_the_same(tmp_path: Path) -> None:
    kept = RunStore(tmp_path / ("very-long-name-" * 9) / "runs")
    opened = open_place(kept.folder / HOSTS, {"launch": "/x"})
    place = kept.host(opened.name)
    with place.connect():
        accepted, _ = opened.listening.accept()
        accepted.close()
    assert (place.card().word, place.card().wishes) == (opened.word, {"launch": "/x"})
    assert not Path(f"{place.folder}/socket").stat().st_mode & 0o077
    opened.let_go()
    place.remove()
    assert not place.folder.exists()


def test_a_stopped_host_whose_queue_is_full_refuses_at_once(kept: RunStore) -> None:
    opened = open_place(kept.folder / HOSTS, {})
    opened.listening.listen(0)
    with kept.host(opened.name).connect(), pytest.raises(BlockingIOError):
        kept.host(opened.name).connect()
    opened.let_go()


# Names, lists, disks -------------------------------------------------------------------------------------------------


def test_names_sort_by_time() -> None:
    moments = [1.0, 1_764_500_000.001, 1_764_500_000.002, 1_764_500_001.0, 4_000_000_000.5]
    names = [new_id(moment) for moment in moments]
    assert names == sorted(names)


def test_a_person_names_a_run_by_its_ending_or_as_the_last_one(kept: RunStore) -> None:
    with pytest.raises(RunProblem, match=r"runs\.unknown"):
        kept.named("last")
    first, last = (made(kept, 1_764_500_000.0 + n).info.run_id for n in range(2))
    assert [kept.named(text) for text in ("last", first[-6:], last[-4:], first)] == [last, first, last, first]
    for text in ("", "a", last[-3:], "nothing"):
        with pytest.raises(RunProblem, match=r"runs\.unknown"):
            kept.named(text)


def test_an_ending_that_several_runs_have_is_told(kept: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store.secrets, "token_hex", always("abcdef"))
    both = [made(kept, 1_764_500_000.0 + n).info.run_id for n in range(2)]
    with pytest.raises(RunProblem) as told:
        kept.named("abcdef")
    assert (told.value.key, told.value.values["known"]) == ("runs.several", ", ".join(reversed(both)))


def test_a_list_is_newest_first_of_one_identity_and_leaves_out_what_it_cannot_read(kept: RunStore) -> None:
    made_ids = [made(kept, 1_764_500_000.0 + n, identity="ab"[n % 2]).info.run_id for n in range(5)]
    (kept.folder / made_ids[3] / "run.json").write_text("{")
    (kept.folder / "something else").mkdir()
    (kept.folder / "run-20990101-000000000-abcdef").mkdir()
    assert [info.run_id for info in kept.listed(None, 10)] == [made_ids[n] for n in (4, 2, 1, 0)]
    assert [info.run_id for info in kept.listed("a", 2)] == [made_ids[n] for n in (4, 2)]
    assert [info.run_id for info in kept.listed("b", 10)] == [made_ids[1]]
    with pytest.raises(RunProblem, match=r"runs\.unreadable"):
        kept.info(made_ids[3])


@pytest.mark.parametrize("name", ["", ".", "..", "run-x", "../runs", "run-20200101-000000000-00000g", "a/b", "\0"])
def test_no_name_leads_out_of_the_folder(kept: RunStore, name: str) -> None:
    with pytest.raises(RunProblem, match=r"runs\.unknown"):
        kept.info(name)


def test_old_runs_are_thrown_away_and_those_that_run_are_not(kept: RunStore) -> None:
    now = time.time()
    opened = open_place(kept.folder / HOSTS, {})
    old = [made(kept, now - 40 * 86_400 + n).info.run_id for n in range(2)]
    alive = made(kept, now - 41 * 86_400)
    kept.keep(Record(opened.name, alive.wish, alive.info))
    new = [made(kept, now - 10 + n).info.run_id for n in range(4)]
    (kept.folder / new_id(now - 42 * 86_400)).mkdir()  # its host was killed before it wrote the record
    dead = open_place(kept.folder / HOSTS, {})
    dead.let_go()
    os.utime(kept.host(dead.name).folder, (now - 90_000, now - 90_000))
    kept.prune(now, keep=3, days=30)
    assert kept.ids() == [*reversed(new[1:]), alive.info.run_id]
    assert old[0] not in kept.ids()
    assert os.listdir(kept.folder / HOSTS) == [opened.name]
    opened.let_go()


def test_the_last_words_of_a_run_have_room_on_a_full_disk(kept: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    record = made(kept)
    folder = kept.folder / record.info.run_id
    assert (folder / "reserve").stat().st_size == RESERVE_BYTES
    write = os.write

    def full(fd: int, data: bytes) -> int:
        if os.fstat(fd).st_size < os.lseek(fd, 0, os.SEEK_CUR) + len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # no file grows any more
        return write(fd, data)

    monkeypatch.setattr(store.os, "write", full)
    with pytest.raises(OSError, match="No space"):
        kept.keep(record)
    assert kept.record(record.info.run_id) == record, "the old one stays whole"
    text = "é\x00\U0001f600" * 200_000
    info = RunInfo(record.info.run_id, "Do it", "ended", 1.0, ended=2.0, text=text, problem=Reason("runs.unwritable"))
    kept.keep(Record(HOST, record.wish, info))
    found = kept.info(record.info.run_id)
    assert replace(found, text=text) == info
    assert (found.text[:3], found.text[-3:]) == (text[:3], text[-3:])
    assert os.listdir(folder) == ["run.json"]


def test_a_disk_that_is_full_at_the_start_is_told_and_leaves_nothing(
    kept: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_fd: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(store.os, "write", full)
    with pytest.raises(RunProblem) as told:
        made(kept)
    assert (told.value.key, told.value.values["problem"]) == ("runs.store", "No space left on device")
    assert kept.ids() == []
