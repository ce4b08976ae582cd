from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from maia.core.errors import SettingsProblem, UsageProblem
from maia.orchestrator.calls import Identity
from maia.orchestrator.tokens import Tokens

A = Identity("client:a")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "private" / "mcp-tokens.json"


def test_a_token_names_its_identity_and_its_text_is_kept_nowhere(file: Path) -> None:
    tokens = Tokens(file)
    a, b = tokens.create("a", A), tokens.create("b", Identity("agent:b", "b"))
    assert tokens.identity_of(a.reveal()) == A
    assert tokens.identity_of(b.reveal()) == Identity("agent:b", "b")
    assert tokens.identity_of(a.reveal() + "x") is None
    assert tokens.identity_of("") is None
    kept = file.read_text()
    assert a.reveal() not in kept
    assert a.reveal().removeprefix("maia_mcp_") not in kept
    assert a.reveal() not in repr(tokens.all()) + repr(a)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_a_token_revoked_by_another_process_is_one_at_once(file: Path) -> None:
    ours, theirs = Tokens(file), Tokens(file)
    token = ours.create("a", A).reveal()
    assert theirs.identity_of(token) == A
    ours.revoke("a")
    assert theirs.identity_of(token) is None


@pytest.mark.parametrize("name", ["", "  ", "x" * 65, "a\nb", "a\x1b[2J"])
def test_a_name_that_cannot_be_shown_on_a_line_is_refused(file: Path, name: str) -> None:
    with pytest.raises(UsageProblem, match=r"mcp\.token\.bad_name"):
        Tokens(file).create(name, A)


def test_names_are_taken_once_and_unknown_ones_are_told(file: Path) -> None:
    tokens = Tokens(file)
    tokens.create("a", A)
    with pytest.raises(UsageProblem, match=r"mcp\.token\.taken"):
        tokens.create("a", A)
    with pytest.raises(UsageProblem, match=r"mcp\.token\.unknown"):
        tokens.revoke("b")


_NO_DIGEST = '{"tokens": [{"name": "a", "digest": 1, "identity": "client:a", "created": 1}]}'
_NO_TIME = '{"tokens": [{"name": "a", "digest": "0", "identity": "client:a", "created": "today"}]}'


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"tokens": 1}', '{"tokens": [{"name": 1, "x": 2}]}', _NO_DIGEST, _NO_TIME, "\xff"],
)
def test_a_broken_file_lets_nobody_in_and_is_left_as_it_is(file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text, encoding="latin-1")
    tokens = Tokens(file)
    with pytest.raises(SettingsProblem, match=r"mcp\.token\.file"):
        tokens.identity_of("x")
    with pytest.raises(SettingsProblem, match=r"mcp\.token\.file"):
        tokens.create("a", A)
    assert file.read_text(encoding="latin-1") == text


def test_the_agent_of_a_folder_whose_name_is_no_utf8_has_a_token(file: Path) -> None:
    agent = Identity("agent:b@/work/caf\udce9", "b")
    token = Tokens(file).create("b", agent).reveal()
    assert Tokens(file).identity_of(token) == agent


def test_where_the_lock_cannot_be_had_the_reason_is_told(file: Path) -> None:
    file.parent.mkdir()
    file.with_suffix(".lock").mkdir()
    with pytest.raises(SettingsProblem, match=r"mcp\.token\.file"):
        Tokens(file).create("a", A)


def test_a_file_that_others_can_read_is_made_private(file: Path) -> None:
    token = Tokens(file).create("a", A).reveal()
    os.chmod(file, 0o644)
    assert Tokens(file).identity_of(token) == A
    assert file.stat().st_mode & 0o777 == 0o600


def test_two_at_once_lose_none(file: Path) -> None:
    def make(start: int) -> None:
        for number in range(start, start + 10):
            Tokens(file).create(f"t{number}", A)

    threads = [threading.Thread(target=make, args=(start,)) for start in (0, 100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(json.loads(file.read_text())["tokens"]) == 30
