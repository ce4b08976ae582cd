"""`maia memory` and the memory tools, as a person and a model use them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.e2e.program import Place
from tests.fakes import fake_llm

KEY = "sk-ant-api03-" + "a1B2" * 20


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def listed(place: Place, *words: str) -> list[str]:
    ran = place.run("memory", "list", "--json", *words)
    assert ran.code == 0, ran.err
    return [entry["text"] for entry in json.loads(ran.out)]


def agent(place: Place, name: str, nickname: str, more: str = "") -> None:
    folder = place.home / ".maia" / "agents" / name
    folder.mkdir(parents=True)
    (folder / "AGENT.md").write_text(
        f"---\nname: {name}\nnickname: {nickname}\ndescription: d\n{more}---\n\n"
        "## Instructions system\n\nDo.\n\n## Missions\n\nDo.\n\n## Output\n\nText.\n"
    )


def test_what_is_added_is_listed_found_and_forgotten(place: Place) -> None:
    added = place.run("memory", "add", "We", "chose", "SQLite", "--tag", "Storage")
    entry_id = added.out.strip()
    assert (added.code, added.err) == (0, "")
    ran = place.run("memory", "list")
    assert ran.out.split()[0] == entry_id
    assert ran.out.rstrip().endswith("We chose SQLite #storage")
    (found,) = json.loads(place.run("memory", "search", "choosing", "sqlite", "--json").out)
    assert (found["id"], found["by"], found["tags"]) == (entry_id, "words", ["storage"])
    assert place.run("memory", "forget", entry_id).code == 0
    gone = place.run("memory", "forget", entry_id)
    assert (gone.code, entry_id in gone.err) == (2, True)
    assert place.run("memory", "list").out == ""


def test_a_text_from_standard_input_keeps_its_lines_and_loses_its_keys(place: Place) -> None:
    ran = place.run("memory", "add", "-", stdin=f"one\ntwo {KEY}\n")
    assert ran.code == 0
    assert "masked" in ran.err
    assert listed(place) == [f"one\ntwo sk-ant-api03-…({len(KEY)})"]
    assert KEY not in "".join(path.read_text("latin-1") for path in (place.home / ".maia").rglob("*") if path.is_file())


def test_a_memory_goes_out_as_markdown_and_comes_in_again(place: Place) -> None:
    place.run("memory", "add", "## a heading\nand text", "--tag", "été")
    place.run("memory", "add", "second")
    out = place.run("memory", "export", "notes.md")
    assert Path(out.out.strip()) == place.folder / "notes.md"
    written = (place.folder / "notes.md").read_text("utf-8")
    assert place.run("memory", "export").out == written
    again = place.run("memory", "import", "notes.md")
    assert again.err == "0 new entries of 2.\n"
    (place.folder / "notes.md").write_text(written.replace("second", "edited"), "utf-8")
    place.run("memory", "import", "notes.md")
    assert listed(place) == ["edited", "## a heading\nand text"]
    assert place.run("memory", "import", "-", stdin="# Other\n\n## Topic\n\nText.\n").err == "1 new entry of 1.\n"
    assert listed(place, "--tag", "ÉTÉ") == ["## a heading\nand text"]


@pytest.mark.parametrize(
    ("words", "stdin", "code"),
    [
        pytest.param((), None, 2, id="no action"),
        pytest.param(("remember",), None, 2, id="an unknown action"),
        pytest.param(("list", "many"), None, 2, id="no number"),
        pytest.param(("add",), None, 2, id="nothing to add"),
        pytest.param(("add", " "), None, 1, id="an empty text"),
        pytest.param(("add", "-"), b"\xff", 2, id="no text"),
        pytest.param(("add", "-"), "x" * 100_001, 1, id="too long"),
        pytest.param(("add", "x", "--tag", "a,b"), None, 1, id="a bad tag"),
        pytest.param(("import", "nothing.md"), None, 2, id="no file"),
        pytest.param(("import", "."), None, 2, id="a folder"),
        pytest.param(("import", "-"), "## 2026-11-30\nfine\n\n## 2026-12-01\n" + "x" * 100_001, 2, id="a bad entry"),
        pytest.param(("export", "nowhere/deep/../x.md", "y"), None, 2, id="two files"),
        pytest.param(("embed",), None, 3, id="no model"),
        pytest.param(("list", "--agent", "nobody"), None, 2, id="no such agent"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(
    place: Place, words: tuple[str, ...], stdin: str | bytes | None, code: int
) -> None:
    ran = place.run("memory", *words, stdin=stdin)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err
    assert listed(place) == []


def test_an_entry_that_cannot_be_taken_in_is_named_by_its_line(place: Place) -> None:
    ran = place.run("memory", "import", "-", stdin="## 2026-11-30\nfine\n\n## 2026-12-01 — a,b\nx\n")
    assert "Line 4:" in ran.err


def test_each_agent_has_a_memory_of_its_own_by_name_or_nickname(place: Place) -> None:
    agent(place, "prophet", "The Chaos Prophet")
    agent(place, "other", "Other")
    place.run("memory", "add", "mine")
    place.run("memory", "add", "the prophet's", "--agent", "prophet")
    assert listed(place, "--agent", "the chaos prophet") == ["the prophet's"]
    assert listed(place, "--agent", "other") == []
    assert listed(place) == ["mine"]
    paths = {place.run("memory", "path", *who).out for who in ((), ("--agent", "prophet"), ("--agent", "other"))}
    assert len(paths) == 3
    os.remove(place.home / ".maia" / "agents" / "prophet" / "AGENT.md")
    assert listed(place, "--agent", "prophet") == ["the prophet's"], "an agent that is gone left its memory behind"


def test_words_are_in_the_persons_language(place: Place) -> None:
    assert place.run("memory", "list", "--lang", "fr").err == "Rien dans cette mémoire.\n"


# A model with a memory ------------------------------------------------------------------------------------------------


def test_a_model_keeps_a_text_and_another_session_finds_it(place: Place) -> None:
    text = json.dumps({"text": f"The owl lives in the barn. {KEY}", "tags": ["Birds"]})
    with fake_llm("tool", tool_name="MemoryStore", tool_args=text) as server:
        place.settings(LiteLLM_URL=server.url, memory=True)
        ran = place.run("-p", "remember", "--model", "fake-model", "--output-format", "stream-json")
        assert ran.code == 0, ran.err
        offered = [tool["function"]["name"] for tool in server.chats()[0]["tools"]]
        assert offered[-2:] == ["MemoryStore", "MemorySearch"]
    assert list((place.home / ".maia" / "memory").rglob("*-wal")) == [], "the session closed its memory"
    (entry,) = json.loads(place.run("memory", "list", "--json").out)
    assert entry["text"] == f"The owl lives in the barn. sk-ant-api03-…({len(KEY)})"
    assert entry["tags"] == ["birds"]
    assert entry["source"].startswith("session_")
    with fake_llm("tool", tool_name="MemorySearch", tool_args='{"query": "where do owls live"}') as server:
        place.settings(LiteLLM_URL=server.url, memory=True)
        place.run("-p", "where?", "--model", "fake-model")
        (result,) = [message for message in server.chats()[1]["messages"] if message["role"] == "tool"]
        assert entry["id"] in result["content"]
        assert "The owl lives in the barn." in result["content"]


def test_without_the_setting_no_memory_is_offered_and_none_is_made(place: Place) -> None:
    with fake_llm("text") as server:
        place.settings(LiteLLM_URL=server.url)
        place.run("-p", "hi", "--model", "fake-model")
        offered = {tool["function"]["name"] for tool in server.chats()[0]["tools"]}
    assert not {"MemoryStore", "MemorySearch"} & offered
    assert not (place.home / ".maia" / "memory").exists()


def test_a_memory_that_nobody_asks_opens_nothing(place: Place) -> None:
    with fake_llm("text") as server:
        place.settings(LiteLLM_URL=server.url, memory=True)
        place.run("-p", "hi", "--model", "fake-model")
    assert not (place.home / ".maia" / "memory").exists()


def test_a_rule_that_names_the_tool_holds(place: Place) -> None:
    with fake_llm("tool", tool_name="MemoryStore", tool_args='{"text": "x"}') as server:
        place.settings(LiteLLM_URL=server.url, memory=True, permissions={"deny": ["memorystore"]})
        ran = place.run("-p", "remember", "--model", "fake-model", "--output-format", "stream-json")
    assert [event["status"] for event in ran.of("ToolCallFinished")] == ["refused"]
    assert listed(place) == []


def test_an_agent_works_on_its_own_memory_and_one_without_is_offered_none(place: Place) -> None:
    agent(place, "prophet", "The Chaos Prophet")
    agent(place, "sieve", "Sieve", "memory: no\n")
    with fake_llm("tool", tool_name="MemoryStore", tool_args='{"text": "the end is near"}') as server:
        place.settings(LiteLLM_URL=server.url, memory=True)
        place.run("-p", "prophesy", "--model", "fake-model", "--agent", "prophet")
    assert listed(place, "--agent", "prophet") == ["the end is near"]
    assert listed(place) == []
    with fake_llm("text") as server:
        place.settings(LiteLLM_URL=server.url, memory=True)
        place.run("-p", "hi", "--model", "fake-model", "--agent", "sieve")
        offered = {tool["function"]["name"] for tool in server.chats()[0]["tools"]}
    assert not {"MemoryStore", "MemorySearch"} & offered, "nor does it get the person's"
