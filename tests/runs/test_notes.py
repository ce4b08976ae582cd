from __future__ import annotations

import asyncio
import errno
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.codec import dump_event
from maia.core.events import (
    Event,
    Notice,
    ReasoningDelta,
    StepStarted,
    TextDelta,
    ToolCallDrafted,
    ToolOutput,
    UserSaid,
)
from maia.core.runs import RunNote
from maia.runs import notes
from maia.runs.notes import GATHER_SECONDS, MAX_OUTPUT_CHARS, NoteReader, NoteWriter, read_note

EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(UserSaid, st.text()),
    st.builds(TextDelta, st.text(min_size=1)),
    st.builds(ReasoningDelta, st.text(min_size=1)),
    st.builds(ToolOutput, st.sampled_from(["a", "b"]), st.text(min_size=1)),
    st.builds(StepStarted, st.integers(1, 9)),
    st.builds(Notice, st.just("info"), st.text(), st.dictionaries(st.text(), st.integers())),
)


def written(path: Path, work: Callable[[NoteWriter], Any]) -> list[str]:
    """The problems that the writer told."""
    told: list[str] = []

    async def run() -> None:
        writer = NoteWriter(path, told.append)
        try:
            step = work(writer)
            if step is not None:
                await step
        finally:
            writer.close()

    asyncio.run(run())
    return told


def add_all(events: Sequence[Event]) -> Callable[[NoteWriter], None]:
    def work(writer: NoteWriter) -> None:
        for event in events:
            writer.add(event)

    return work


def line(seq: int, event: Event, moment: float = 1.5) -> bytes:
    return f'{{"seq":{seq},"time":{moment},"event":{dump_event(event)}}}\n'.encode()


@pytest.mark.parametrize(
    ("events", "kept"),
    [
        ([TextDelta("a"), TextDelta("b"), TextDelta("c")], [TextDelta("abc")]),
        (
            [TextDelta("a"), ReasoningDelta("b"), TextDelta("c")],
            [TextDelta("a"), ReasoningDelta("b"), TextDelta("c")],
        ),
        ([TextDelta("a"), StepStarted(2), TextDelta("b")], [TextDelta("a"), StepStarted(2), TextDelta("b")]),
        (
            [ToolOutput("x", "1"), ToolOutput("y", "2"), ToolOutput("x", "3")],
            [ToolOutput("x", "13"), ToolOutput("y", "2")],
        ),
        (
            [ToolCallDrafted(0, "Write", 10), ToolCallDrafted(0, "Write", 90), ToolCallDrafted(1, "Read", 5)],
            [ToolCallDrafted(0, "Write", 90), ToolCallDrafted(1, "Read", 5)],
        ),
    ],
    ids=["text joins", "kinds do not mix", "others keep the order", "output joins its call", "the last draft counts"],
)
def test_pieces_are_gathered_and_numbered_without_gaps(tmp_path: Path, events: list[Event], kept: list[Event]) -> None:
    assert written(tmp_path / "notes", add_all(events)) == []
    found = list(NoteReader(tmp_path / "notes").read())
    assert [note.event for note in found] == kept
    assert [note.seq for note in found] == list(range(1, len(kept) + 1))


def test_what_is_gathered_is_there_for_others_within_a_moment_and_any_other_event_at_once(tmp_path: Path) -> None:
    path = tmp_path / "notes"

    async def work(writer: NoteWriter) -> None:
        writer.add(TextDelta("a"))
        assert path.read_bytes() == b""
        await asyncio.sleep(GATHER_SECONDS * 3)
        assert [note.event for note in NoteReader(path).read()] == [TextDelta("a")]
        writer.add(StepStarted(1))
        assert [note.event for note in NoteReader(path, after=1).read()] == [StepStarted(1)]

    written(path, work)


