import errno
import json
import os
from pathlib import Path

import pytest

from maia.app.memory import Remembered
from maia.llm.endpoint import OFFLINE_ENDPOINT, Endpoint
from maia.llm.models import OFFLINE_MODEL
from maia.llm.target import WireTarget

SERVER = Endpoint("litellm", "settings", WireTarget("litellm", "openai-chat", "http://127.0.0.1:1/v1"), "/models")
OTHER = Endpoint("litellm", "settings", WireTarget("litellm", "openai-chat", "http://127.0.0.1:2/v1"), "/models")


def names(remembered: Remembered, endpoint: Endpoint) -> list[str]:
    return [model.id for model in remembered.models_of(endpoint)]


def test_the_model_chosen_last_and_the_lists_are_there_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / ".maia" / "models.json"
    Remembered(path).keep_model("litellm/b")
    Remembered(path).keep_lists([(SERVER, ["a", "b"])])
    again = Remembered(path)
    assert (again.model, names(again, SERVER), names(again, OTHER)) == ("litellm/b", ["a", "b"], [])
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_list_that_is_the_same_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    Remembered(path).keep_lists([(SERVER, ["a"])])
    os.utime(path, ns=(1, 1))
    Remembered(path).keep_lists([(SERVER, ["a"])])
    assert path.stat().st_mtime_ns == 1


def test_models_named_by_the_settings_and_the_built_in_one_need_no_memory(tmp_path: Path) -> None:
    nothing = Remembered(tmp_path / "models.json")
    named = Endpoint("x", "settings", SERVER.target, models=("only",))
    assert names(nothing, named) == ["only"]
    assert nothing.models_of(OFFLINE_ENDPOINT) == [OFFLINE_MODEL]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"[" * 5_000,
        b'{"model": 1, "lists": []}',
        b'{"lists": {"litellm http://127.0.0.1:1/v1": 3}}',
    ],
    ids=repr,
)
def test_a_damaged_file_counts_as_nothing_and_is_written_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "models.json"
    path.write_bytes(content)
    remembered = Remembered(path)
    assert (remembered.model, names(remembered, SERVER)) == (None, [])
    remembered.keep_lists([(SERVER, ["a"])])
    remembered.keep_model("litellm/a")
    assert json.loads(path.read_bytes()) == {"model": "litellm/a", "lists": {"litellm http://127.0.0.1:1/v1": ["a"]}}


def test_what_cannot_be_written_leaves_nothing_behind_and_holds_for_this_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    remembered = Remembered(tmp_path / "models.json")
    remembered.keep_model("litellm/a")
    assert remembered.model == "litellm/a"
    assert os.listdir(tmp_path) == []
