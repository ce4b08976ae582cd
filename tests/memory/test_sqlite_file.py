import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from maia.core.memories import MemoryEntry
from maia.memory import sqlite, sqlite_file
from maia.memory.problems import MemoryProblem
from maia.memory.query import terms
from maia.memory.sqlite import SqliteStore

ROOT = Path(__file__).resolve().parents[2]


def entry(entry_id: str, text: str) -> MemoryEntry:
    return MemoryEntry(entry_id, text, 1.0)


def texts(store: SqliteStore) -> list[str]:
    return [each.text for each in store.recent(None, ())]


def filled(folder: Path, *more: str) -> SqliteStore:
    """A store that was used and closed."""
    store = SqliteStore(folder, "me")
    store.put([entry("a", "an owl"), *(entry(text[:9], text) for text in more)])
    store.close()
    return store


def problem(store: SqliteStore) -> MemoryProblem:
    with pytest.raises(MemoryProblem) as caught:
        store.recent(None, ())
    return caught.value


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "memory" / "me"
    store = SqliteStore(folder, "me")
    store.put([entry("a", "an owl")])
    assert (mode(folder.parent), mode(folder)) == (0o700, 0o700)
    assert {path.name: mode(path) for path in folder.iterdir()} == dict.fromkeys(
        ["memory.db", "memory.db-shm", "memory.db-wal", "memory.lock"], 0o600
    )
    store.close()


def test_files_that_others_could_read_are_closed_to_them(tmp_path: Path) -> None:
    filled(tmp_path / "memory" / "me").close()
    (tmp_path / "memory" / "me").chmod(0o755)
    (tmp_path / "memory" / "me" / "memory.db").chmod(0o644)
    store = SqliteStore(tmp_path / "memory" / "me", "me")
    assert texts(store) == ["an owl"]
    store.close()
    assert mode(tmp_path / "memory" / "me" / "memory.db") == 0o600
    assert mode(tmp_path / "memory" / "me") == 0o700


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4000, b"x"])
def test_what_is_no_database_is_kept_aside_and_said_once(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "memory.db").write_bytes(content)
    store = SqliteStore(tmp_path, "me")
    found = problem(store)
    assert found.key == "memory.broken"
    assert Path(found.values["kept"]).read_bytes() == content
    assert texts(store) == []
    store.put([entry("a", "an owl")])
    assert texts(store) == ["an owl"]
    store.close()


def test_a_database_of_another_program_is_kept_aside_unchanged(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "memory.db")
    other.executescript("CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('soup');")
    other.close()
    before = (tmp_path / "memory.db").read_bytes()
    found = problem(SqliteStore(tmp_path, "me"))
    assert found.key == "memory.broken"
    assert Path(found.values["kept"]).read_bytes() == before


