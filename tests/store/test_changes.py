import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maia.core import filewrite
from maia.core.reason import Reason
from maia.store.changes import Changes, RestoredFile, UndoReport
from tests.tools.doubles import ENGLISH, FRENCH


@pytest.fixture
def log(tmp_path: Path) -> Changes:
    return Changes(tmp_path / "changes")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def change(log: Changes, path: Path, after: bytes | None, call_id: str = "a") -> None:
    """What a file tool does."""
    before = path.read_bytes() if path.exists() else None
    if after is None:
        path.unlink()
    else:
        path.write_bytes(after)
    log.record(call_id, path, before, after, 0o644)


def test_undo_and_redo_go_back_and_forth_over_every_change(log: Changes, work: Path) -> None:
    file = work / "f"
    for n, content in enumerate((b"one", b"two", b"three")):
        change(log, file, content, f"call-{n}")
    seen: list[bytes | None] = []
    for step in (log.undo, log.undo, log.undo, log.redo, log.redo, log.redo):
        assert step().outcome == "done"
        seen.append(file.read_bytes() if file.exists() else None)
    assert seen == [b"two", b"one", None, b"one", b"two", b"three"]


def test_a_created_file_is_removed_and_a_deleted_one_comes_back_with_its_mode(log: Changes, work: Path) -> None:
    new, old = work / "new", work / "old"
    old.write_bytes(b"kept")
    change(log, new, b"x", "create")
    old.unlink()
    log.record("delete", old, b"kept", None, 0o750)
    assert log.undo() == UndoReport("done", (RestoredFile(old, "recreated"),), call_ids=("delete",))
    assert (old.read_bytes(), old.stat().st_mode & 0o777) == (b"kept", 0o750)
    assert log.undo() == UndoReport("done", (RestoredFile(new, "removed"),), call_ids=("create",))
    assert not new.exists()


def test_undo_keeps_the_mode_of_a_file_that_is_there(log: Changes, work: Path) -> None:
    file = work / "run.sh"
    file.write_bytes(b"old")
    file.chmod(0o755)
    change(log, file, b"new")
    log.undo()
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"old", 0o755)


@pytest.mark.parametrize(
    "edit", [b"mine", None, "folder", "link"], ids=["edited", "deleted", "a folder now", "a link now"]
)
def test_a_file_that_the_user_touched_since_is_never_restored(
    log: Changes, work: Path, edit: bytes | str | None
) -> None:
    file = work / "f"
    file.write_bytes(b"before")
    change(log, file, b"agent")
    file.unlink()
    if edit == "folder":
        file.mkdir()
    elif edit == "link":
        (work / "target").write_bytes(b"agent")
        file.symlink_to(work / "target")
    elif isinstance(edit, bytes):
        file.write_bytes(edit)
    report = log.undo()
    assert report.outcome == "refused"
    assert report.reason is not None
    assert report.reason.values["path"] == str(file)
    for say in (FRENCH, ENGLISH):
        assert str(file) in say(report.reason.key, **report.reason.values)
    if isinstance(edit, bytes):
        assert file.read_bytes() == edit
    if edit == "link":
        assert (file.is_symlink(), (work / "target").read_bytes()) == (True, b"agent")


def test_redo_refuses_as_well_when_the_user_edited_after_the_undo(log: Changes, work: Path) -> None:
    file = work / "f"
    file.write_bytes(b"before")
    change(log, file, b"agent")
    log.undo()
    file.write_bytes(b"mine")
    assert log.redo() == UndoReport("refused", reason=Reason("change.edited_since", {"path": str(file)}))
    assert file.read_bytes() == b"mine"


def test_an_edit_of_the_user_between_two_calls_survives_the_undo_of_the_second(log: Changes, work: Path) -> None:
    file = work / "f"
    file.write_bytes(b"0")
    change(log, file, b"agent 1", "a")
    file.write_bytes(b"mine")
    change(log, file, b"agent 2", "b")
    assert log.undo().outcome == "done"
    assert file.read_bytes() == b"mine"
    assert log.undo().outcome == "refused"
    assert file.read_bytes() == b"mine"


def test_an_edit_of_the_user_within_a_turn_keeps_the_turn_from_being_undone(log: Changes, work: Path) -> None:
    file = work / "f"
    file.write_bytes(b"0")
    change(log, file, b"agent 1", "a")
    file.write_bytes(b"mine")
    change(log, file, b"agent 2", "b")
    assert log.undo("turn").reason == Reason("change.edited_since", {"path": str(file)})
    assert file.read_bytes() == b"agent 2"


