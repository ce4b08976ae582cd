"""Session files: nothing written is lost, nothing torn is fatal, no two writers."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.errors import SessionProblem
from maia.core.events import ContextMeasured, Event, Notice, TextDelta, ToolCallDrafted, ToolOutput, UserSaid
from maia.store.journal import JsonlJournal, Loaded, SessionBusy, SessionExists, is_being_written, read_records
from maia.store.sessions import Sessions, checked_name, new_name

WHEN = datetime(2026, 11, 30, 10, 2, 11)


def events_of(path: Path) -> list[Event]:
    return [record.event for record in read_records(path).records]


def test_events_come_back_in_order_with_numbers_and_times(tmp_path: Path) -> None:
    journal = JsonlJournal(tmp_path / "s.jsonl")
    journal.append(UserSaid("hi"))
    journal.append(Notice("info", "k"))
    journal.close()
    records = read_records(tmp_path / "s.jsonl").records
    assert [record.n for record in records] == [1, 2]
    assert [record.event for record in records] == [UserSaid("hi"), Notice("info", "k")]
    assert datetime.fromisoformat(records[0].at.replace("Z", "+00:00")).year >= 2026


def test_an_event_is_in_the_file_when_append_returns(tmp_path: Path) -> None:
    journal = JsonlJournal(tmp_path / "s.jsonl")
    journal.append(UserSaid("hi"))
    assert events_of(tmp_path / "s.jsonl") == [UserSaid("hi")]
    journal.close()


def test_pieces_of_text_are_gathered_and_written_within_two_tenths_of_a_second(tmp_path: Path) -> None:
    async def run() -> list[Event]:
        journal = JsonlJournal(tmp_path / "s.jsonl")
        for word in ("one ", "two ", "three"):
            journal.append(TextDelta(word))
        await asyncio.sleep(0.2)
        found = events_of(tmp_path / "s.jsonl")
        journal.close()
        return found

    assert asyncio.run(run()) == [TextDelta("one two three")]


def test_progress_is_not_kept(tmp_path: Path) -> None:
    journal = JsonlJournal(tmp_path / "s.jsonl")
    journal.append(ToolCallDrafted(0, "Write", 10))
    journal.append(ToolOutput("c", "text"))
    journal.close()
    assert events_of(tmp_path / "s.jsonl") == []


@given(st.integers(0, 400), st.binary(max_size=12))
def test_a_torn_or_dirty_tail_loses_only_itself(cut: int, dirt: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        journal = JsonlJournal(path)
        for number in range(4):
            journal.append(UserSaid(f"line {number}"))
        journal.close()
        whole = path.read_bytes()
        kept = whole[: max(0, len(whole) - cut)]
        path.write_bytes(kept + dirt.replace(b"\n", b""))
        complete = kept.count(b"\n")
        assert events_of(path)[:complete] == [UserSaid(f"line {number}") for number in range(complete)]
        again = JsonlJournal(path)
        again.append(UserSaid("after"))
        again.close()
        assert events_of(path)[-1] == UserSaid("after")


def test_two_writers_never_share_a_file(tmp_path: Path) -> None:
    journal = JsonlJournal(tmp_path / "s.jsonl")
    with pytest.raises(SessionBusy):
        JsonlJournal(tmp_path / "s.jsonl")
    journal.close()
    JsonlJournal(tmp_path / "s.jsonl").close()


@pytest.mark.parametrize("what", ["the file", "the folder"])
def test_a_file_that_is_deleted_while_it_is_open_comes_back_whole(tmp_path: Path, what: str) -> None:
    folder = tmp_path / ".maia" / ".sessions"
    journal = Sessions(folder).create(WHEN)
    journal.append(UserSaid("before"))
    if what == "the file":
        journal.path.unlink()
    else:
        shutil.rmtree(folder.parent)
    journal.append(UserSaid("after"))
    assert events_of(journal.path) == [UserSaid("before"), UserSaid("after")]
    assert journal.path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(SessionBusy):
        JsonlJournal(journal.path)
    journal.close()


def test_a_deleted_file_whose_name_was_taken_is_told_and_touches_nobody(tmp_path: Path) -> None:
    journal = JsonlJournal(tmp_path / "s.jsonl")
    journal.append(UserSaid("mine"))
    journal.path.unlink()
    other = JsonlJournal(journal.path)
    other.append(UserSaid("theirs"))
    journal.append(UserSaid("lost for the moment"))
    assert journal.problem
    assert events_of(other.path) == [UserSaid("theirs")]
    other.close()
    other.path.unlink()
    journal.close()
    assert events_of(journal.path) == [UserSaid("mine"), UserSaid("lost for the moment")]


def test_a_session_open_elsewhere_goes_on_in_a_copy(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    first = sessions.create(WHEN)
    first.append(UserSaid("hi"))
    copy, copied = sessions.open(first.name, WHEN)
    assert copied
    copy.append(UserSaid("there"))
    first.append(UserSaid("here"))
    assert events_of(first.path) == [UserSaid("hi"), UserSaid("here")]
    assert events_of(copy.path) == [UserSaid("hi"), UserSaid("there")]
    first.close()
    copy.close()


_WRITER = """
import asyncio, sys
from pathlib import Path
from maia.core.events import TextDelta, UserSaid
from maia.store.journal import JsonlJournal

