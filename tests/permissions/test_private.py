from __future__ import annotations

import json
from pathlib import Path

import pytest

from maia.permissions.paths import Place
from maia.permissions.protected import PRIVATE
from tests.e2e.program import Place as Program
from tests.fakes import fake_llm
from tests.permissions.made import judged, rules, verdict

ALL = rules(allow=["Read", "Grep", "Glob", "Read(//**)", "Grep(//**)", "Read(~/**)"])


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for name in ("home", "work"):
        (tmp_path / name).mkdir()
    return Place(tmp_path / "work", tmp_path / "home")


@pytest.mark.parametrize("tool", ["Read", "Grep", "Glob"])
@pytest.mark.parametrize("private", PRIVATE)
def test_a_broad_rule_does_not_open_what_maia_keeps_for_itself(tool: str, private: str, place: Place) -> None:
    for path in (f"~/{private}", f"{place.home}/{private}/x", f"../home/./{private}"):
        found = judged(tool, path, ALL, place)
        assert (found.verdict.name, found.reason.key) == ("ASK", "perm.why.protected"), path
        assert found.rule is not None, "searches leave out what a rule names"
    assert judged(tool, f"~/{private}", rules(), place).rule is not None


def test_a_link_opens_it_no_more_than_its_name(place: Place) -> None:
    (place.home / ".maia/memory").mkdir(parents=True)
    (place.launch / "notes").symlink_to(place.home / ".maia/memory")
    assert verdict("Read", "notes/memory.db", ALL, place) == "ask"


@pytest.mark.parametrize("text", ["Read(~/.maia/memory/**)", "Read(~/.maia/memory/x/memory.db)"])
def test_a_rule_that_names_it_opens_it(text: str, place: Place) -> None:
    assert verdict("Read", "~/.maia/memory/x/memory.db", rules(allow=[text]), place) == "allow"
    assert verdict("Read", "~/.maia/keys/seal.bin", rules(allow=[text]), place) == "ask"


@pytest.mark.parametrize("path", ["~/.maia/agents/critic/AGENT.md", "~/.maia/skills/x", "~/notes/.maia/memory/x"])
def test_what_else_lies_beside_it_is_as_any_file(path: str, place: Place) -> None:
    assert verdict("Read", path, ALL, place) == "allow"


@pytest.mark.parametrize("tool", ["Read", "Grep"])
def test_a_model_that_may_read_everything_gets_no_key_and_no_run_of_another(tool: str, tmp_path: Path) -> None:
    program = Program(tmp_path)
    run = program.home / ".maia/runs/run-1/events.jsonl"
    run.parent.mkdir(parents=True)
    run.write_text("the other agent's plan", "utf-8")
    wanted = {
        "Read": {"path": str(run)},
        "Grep": {"pattern": "plan|API_Key", "path": str(program.home), "output_mode": "content"},
    }[tool]
    with fake_llm("tool", tool_name=tool, tool_args=json.dumps(wanted)) as server:
        program.settings(
            LiteLLM_URL=server.url,
            LiteLLM_API_Key="sk-" + "local",
            permissions={"allow": ["Read", "Grep", "Read(//**)"]},
        )
        ran = program.run("-p", "Look", "--output-format", "stream-json")
    told = [event for event in ran.events if event["type"] == "ToolCallFinished"]
    assert len(told) == 1
    assert "sk-" + "local" not in ran.out
    assert "the other agent's plan" not in ran.out