def test_a_call_that_changed_several_files_is_undone_whole_or_not_at_all(log: Changes, work: Path) -> None:
    a, b = work / "a", work / "b"
    a.write_bytes(b"a0")
    b.write_bytes(b"b0")
    change(log, a, b"a1", "both")
    change(log, b, b"b1", "both")
    b.write_bytes(b"mine")
    assert log.undo().outcome == "refused"
    assert (a.read_bytes(), b.read_bytes()) == (b"a1", b"mine")
    b.write_bytes(b"b1")
    assert log.undo().outcome == "done"
    assert (a.read_bytes(), b.read_bytes()) == (b"a0", b"b0")


def test_a_turn_is_undone_and_redone_together(log: Changes, work: Path) -> None:
    a, b = work / "a", work / "b"
    log.begin_turn()
    change(log, a, b"first turn", "1")
    log.begin_turn()
    log.begin_turn()
    change(log, a, b"second turn", "2")
    change(log, b, b"second turn", "3")
    change(log, b, b"again", "4")
    assert log.undo("turn").call_ids == ("4", "3", "2")
    assert (a.read_bytes(), b.exists()) == (b"first turn", False)
    assert log.redo("turn").call_ids == ("2", "3", "4")
    assert (a.read_bytes(), b.read_bytes()) == (b"second turn", b"again")
    log.undo("turn")
    log.undo("turn")
    assert not a.exists()
    assert log.undo("turn") == UndoReport("nothing", reason=Reason("change.nothing_to_undo"))


def test_a_new_change_ends_what_can_be_redone(log: Changes, work: Path) -> None:
    change(log, work / "f", b"1", "a")
    log.undo()
    change(log, work / "f", b"2", "b")
    assert log.redo() == UndoReport("nothing", reason=Reason("change.nothing_to_redo"))


def test_everything_survives_a_restart(tmp_path: Path, work: Path) -> None:
    file = work / "f"
    log = Changes(tmp_path / "changes")
    for n, content in enumerate((b"1", b"2", b"3")):
        change(log, file, content, f"c{n}")
    log.undo()
    again = Changes(tmp_path / "changes")
    assert again.history() == log.history()
    assert [(c.call_id, c.undone) for c in again.history()] == [("c0", False), ("c1", False), ("c2", True)]
    assert again.redo().outcome == "done"
    assert file.read_bytes() == b"3"
    assert Changes(tmp_path / "changes").undo().call_ids == ("c2",)


def test_what_was_recorded_survives_kill_nine(tmp_path: Path, work: Path) -> None:
    script = (
        "import os, sys, pathlib\n"
        "from maia.store.changes import Changes\n"
        "folder, file = map(pathlib.Path, sys.argv[1:])\n"
        "log = Changes(folder)\n"
        "file.write_bytes(b'agent')\n"
        "log.record('c', file, b'before', b'agent', 0o644)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    source = str(Path(__file__).parents[2] / "src")
    environment = {**os.environ, "PYTHONPATH": source}
    ended = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "changes", work / "f"], env=environment, check=False
    )
    assert ended.returncode == -9
    assert Changes(tmp_path / "changes").undo().outcome == "done"
    assert (work / "f").read_bytes() == b"before"


@pytest.mark.parametrize(
    "tail", [b'{"change": "torn', b"\xff\xfe\n", b"[1]\n", b'{"change": 5, "path": 1}\n', b'{"new": 1}\n']
)
def test_a_torn_or_strange_line_is_skipped_and_the_next_one_is_whole(tmp_path: Path, work: Path, tail: bytes) -> None:
    file = work / "f"
    change(Changes(tmp_path / "changes"), file, b"1", "a")
    with open(tmp_path / "changes" / "changes.jsonl", "ab") as journal:
        journal.write(tail)
    change(Changes(tmp_path / "changes"), file, b"2", "b")
    log = Changes(tmp_path / "changes")
    assert [c.call_id for c in log.history()] == ["a", "b"]
    log.undo()
    assert file.read_bytes() == b"1"


def test_the_folder_and_its_files_are_for_their_owner_only(tmp_path: Path, work: Path) -> None:
    folder = tmp_path / "changes"
    change(Changes(folder), work / "f", b"secret")
    modes = {path.name: path.stat().st_mode & 0o777 for path in [folder, *folder.rglob("*")]}
    assert {mode for name, mode in modes.items() if name in ("changes", "contents")} == {0o700}
    assert {mode for name, mode in modes.items() if name not in ("changes", "contents")} == {0o600}


