from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from maia.llm.debuglog import DebugLog, debug_path


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (None, None),
        ("", None),
        ("0", None),
        ("1", Path(tempfile.gettempdir(), "maia-llm-debug.log")),
        ("true", Path(tempfile.gettempdir(), "maia-llm-debug.log")),
        ("/somewhere/else.log", Path("/somewhere/else.log")),
        ("here.log", Path("here.log")),
        ("~no-such-user/here.log", None),
    ],
)
def test_the_variable_names_the_file_or_the_usual_one(value: str | None, path: Path | None) -> None:
    assert debug_path({} if value is None else {"MAIA_DEBUG_LLM": value}) == path


def test_a_home_folder_is_known() -> None:
    assert debug_path({"MAIA_DEBUG_LLM": "~/x.log"}) == Path.home() / "x.log"


def test_requests_and_raw_answers_are_appended_without_secrets(tmp_path: Path) -> None:
    path = tmp_path / "llm.log"
    for _ in range(2):
        log = DebugLog(path, ["my-secret"])
        log.request("POST", "http://h/x?key=my-secret", b'{"a": "my-secret"}')
        log.answer(200, {"content-type": "text/event-stream", "set-cookie": "session=1", "x": "my-secret"})
        log.chunk(b"data: \xff my-secret\n\n")
        log.end("end")
    data = path.read_bytes()
    assert data.count(b"POST http://h/x?key=") == 2
    assert data.count(b"HTTP 200\ncontent-type: text/event-stream\n") == 2
    assert data.count(b"data: \xff ") == 2
    assert b"my-secret" not in data
    assert b"session=1" not in data


def test_only_its_owner_reads_the_file_also_when_it_was_there(tmp_path: Path) -> None:
    path = tmp_path / "llm.log"
    path.touch(0o644)
    DebugLog(path).chunk(b"x")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_that_somebody_put_there_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "llm.log").symlink_to(victim)
    DebugLog(tmp_path / "llm.log").chunk(b"x")
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("name", ["no/such/folder.log", "."])
def test_a_file_that_cannot_be_written_stops_nothing(tmp_path: Path, name: str) -> None:
    DebugLog(tmp_path / name).chunk(b"x")
