"""Backups and restores of real servers' data, on both databases and from one to the other."""

import asyncio
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from maia.app import backup as commands
from maia.app.backup import resume_restore
from maia.app.cli import run
from maia.backup import swap
from maia.backup.archive import END, MANIFEST
from maia.core.jsonvalue import JsonObject
from maia.database import attachments, conversations, migrate, people, search, settings, users
from maia.database.address import database_url as address_of
from maia.database.database import Database
from maia.database.folders import FolderRow, set_folders
from maia.database.tables.models import SECRETS
from tests.databases import database_url, new_database, postgres  # pyright: ignore[reportUnusedImport] - fixtures

__all__ = ["database_url", "postgres"]
ODD = 'Été 🎈 \u2028 \'quote\' \\ " {"a": 1}'
PREFERENCES: JsonObject = {"theme": "dark", "n": 1.5, "none": None}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "data"
    monkeypatch.setenv("MAIA_DATA_DIR", str(place))
    return place


def opened(url: str | None, data: Path) -> Database:
    return Database(address_of(url, data))


def write(url: str | None, data: Path, work: Any) -> Any:
    database = opened(url, data)
    try:
        return asyncio.run(database.write(work))
    finally:
        database.close()


def fill(url: str | None, data: Path, title: str = ODD) -> str:
    """An installation with something of every kind."""

    def work(connection: Any) -> str:
        user = users.add_user(connection, f"{title[:1]}@example.org", title, "owner", "a hash", "fr")
        users.change_preferences(connection, user.id, {"lang": "fr", **PREFERENCES})
        made = conversations.add_conversation(connection, user.id, title, "fr")
        search.keep_words(connection, made, search.TITLE, title)
        sent = {"name": "Bilan.txt", "media_type": "text/plain", "digest": "0" * 64, "text": "chiffres du trimestre"}
        kept = attachments.add_attachment(connection, {"conversation_id": made, **sent})
        assert attachments.mark_sent(connection, [kept], 1)
        own = str(data / "workspaces" / made)
        set_folders(
            connection,
            "conversation",
            made,
            [FolderRow("Own", own, is_workspace=True), FolderRow("Code", "/srv", False)],
        )
        connection.execute(SECRETS.insert().values(name=made, box=b"\x00\xff sealed", changed_at=1))
        settings.keep_setting(connection, "installation", "abc")
        return made

    made = write(url, data, work)
    (data / "workspaces" / made).mkdir(parents=True)
    (data / "workspaces" / made / "résumé.txt").write_bytes(b"what an agent wrote\x00")
    (data / "workspaces" / made / "run.sh").write_text("#!/bin/sh\n")
    (data / "workspaces" / made / "run.sh").chmod(0o755)
    (data / "workspaces" / made / "link").symlink_to("/etc/passwd")
    (data / "privacy.yaml").write_text("enabled: true\n")
    return made


def state(url: str | None, data: Path) -> dict[str, Any]:
    """What can be seen of an installation."""

    def look(connection: Any) -> dict[str, Any]:
        found = connection.execute(text("SELECT id, email, name FROM users ORDER BY id")).all()
        return {
            "users": [tuple(row) for row in found],
            "preferences": [each.user.preferences for each in people.members(connection)],
            "titles": connection.execute(text("SELECT title FROM conversations ORDER BY id")).scalars().all(),
            "found": [search.matching(connection, row.id, search.asked_for("ete quote"), 9) for row in found],
            "found by a file": [
                search.matching(connection, row.id, search.asked_for("bilan trimestre"), 9) for row in found
            ],
            "folders": connection.execute(text("SELECT path FROM folders ORDER BY position")).scalars().all(),
            "box": [bytes(each) for each in connection.execute(text("SELECT box FROM secrets")).scalars()],
            "installation": settings.setting(connection, "installation"),
        }

    found = write(url, data, look)
    skipped = (".lock", "-wal", "-shm", ".db")
    found["files"] = {
        str(path.relative_to(data)): (path.read_bytes(), path.stat().st_mode & 0o777)
        for path in sorted(data.rglob("*"))
        if path.is_file()
        and not path.is_symlink()
        and not path.name.endswith(skipped)
        and not path.relative_to(data).parts[0].startswith("before-")
    }
    return found


def serve(*words: str) -> int:
    return run(["serve", *words, "--lang", "en"])