def test_a_call_that_prints_for_ever_is_noted_up_to_a_limit_and_says_so(tmp_path: Path) -> None:
    piece = "x" * 300_000
    written(tmp_path / "notes", add_all([*[ToolOutput("a", piece)] * 9, ToolOutput("b", "short")]))
    found = [note.event for note in NoteReader(tmp_path / "notes").read()]
    assert found == [
        ToolOutput("a", piece * 3),
        Notice("info", "runs.output_cut", {"chars": MAX_OUTPUT_CHARS}),
        ToolOutput("b", "short"),
    ] or found == [
        ToolOutput("a", piece * 3),
        ToolOutput("b", "short"),
        Notice("info", "runs.output_cut", {"chars": MAX_OUTPUT_CHARS}),
    ]


def test_a_full_disk_is_told_once_and_what_waits_is_written_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, full, write = tmp_path / "notes", [True], os.write

    def limited(fd: int, data: bytes) -> int:
        if full[0]:
            write(fd, data[:7])  # a torn line is what a full disk leaves
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(fd, data)

    def work(writer: NoteWriter) -> None:
        writer.add(StepStarted(1))
        writer.add(StepStarted(2))
        assert (writer.problem, path.read_bytes()) == ("No space left on device", b"")
        full[0] = False
        writer.add(StepStarted(3))
        assert writer.problem == ""

    monkeypatch.setattr(notes.os, "write", limited)
    assert written(path, work) == ["No space left on device"]
    assert [note.event for note in NoteReader(path).read()] == [StepStarted(1), StepStarted(2), StepStarted(3)]


@given(st.lists(EVENTS, max_size=8), st.data())
def test_a_file_that_grows_at_any_byte_gives_the_same_notes_once(
    tmp_path_factory: pytest.TempPathFactory, events: list[Event], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("notes") / "notes"
    whole = b"".join(line(number, event) for number, event in enumerate(events, 1))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    after = data.draw(st.integers(0, len(events)))
    reader, found = NoteReader(path, after), list[RunNote]()
    assert list(reader.read()) == [], "there is no file yet"
    for begin, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        with path.open("ab") as file:
            file.write(whole[begin:end])
        found += reader.read()
    expected = [read_note(line(number, event)) for number, event in enumerate(events, 1)]
    assert found == expected[after:]
    assert None not in expected


@given(st.lists(EVENTS, max_size=4), st.binary(max_size=60), st.integers(0, 400))
def test_no_damage_takes_the_notes_around_it_along(
    tmp_path_factory: pytest.TempPathFactory, events: list[Event], junk: bytes, torn: int
) -> None:
    path = tmp_path_factory.mktemp("notes") / "notes"
    lines = [line(number, event) for number, event in enumerate(events, 1)]
    cut = line(99, UserSaid("never whole"))[:-1][:torn]
    path.write_bytes(b"".join(lines) + junk.replace(b"\n", b" ") + b"\n" + b"".join(lines) + cut)
    good = [read_note(each) for each in lines]
    found = [note for note in NoteReader(path).read() if note.seq <= len(events)]
    assert found == good + good


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b"null",
        b'{"seq":1,"time":1,"event":{"type":"Later","x":1}}',
        b'{"seq":"1","time":1,"event":{"type":"StepStarted","step":1}}',
        b'{"seq":1,"time":"now","event":{"type":"StepStarted","step":1}}',
        b'{"seq":1,"event":{"type":"StepStarted","step":1}}',
        b'{"seq":1,"time":1,"event":{"type":"StepStarted"}}',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
    ids=range(11),
)
def test_what_is_no_note_is_left_out(data: bytes) -> None:
    assert read_note(data) is None


def test_a_note_is_one_line_whatever_its_text_holds(tmp_path: Path) -> None:
    event = UserSaid("a\nb\u2028c\ud800d\x00")
    written(tmp_path / "notes", add_all([event]))
    assert (tmp_path / "notes").read_bytes().count(b"\n") == 1
    assert json.loads((tmp_path / "notes").read_text("utf-8"))["event"]["text"] == "a\nb\u2028c?d\x00"