def test_nothing_is_made_before_something_is_recorded(tmp_path: Path) -> None:
    log = Changes(tmp_path / "changes")
    log.begin_turn()
    assert (log.undo().outcome, log.redo().outcome, log.history()) == ("nothing", "nothing", ())
    assert not (tmp_path / "changes").exists()


def test_the_same_content_is_kept_once(tmp_path: Path, work: Path) -> None:
    log = Changes(tmp_path / "changes")
    for name in ("a", "b", "c"):
        change(log, work / name, b"same", name)
    assert len(list((tmp_path / "changes" / "contents").iterdir())) == 1


def test_old_contents_make_room_and_their_undo_says_so(tmp_path: Path, work: Path) -> None:
    log = Changes(tmp_path / "changes", max_kept_bytes=4000)
    file = work / "f"
    for n in range(8):
        change(log, file, bytes([65 + n]) * 1000, f"c{n}")
    assert sum(path.stat().st_size for path in (tmp_path / "changes" / "contents").iterdir()) <= 4000
    reports = [log.undo() for _ in range(8)]
    assert [report.outcome for report in reports[:2]] == ["done", "done"]
    assert reports[-1] == UndoReport("refused", reason=Reason("change.not_kept", {"path": str(file)}))


def test_a_content_that_was_tampered_with_is_not_written_back(tmp_path: Path, work: Path) -> None:
    log = Changes(tmp_path / "changes")
    (work / "f").write_bytes(b"before")
    change(log, work / "f", b"after")
    for blob in (tmp_path / "changes" / "contents").iterdir():
        blob.write_bytes(b"something else")
    assert log.undo().reason == Reason("change.not_kept", {"path": str(work / "f")})
    assert (work / "f").read_bytes() == b"after"


def test_a_full_disk_never_breaks_the_call_that_is_recorded(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Changes(tmp_path / "changes")
    (work / "f").write_bytes(b"before")

    def full(*_args: object, **_options: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", full)
        change(log, work / "f", b"after")
    assert log.undo().reason == Reason("change.not_kept", {"path": str(work / "f")})
    assert (work / "f").read_bytes() == b"after"


def test_a_failure_half_way_puts_back_what_was_restored(
    log: Changes, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = work / "a", work / "b"
    for file in (a, b):
        file.write_bytes(b"0")
        change(log, file, b"1", "both")
    real = filewrite.replace_file

    def failing(path: Path, *args: object) -> os.stat_result:
        if path == a and args[0] == b"0":
            raise OSError(28, "No space left on device")
        return real(path, *args)  # pyright: ignore[reportArgumentType] - passed on as they came

    monkeypatch.setattr("maia.store.changes.replace_file", failing)
    assert log.undo().reason == Reason("change.failed", {"path": str(a), "reason": "No space left on device"})
    assert (a.read_bytes(), b.read_bytes()) == (b"1", b"1")
    monkeypatch.undo()
    assert log.undo().outcome == "done"


def test_calls_that_run_side_by_side_are_all_recorded(log: Changes, work: Path) -> None:
    def many(n: int) -> None:
        for k in range(20):
            change(log, work / f"f{n}", f"{n} {k}".encode(), f"{n}-{k}")

    threads = [threading.Thread(target=many, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(log.history()) == 80


def test_names_that_are_no_unicode_are_restored(log: Changes, work: Path, tmp_path: Path) -> None:
    file = work / os.fsdecode(b"caf\xe9\nx")
    change(log, file, b"1")
    assert Changes(tmp_path / "changes").undo().files == (RestoredFile(file, "removed"),)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from("ab"), st.binary(max_size=3)),
        st.tuples(st.just("user"), st.sampled_from("ab"), st.binary(max_size=3)),
        st.tuples(st.sampled_from(["undo", "redo", "turn", "reopen"]), st.just(""), st.just(b"")),
    ),
    max_size=14,
)


@given(steps=STEPS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_sequence_of_undo_and_redo_loses_what_the_user_wrote(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, bytes]]
) -> None:
    base = tmp_path_factory.mktemp("c")
    log = Changes(base / "changes")
    mine: dict[str, bytes] = {}
    for n, (what, name, content) in enumerate(steps):
        file = base / name
        if what == "write":
            change(log, file, content, str(n))
            mine.pop(name, None)
        elif what == "user":
            unique = content + b" mine %d" % n
            file.write_bytes(unique)
            mine[name] = unique
        elif what == "turn":
            log.undo("turn")
        elif what == "reopen":
            log = Changes(base / "changes")
        else:
            getattr(log, what)()
        assert {name: (base / name).read_bytes() for name in mine} == mine
