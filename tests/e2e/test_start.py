"""The start of the real program: its folders, and what its first lines say (T1)."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Place
from tests.e2e.test_interactive import HINT, maia, send
from tests.fakes import fake_llm
from tests.terminal.live.tmux import needs_tmux


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def start_log(place: Place, *words: str, **env: str) -> list[dict[str, Any]]:
    """The notices of a start."""
    ran = place.run("-p", "help", "--model", "offline", "--output-format", "stream-json", *words, **env)
    assert ran.code == 0
    return ran.of("Notice")


def test_the_folders_of_maia_are_made_at_the_start(place: Place) -> None:
    assert place.run("-p", "hi").code == 3  # nothing is configured, so nothing is asked or saved
    assert (place.folder / ".maia" / ".sessions").is_dir()


def test_the_start_names_folder_context_and_rule_files_with_their_counts(place: Place) -> None:
    (place.folder / "CLAUDE.md").write_text("# Notes\n")
    place.settings(permissions={"allow": ["Read(**)", "Bash(ls *)"], "deny": ["Read(.env)"]})
    (place.folder / ".maia").mkdir()
    (place.folder / ".maia" / "settings.json").write_text(json.dumps({"permissions": {"deny": ["Bash(rm *)"]}}))
    told = {notice["key"]: notice["values"] for notice in start_log(place, "--lang", "en")}
    assert told["start.folder"] == {"folder": str(place.folder)}
    assert told["start.context"] == {"file": "CLAUDE.md"}
    assert told["perm.start.files"] == {"files": "~/.maia/settings.json (3 rules), ./.maia/settings.json (1)"}


def test_without_rules_and_context_the_start_says_so(place: Place) -> None:
    told = {(notice["level"], notice["key"]) for notice in start_log(place)}
    assert told >= {("warn", "start.no_context"), ("info", "perm.start.none")}


def test_a_malformed_rule_is_named_with_file_and_line_and_the_rest_holds(place: Place) -> None:
    text = '{\n  "permissions": {\n    "allow": [\n      "Bash(ls *)",\n      "Bash(git push"\n    ]\n  }\n}\n'
    place.settings()
    (place.home / ".maia" / "settings.json").write_text(text)
    (told,) = (
        notice for notice in start_log(place, "--lang", "fr") if notice["level"] == "warn" and "rule" in str(notice)
    )
    assert told["values"]["where"] == "~/.maia/settings.json, ligne 5"
    assert place.run("permissions", "check", "Bash", "ls -l", "--json").json["verdict"] == "allow"


@needs_tmux
def test_what_is_typed_runs_and_is_read_from_the_launch_folder(place: Place) -> None:
    elsewhere = place.base / "launch"
    elsewhere.mkdir()
    (elsewhere / "notes.txt").write_text("plover\n")
    with fake_llm() as fake:
        place.settings(LiteLLM_URL=fake.url, model="fake-model")
        place.env["MAIA_CWD"] = str(elsewhere)
        with maia(place) as term:
            term.until(HINT["en"])
            send(term, "!cat notes.txt; pwd > where")
            term.until("plover")
            send(term, "what says @notes.txt?")
            term.until("Hello from the fake model.")
        content = json.dumps(fake.chats()[0]["messages"][-1])
    assert (elsewhere / "where").read_text() == f"{elsewhere}\n"
    assert content.count("plover") == 2
    assert os.listdir(place.folder) == []


def used(rows: list[str]) -> float:
    """The thousands of tokens that the context bar shows."""
    found = re.search(r"([\d.]+)k / 200k", rows[-1])
    return float(found.group(1)) if found else 0.0


@needs_tmux
def test_the_bar_is_counted_again_when_a_turn_or_command_ends(place: Place) -> None:
    (place.folder / "long.txt").write_text("word " * 9_000)
    with fake_llm(context=200_000, text="Read.") as fake:
        place.settings(LiteLLM_URL=fake.url, model="fake-model")
        with maia(place) as term:
            term.until(HINT["en"])
            before = used(term.until(lambda rows: used(rows) > 0))
            send(term, "!cat long.txt")
            waiting = used(term.until(lambda rows: used(rows) > before + 5))  # before any request
            send(term, "what is in it?")
            term.until("Read.")
            assert used(term.rows()) >= waiting
            send(term, "/clear")
            term.until(lambda rows: 0 < used(rows) <= before + 0.1)


@needs_tmux
@pytest.mark.parametrize(
    ("answer", "told", "bar"),
    [
        ("128 000 tokens", "INFO  Maximum context of fake-model: 128k (model)", r"/ 128k · \d+%$"),
        ("I am not sure.", "WARN  The answer of fake-model about its maximum context", r"^ +■+ +\d\.\dk$"),
    ],
    ids=["says it", "does not"],
)
def test_a_model_is_asked_for_its_window_where_nobody_else_knows_it(
    place: Place, answer: str, told: str, bar: str
) -> None:
    with fake_llm(text=answer, context=0) as fake:
        place.settings(LiteLLM_URL=fake.url, model="fake-model")
        with maia(place) as term:
            term.until(lambda rows: bool(re.search(bar, rows[-1])))
            term.until(told)
        (question,) = fake.chats()
    assert "tools" not in question
    assert "context window" in json.dumps(question["messages"])