async def main():
    journal = JsonlJournal(Path(sys.argv[1]))
    for number in range(100000):
        journal.append(UserSaid(f"said {number}"))
        print(number, flush=True)
        await asyncio.sleep(0)
asyncio.run(main())
"""


def test_a_kill_at_any_moment_keeps_every_event_that_was_acknowledged(tmp_path: Path) -> None:
    for wait in (0.0, 0.02, 0.05):
        path = tmp_path / f"killed-{wait}.jsonl"
        child = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        first = child.stdout.readline()
        time.sleep(wait)
        child.send_signal(signal.SIGKILL)
        acknowledged = [first, *child.stdout.read().split("\n")]
        child.wait()
        child.stdout.close()
        last = max(int(line) for line in acknowledged if line.strip())
        assert events_of(path)[: last + 1] == [UserSaid(f"said {number}") for number in range(last + 1)]


def test_a_full_disk_keeps_the_lines_and_writes_them_later(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    journal = JsonlJournal(path)
    journal.append(UserSaid("before"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 20, hard))
        journal.append(UserSaid("during"))
        assert journal.problem
        assert events_of(path) == [UserSaid("before")]
        assert path.read_bytes().endswith(b"\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    journal.append(UserSaid("after"))
    assert journal.problem == ""
    journal.close()
    assert events_of(path) == [UserSaid("before"), UserSaid("during"), UserSaid("after")]


def test_a_file_of_a_newer_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"v":2,"n":1,"at":"x","event":{"type":"UserSaid","text":"hi"}}\n')
    before = path.read_bytes()
    with pytest.raises(SessionProblem) as problem:
        read_records(path)
    assert problem.value.key == "session.newer"
    assert path.read_bytes() == before


def test_lines_that_are_no_records_are_counted_and_skipped(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    good = '{"v":1,"n":1,"at":"x","event":{"type":"UserSaid","text":"hi"}}'
    bad = ["", "{", "null", "[]", '{"v":1}', '{"v":1,"n":1,"at":"x","event":{}}', "[" * 100_000, "\x00\xff"]
    bad += [good.replace('"n":1', f'"n":{number}') for number in ("1e400", "NaN", "Infinity", "9" * 5_000, "null")]
    path.write_text("\n".join([*bad, good, *bad]) + "\n", encoding="latin-1")
    loaded = read_records(path)
    assert [record.event for record in loaded.records] == [UserSaid("hi")]
    assert loaded.skipped == 2 * (len(bad) - 1)


def test_session_files_are_private(tmp_path: Path) -> None:
    journal = Sessions(tmp_path).create(WHEN)
    assert os.stat(journal.path).st_mode & 0o777 == 0o600
    journal.close()


def test_sessions_are_named_by_the_moment_and_never_collide(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    assert new_name(WHEN) == "session_2026-11-30_10_02_11"
    journals = [sessions.create(WHEN) for _ in range(3)]
    assert [journal.name for journal in journals] == [
        "session_2026-11-30_10_02_11",
        "session_2026-11-30_10_02_11_2",
        "session_2026-11-30_10_02_11_3",
    ]
    for journal in journals:
        journal.close()


def test_the_list_is_read_from_the_files_newest_first(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    for number, text in enumerate(["first\nrequest", "second"]):
        journal = sessions.create(WHEN)
        journal.append(UserSaid(text))
        journal.append(ContextMeasured(1000 * (number + 1), 200_000))
        journal.append(UserSaid("another"))
        journal.close()
        os.utime(journal.path, (number, number))
    (tmp_path / "notes.txt").write_text("no session")
    deep = b'{"event":{"type":"UserSaid","text":' + b"[" * 5_000
    (tmp_path / "broken.jsonl").write_bytes(b"\xff{{{\n" + deep + b"\n")
    os.utime(tmp_path / "broken.jsonl", (0, 0))
    infos = sessions.list()
    assert [(info.title, info.tokens) for info in infos][:2] == [("second", 2000), ("first request", 1000)]
    assert "broken" in [info.name for info in infos]
    assert sessions.latest() == infos[0].name


def test_the_list_of_a_long_session_reads_only_its_ends(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    journal = sessions.create(WHEN)
    journal.append(UserSaid("the title"))
    for _ in range(300):
        journal.append(UserSaid("x" * 1000))
    journal.append(ContextMeasured(77, None))
    journal.close()
    info = sessions.list()[0]
    assert (info.title, info.tokens) == ("the title", 77)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("", "session.name_empty"),
        ("   ", "session.name_empty"),
        ("../x", "session.name_unsafe"),
        ("a/b", "session.name_unsafe"),
        ("a\\b", "session.name_unsafe"),
        (".hidden", "session.name_unsafe"),
        ("-rf", "session.name_unsafe"),
        ("a\nb", "session.name_unsafe"),
        ("a\x00b", "session.name_unsafe"),
        ("a\u202eb", "session.name_unsafe"),
        ("x" * 101, "session.name_long"),
    ],
    ids=repr,
)
def test_unsafe_names_are_refused_with_the_reason(text: str, key: str) -> None:
    with pytest.raises(SessionProblem) as problem:
        checked_name(text)
    assert problem.value.key == key


def test_a_rename_keeps_the_content_and_never_overwrites(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    journal = sessions.create(WHEN)
    journal.append(UserSaid("hi"))
    other = sessions.create(WHEN)
    with pytest.raises(SessionProblem) as problem:
        journal.rename(other.path)
    assert problem.value.key == "session.exists"
    journal.rename(sessions.path("été à Rome"))
    journal.append(UserSaid("after"))
    journal.close()
    other.close()
    assert events_of(sessions.path("été à Rome")) == [UserSaid("hi"), UserSaid("after")]


def test_a_rename_works_where_there_are_no_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    sessions = Sessions(tmp_path)
    journal = sessions.create(WHEN)
    journal.append(UserSaid("hi"))
    journal.rename(sessions.path("named"))
    journal.close()
    assert [info.name for info in sessions.list()] == ["named"]
    assert events_of(sessions.path("named")) == [UserSaid("hi")]


def test_a_rename_that_fails_leaves_no_second_session(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    journal = sessions.create(WHEN)
    journal.path.unlink()
    with pytest.raises(SessionProblem, match="unwritable"):
        journal.rename(sessions.path("named"))
    journal.close()
    assert sessions.list() == []


def test_a_name_is_given_once(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    sessions.check_free("mine")
    sessions.create_named("mine").close()
    with pytest.raises(SessionExists):
        sessions.check_free("mine")
    with pytest.raises(SessionExists):
        sessions.create_named("mine")


def _create(sessions: Sessions) -> None:
    sessions.create(WHEN)


def _create_named(sessions: Sessions) -> None:
    sessions.create_named("mine")


@pytest.mark.parametrize("make", [_create, _create_named])
def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path, make: Callable[[Sessions], None]) -> None:
    (tmp_path / "taken").write_text("a file stands where the folder was")
    with pytest.raises(SessionProblem) as problem:
        make(Sessions(tmp_path / "taken"))
    assert problem.value.key == "session.unwritable"


def test_a_copy_that_does_not_fit_on_the_disk_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Sessions(tmp_path)
    writer = sessions.create(WHEN)

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", refuse)
    with pytest.raises(SessionProblem, match="No space left"):
        sessions.open(writer.name, WHEN)
    writer.close()
    assert [path.name for path in tmp_path.iterdir()] == [writer.path.name]


def test_a_session_is_read_only_once_nobody_else_can_write_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = Sessions(tmp_path)
    writer = sessions.create(WHEN)
    writer.append(UserSaid("hi"))
    writer.close()

    def guarded(path: Path) -> Loaded:
        with pytest.raises(SessionBusy):
            JsonlJournal(path)
        return read_records(path)

    monkeypatch.setattr("maia.store.sessions.read_records", guarded)
    resumed = sessions.resume(writer.name, WHEN)
    assert ([record.event for record in resumed.loaded.records], resumed.is_copy) == ([UserSaid("hi")], False)
    copied = sessions.resume(writer.name, WHEN)
    assert ([record.event for record in copied.loaded.records], copied.is_copy) == ([UserSaid("hi")], True)
    resumed.journal.close()
    copied.journal.close()


@pytest.mark.parametrize("is_open_elsewhere", [False, True])
def test_a_session_that_cannot_be_read_leaves_nothing_open_and_no_copy(tmp_path: Path, is_open_elsewhere: bool) -> None:
    sessions = Sessions(tmp_path)
    path = sessions.path("newer")
    path.write_text('{"v":99,"n":1,"at":"x","event":{"type":"UserSaid","text":"hi"}}\n')
    other = JsonlJournal(path) if is_open_elsewhere else None
    with pytest.raises(SessionProblem):
        sessions.resume("newer", WHEN)
    if other is not None:
        other.close()
    JsonlJournal(path).close()
    assert [found.name for found in tmp_path.iterdir()] == ["newer.jsonl"]


def test_an_unknown_session_names_the_nearest(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    sessions.create_named("migration-keys").close()
    with pytest.raises(SessionProblem) as problem:
        sessions.load("migration-key")
    assert problem.value.values["known"] == "migration-keys"


def test_records_are_json_lines(tmp_path: Path) -> None:
    journal = JsonlJournal(tmp_path / "s.jsonl")
    journal.append(UserSaid("line one\nline two \u2028 three"))
    journal.close()
    lines = (tmp_path / "s.jsonl").read_text("utf-8").split("\n")
    assert len(lines) == 2
    assert set(json.loads(lines[0])) == {"v", "n", "at", "event"}


def test_who_writes_a_session_is_seen_without_touching_it(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    assert not is_being_written(path)
    journal = JsonlJournal(path)
    assert is_being_written(path)
    journal.close()
    assert not is_being_written(path)


def test_an_event_of_another_time_keeps_it(tmp_path: Path) -> None:
    journal = JsonlJournal(tmp_path / "s.jsonl")
    journal.append(UserSaid("hi"), 1_796_032_800.25)
    journal.close()
    assert [each.at for each in read_records(tmp_path / "s.jsonl").records] == ["2026-11-30T10:00:00.250Z"]


def test_a_name_that_no_file_has_may_be_found_elsewhere(tmp_path: Path) -> None:
    JsonlJournal(tmp_path / "made.jsonl").close()
    sessions = Sessions(tmp_path, {"01abc": "made"}.get)
    resumed = sessions.resume("01abc", WHEN)
    assert resumed.journal.name == "made"
    resumed.journal.close()
    with pytest.raises(SessionProblem):
        sessions.resume("02abc", WHEN)