def test_an_installation_is_backed_up_and_put_back_elsewhere(
    data: Path, tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = fill(database_url, data)
    before = state(database_url, data)
    server = opened(database_url, data)  # as while a server runs
    kept = tmp_path / "kept.maia"
    assert serve("backup", str(kept), "--database", database_url) == 0
    server.close()
    assert kept.stat().st_mode & 0o777 == 0o600
    told = capsys.readouterr()
    assert "3 files" in told.out
    assert "1 link or special file" in told.err

    elsewhere = tmp_path / "elsewhere"
    monkeypatch.setenv("MAIA_DATA_DIR", str(elsewhere))
    assert serve("restore", str(kept)) == 0
    assert capsys.readouterr().out == f"Restored from {kept}.\n", "there was nothing before that could be kept"
    assert [*elsewhere.glob("before-*")] == []
    after = state(None, elsewhere)
    assert after.pop("folders") == [str(elsewhere / "workspaces" / made), "/srv"], "workspaces lie elsewhere now"
    before.pop("folders")
    assert after == before
    assert after["found"][0], "what was found by its words still is"
    assert after["found by a file"][0], "and by those of a file that was sent"


def test_every_table_is_in_a_backup(data: Path, database_url: str) -> None:
    from maia.database.connect import open_engine
    from maia.database.dump import snapshot
    from maia.database.tables.every import METADATA

    opened(database_url, data).close()
    engine = open_engine(address_of(database_url, data))
    with snapshot(engine) as found:
        assert {table.name for table in found.tables} == set(METADATA.tables)
    engine.dispose()


def test_a_file_becomes_a_server_and_a_server_a_file(
    data: Path, tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(None, data)
    before = state(None, data)
    assert serve("backup", str(tmp_path / "1")) == 0
    server = new_database(postgres)
    assert serve("restore", str(tmp_path / "1"), "--database", server) == 0, "its files are there already"
    assert state(server, data) == before
    assert serve("backup", str(tmp_path / "2"), "--database", server) == 0
    monkeypatch.setenv("MAIA_DATA_DIR", str(tmp_path / "new"))
    assert serve("restore", str(tmp_path / "2")) == 0
    after = state(None, tmp_path / "new")
    assert {**after, "folders": 0} == {**before, "folders": 0}


def test_nothing_is_replaced_unless_it_is_asked_for_and_then_it_is_kept(
    data: Path, tmp_path: Path, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(database_url, data)
    kept = tmp_path / "kept"
    assert serve("backup", str(kept), "--database", database_url) == 0
    before = state(database_url, data)
    later = fill(database_url, data, "Later")
    (data / "privacy.yaml").write_text("enabled: false\n")
    now = state(database_url, data)
    assert serve("restore", str(kept), "--database", database_url) == 1
    assert "--replace" in capsys.readouterr().err
    assert state(database_url, data) == now

    assert serve("restore", str(kept), "--database", database_url, "--replace") == 0
    assert state(database_url, data) == before
    said = capsys.readouterr().out
    old = next(data.glob("before-*"))
    assert str(old) in said
    assert (old / "privacy.yaml").read_text() == "enabled: false\n"
    assert (old / "workspaces" / later / "run.sh").exists()
    if database_url.startswith("sqlite"):
        engine = create_engine(f"sqlite:///{next(tmp_path.rglob('*before-*/maia.db'))}")
        query = "SELECT count(*) FROM conversations"
    else:
        engine = create_engine(database_url.replace("postgresql", "postgresql+psycopg"))
        query = f'SELECT count(*) FROM "{old.name.replace("-", "_")}".conversations'
    with engine.connect() as connection:
        assert connection.execute(text(query)).scalar() == 2
    engine.dispose()


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """`steps[0]` renames happen, then the disk refuses, as if the process was killed there."""
    left = [10**9]
    real = os.rename

    def rename(old: Any, new: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(5, "killed")
        real(old, new)

    monkeypatch.setattr(swap.os, "rename", rename)
    return left


def test_a_restore_that_is_killed_leaves_the_old_state_or_is_finished_by_the_next_start(
    data: Path, tmp_path: Path, database_url: str, steps: list[int]
) -> None:
    fill(database_url, data)
    kept = tmp_path / "kept"
    assert serve("backup", str(kept), "--database", database_url) == 0
    wanted = state(database_url, data)
    seen = set[str]()
    for stop in range(12):
        fill(database_url, data, f"{stop % 10} later")
        old = state(database_url, data)
        steps[0] = stop
        code = serve("restore", str(kept), "--database", database_url, "--replace")
        steps[0] = 10**9
        resume_restore(address_of(database_url, data), data)
        assert not swap.stage_of(data).exists()
        after = state(database_url, data)
        assert after in (old, wanted), stop
        seen.add("old" if after == old else "new")
        assert code == 0 or steps, stop
        if after == old:
            assert serve("restore", str(kept), "--database", database_url, "--replace") == 0
    assert seen == {"old", "new"}


def test_one_that_fails_before_anything_is_settled_changes_nothing(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(None, data)
    kept = tmp_path / "kept"
    assert serve("backup", str(kept)) == 0
    fill(None, data, "Later")
    old = state(None, data)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(commands, "_write", full)
    assert serve("restore", str(kept), "--replace") == 1
    resume_restore(address_of(None, data), data)
    assert state(None, data) == old


def test_nobody_restores_under_a_running_server(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(None, data)
    assert serve("backup", str(tmp_path / "kept")) == 0
    server = opened(None, data)
    assert serve("restore", str(tmp_path / "kept"), "--replace") == 1
    server.close()
    assert "Another" in capsys.readouterr().err


def changed(source: Path, target: Path, change: Any) -> Path:
    """A backup of which something was changed, with checksums that fit."""
    from maia.backup.archive import Manifest, members, writing

    with writing(target, Manifest("0", "0001", 0)) as writer:
        writer._digests.clear()  # pyright: ignore[reportPrivateUsage] - a forged one
        for member in members(source):
            if member.name != END:
                name, content = change(member.name, member.content.read())
                writer.add(name, content)
    with tarfile.open(target) as tar:
        infos = tar.getmembers()[1:]
        kept = [(info, tar.extractfile(info)) for info in infos]
        with tarfile.open(target.with_suffix(".forged"), "w:gz") as forged:
            for info, content in kept:
                forged.addfile(info, content)
    return target.with_suffix(".forged")


def test_a_newer_backup_is_refused(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(None, data)
    assert serve("backup", str(tmp_path / "kept")) == 0

    def newer(name: str, content: bytes) -> tuple[str, bytes]:
        body = json.loads(content) | {"revision": f"{int(migrate.HEAD) + 1:04}"} if name == MANIFEST else None
        return name, json.dumps(body).encode() if body else content

    forged = changed(tmp_path / "kept", tmp_path / "new", newer)
    assert serve("restore", str(forged), "--replace") == 1
    assert "newer maia" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["data/../../evil", "/data/evil", "data/../evil"])
def test_a_backup_writes_nothing_outside(
    data: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(None, data)
    assert serve("backup", str(tmp_path / "kept")) == 0

    def evil(known: str, content: bytes) -> tuple[str, bytes]:
        return (name if known == "data/privacy.yaml" else known), content

    forged = changed(tmp_path / "kept", tmp_path / "new", evil)
    assert serve("restore", str(forged), "--replace") == 1
    assert "no backup" in capsys.readouterr().err
    assert list(tmp_path.rglob("evil")) == []


def test_a_damaged_or_cut_backup_is_refused_whole(data: Path, tmp_path: Path) -> None:
    fill(None, data)
    kept = tmp_path / "kept"
    assert serve("backup", str(kept)) == 0
    whole = kept.read_bytes()
    old = state(None, data)
    broken = tmp_path / "broken"
    for content in (
        b"",
        b"no tar",
        whole[: len(whole) // 2],
        whole[:-9],
        whole[:300] + bytes([whole[300] ^ 1]) + whole[301:],
        whole[:-40] + bytes([whole[-40] ^ 1]) + whole[-39:],
    ):
        broken.write_bytes(content)
        assert serve("restore", str(broken), "--replace") == 1, len(content)
    assert state(None, data) == old


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(["backup"], 2, id="no file"),
        pytest.param(["backup", "a", "b"], 2, id="two files"),
        pytest.param(["dance", "x"], 2, id="another word"),
        pytest.param(["backup", "/nowhere/at/all"], 1, id="nothing to back up"),
        pytest.param(["restore", "/nowhere/at/all"], 1, id="no such file"),
        pytest.param(["restore", "/"], 1, id="a folder"),
    ],
)
def test_wrong_words_are_told(data: Path, words: list[str], code: int) -> None:
    assert serve(*words) == code
    assert not data.exists() or list(data.iterdir()) == []


def test_no_backup_is_overwritten(data: Path, tmp_path: Path) -> None:
    fill(None, data)
    kept = tmp_path / "kept"
    kept.write_text("mine")
    assert serve("backup", str(kept)) == 1
    assert kept.read_text() == "mine"
