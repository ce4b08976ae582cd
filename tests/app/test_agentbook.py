"""Agents as the door of the orchestrator has them: real files, and a model that may not widen anybody's rights."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from maia.app.agentbook import ClientsAgents
from maia.app.build import lay_ground
from maia.core.errors import MaiaError, UsageProblem
from maia.i18n.catalogue import Catalogue
from maia.terminal.options import Options


@pytest.fixture
def book(tmp_path: Path) -> ClientsAgents:
    ground = lay_ground(Options(), {**os.environ, "MAIA_CWD": str(tmp_path)}, Catalogue("en"))
    made = ClientsAgents(ground)
    made.create("prophet", {"nickname": "The Chaos Prophet", "description": "d", "instructions": "Look."}, "home")
    return made


def agent_file() -> Path:
    return Path(os.environ["HOME"], ".maia", "agents", "prophet", "AGENT.md")


def test_an_agent_is_found_by_its_nickname_with_all_its_fields(book: ClientsAgents) -> None:
    agent = book.find("the chaos PROPHET")
    assert (agent["name"], agent["description"], agent["instructions"]) == ("prophet", "d", "Look.")
    assert [each["name"] for each in book.listed().agents] == ["prophet"]


@pytest.mark.parametrize(
    "fields",
    [
        {"permissions": {"allow": ["Bash(*)"]}},
        {"folders": ["/"]},
        {"asks_nothing": True},
        {"key": "OTHER_API_KEY"},
    ],
)
def test_a_model_does_not_widen_the_rights_of_an_agent(book: ClientsAgents, fields: dict[str, object]) -> None:
    before = agent_file().read_bytes()
    with pytest.raises(UsageProblem):
        book.update("prophet", fields)
    with pytest.raises(UsageProblem):
        book.create("other", {"description": "d", "instructions": "i", **fields}, "home")
    assert agent_file().read_bytes() == before


def test_kinds_of_rules_that_are_not_given_stay(book: ClientsAgents) -> None:
    book.update("prophet", {"permissions": {"deny": ["Bash(rm *)"]}})
    agent = book.update("prophet", {"permissions": {"ask": ["Bash(git push *)"]}})
    assert agent["permissions"] == {"allow": [], "ask": ["Bash(git push *)"], "deny": ["Bash(rm *)"]}
    with pytest.raises(UsageProblem):
        book.update("prophet", {"permissions": {"deny": []}})


def test_a_key_that_somebody_wrote_into_an_agent_is_not_shown(book: ClientsAgents) -> None:
    key = "sk-ant-api03-" + "Ab1" * 30
    agent_file().write_text(agent_file().read_text().replace("Look.", f"Use {key} for it."))
    assert key not in str(book.find("prophet"))
    assert key not in str(book.listed())
    assert "Use" in str(book.find("prophet"))


def test_a_prompt_is_kept_changed_and_filled_in(book: ClientsAgents) -> None:
    book.create_prompt("prophet", "review", "Read $ARGUMENTS as {{who}}.")
    with pytest.raises(MaiaError):
        book.create_prompt("prophet", "review", "again")
    _, difference = book.edit_prompt("prophet", "review", "Study", "Read")
    assert "+Study $ARGUMENTS" in difference
    assert book.prompts("The Chaos Prophet") == ("review",)
    assert book.filled_prompt("prophet", "review", "a.py", {"who": "a critic"}).strip() == "Study a.py as a critic."


def test_an_agent_that_is_taken_away_can_be_got_back(book: ClientsAgents) -> None:
    where = book.delete("prophet")
    assert not agent_file().exists()
    assert Path(where.replace("~", os.environ["HOME"], 1), "AGENT.md").is_file()