def test_a_torn_file_is_kept_aside(tmp_path: Path) -> None:
    store = filled(tmp_path, *(f"{number:09} {'word ' * 200}" for number in range(300)))
    size = (tmp_path / "memory.db").stat().st_size
    os.truncate(tmp_path / "memory.db", size // 2)
    found = problem(store)
    assert found.key == "memory.broken"
    assert Path(found.values["kept"]).stat().st_size == size // 2
    assert texts(store) == []
    store.close()


def test_a_broken_index_of_words_is_made_again_from_the_entries(tmp_path: Path) -> None:
    store = filled(tmp_path, "a second owl")
    raw = sqlite3.connect(tmp_path / "memory.db")
    raw.execute("DELETE FROM words_data WHERE id > 10")
    raw.commit()
    raw.close()
    assert len(store.by_words(terms("owl"), (), 5)) == 2
    assert [path.name for path in tmp_path.iterdir() if "broken" in path.name] == []
    store.close()


def test_a_memory_of_a_newer_maia_is_left_as_it_is(tmp_path: Path) -> None:
    store = filled(tmp_path)
    raw = sqlite3.connect(tmp_path / "memory.db")
    raw.execute("PRAGMA user_version = 99")
    raw.close()
    assert problem(store).key == "memory.newer"
    assert [path.name for path in tmp_path.iterdir() if "broken" in path.name] == []


def test_the_memory_of_another_identity_is_not_opened(tmp_path: Path) -> None:
    filled(tmp_path)
    assert problem(SqliteStore(tmp_path, "Me")).key == "memory.other_owner"


def test_a_memory_of_the_first_version_gets_what_is_new_and_keeps_what_it_has(tmp_path: Path) -> None:
    raw = sqlite3.connect(tmp_path / "memory.db")
    raw.executescript(sqlite_file.STEPS[0])
    raw.execute(f"PRAGMA application_id = {0x6D616961}")
    raw.execute("PRAGMA user_version = 1")
    raw.execute("INSERT INTO meta VALUES ('identity', 'me')")
    raw.execute("INSERT INTO entries VALUES (1, 'a', 5000000, '', '', 'an owl')")
    raw.commit()
    raw.close()
    store = SqliteStore(tmp_path, "me")
    assert store.recent(None, ()) == [MemoryEntry("a", "an owl", 5.0)]
    assert len(store.by_words(terms("owl"), (), 5)) == 1
    assert len(store.without_vectors("m#2", 5)) == 1
    store.close()


def test_a_link_in_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_bytes(b"precious")
    folder = tmp_path / "me"
    folder.mkdir()
    (folder / "memory.db").symlink_to(target)
    assert problem(SqliteStore(folder, "me")).key == "memory.failed"
    assert target.read_bytes() == b"precious"


def test_where_no_file_can_be_made_the_problem_names_it(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("a file")
    found = problem(SqliteStore(tmp_path / "memory" / "me", "me"))
    assert found.key == "memory.failed"
    assert found.values["path"] == str(tmp_path / "memory" / "me" / "memory.db")


def test_a_writer_that_never_ends_is_waited_for_in_vain_and_then_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.05)
    store = filled(tmp_path)
    other = sqlite3.connect(tmp_path / "memory.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(MemoryProblem) as caught:
        store.put([entry("b", "a fox")])
    assert caught.value.key == "memory.busy"
    other.execute("ROLLBACK")
    other.close()
    store.put([entry("b", "a fox")])
    assert texts(store) == ["a fox", "an owl"]
    store.close()


def test_who_will_write_is_alone_from_the_beginning(tmp_path: Path) -> None:
    filled(tmp_path)
    one, other = (sqlite3.connect(tmp_path / "memory.db", timeout=0, isolation_level=None) for _ in range(2))
    with sqlite_file.transaction(one), pytest.raises(sqlite3.OperationalError, match="locked"):
        other.execute("BEGIN IMMEDIATE")
    one.close()
    other.close()


def test_a_full_disk_loses_nothing_of_what_was_there(tmp_path: Path) -> None:
    store = filled(tmp_path)
    assert texts(store) == ["an owl"]
    store._db.execute("PRAGMA max_page_count = 1")  # pyright: ignore[reportPrivateUsage] - no disk can be filled here
    with pytest.raises(MemoryProblem) as caught:
        store.put([entry("b", "word " * 20_000)])
    assert caught.value.key == "memory.failed"
    assert texts(store) == ["an owl"]
    store.close()


_WRITER = """
import sys
from pathlib import Path
from maia.core.memories import MemoryEntry
from maia.memory.sqlite import SqliteStore

store = SqliteStore(Path(sys.argv[1]), "me")
for number in range(40):
    store.put([MemoryEntry(f"{sys.argv[2]}-{number}", f"owl {number}", float(number))])
    store.put_vectors("m#1", {f"{sys.argv[2]}-{number}": [b"\\0\\0\\x80\\x3f"]})
store.close()
"""


def test_several_processes_begin_and_write_at_once(tmp_path: Path) -> None:
    env = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path / "me"), str(number)], env=env)
        for number in range(3)
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    store = SqliteStore(tmp_path / "me", "me")
    assert len(store.recent(None, ())) == 120
    assert len(store.by_words(terms("owl"), (), 200)) == 120
    assert len(store.by_meaning("m#1", b"\0\0\x80\x3f", (), 200)) == 120
    store.close()


def test_of_what_is_forgotten_nothing_stays_in_the_file(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, "me")
    store.put([MemoryEntry("a", "an owl", 1.0, ("birds",))])
    store.put_vectors("m#1", {"a": [b"\0\0\x80\x3f"]})
    store.forget("a")
    store.put([MemoryEntry("b", "", 1.0)])
    store.forget("b")
    store.close()
    raw = sqlite3.connect(tmp_path / "memory.db")
    for table in ("entries", "tags", "vectors", "waiting", "words_docsize"):
        assert raw.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
    raw.close()


# What one question may cost -------------------------------------------------------------------------------------------


def test_a_word_that_all_entries_have_is_looked_for_in_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "MATCHES", 20)
    store = SqliteStore(tmp_path, "me")
    store.put([MemoryEntry(f"e{number:02}", "common", float(number)) for number in range(50)])
    found = [hit.entry_id for hit in store.by_words(terms("common"), (), 100)]
    assert found == [f"e{number}" for number in range(49, 28, -1)]
    store.close()


def test_frequent_words_do_not_count_beside_rare_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "MATCHES", 20)
    store = SqliteStore(tmp_path, "me")
    store.put([MemoryEntry(f"e{number:02}", "common", float(number)) for number in range(50)])
    store.put([MemoryEntry("rare", "common rare", 1.0)])
    assert [hit.entry_id for hit in store.by_words(terms("common rare"), (), 100)] == ["rare"]
    store.close()


def test_two_handles_in_one_process_keep_each_others_locks(tmp_path: Path) -> None:
    first, second = SqliteStore(tmp_path, "me"), SqliteStore(tmp_path, "me")
    first.put([entry("a", "an owl")])
    second.put([entry("b", "a fox")])  # opening the file anew must not let go of the first one's hold on it
    held = Path("/proc/locks")
    if held.exists():
        inode = (tmp_path / "memory.db").stat().st_ino
        assert any(f":{inode} " in line and f" {os.getpid()} " in line for line in held.read_text().splitlines())
    first.close()
    second.close()
