import logging
from pathlib import Path

import pytest

from maia.app.colleagues import KnownAgents, seated
from maia.app.ground import plain_ground
from maia.core.agent import AgentDefinition, AgentRules, RealModel
from maia.core.permission import Need, Verdict
from maia.i18n.catalogue import Catalogue
from maia.permissions.trust import remember, trust_state
from maia.terminal.options import Options
from maia.workspace.colleagues import Role

TEXT = """---
description: {name}.
{more}
---
## Instructions system
Be careful.
## Missions
Review.
## Output
A list.
"""
NICKNAMES = {"The Oracle": RealModel("anthropic/claude-opus-5"), "At work": RealModel("opus", "claude-code")}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


def write(base: Path, name: str, more: str = "") -> None:
    file = base / ".maia" / "agents" / name / "AGENT.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(TEXT.format(name=name, more=more), "utf-8")


def known(home: Path) -> KnownAgents:
    return KnownAgents({"HOME": str(home)}, home, NICKNAMES, Catalogue("en", strict=True))


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", ("", "", ())),
        ("model: sonnet", ("", "sonnet", ())),
        ("model: the oracle", ("", "anthropic/claude-opus-5", ())),
        ("model: at work", ("claude-code-cli", "opus", ())),
        ("runner: codex", ("codex-cli", "", ())),
        ("runner: codex\nmodel: at work", ("codex-cli", "at work", ())),
        ("folders: [~/data, notes]", ("", "", ("{home}/data", "{home}/notes"))),
    ],
)
def test_a_definition_says_who_runs_it_and_what_it_brings_along(
    home: Path, monkeypatch: pytest.MonkeyPatch, more: str, expected: tuple[str, str, tuple[str, ...]]
) -> None:
    monkeypatch.setenv("HOME", str(home))
    write(home, "iris", more)
    (found,) = known(home)(None)
    provider, model, folders = expected
    assert (found.provider, found.model, found.folders) == (
        provider,
        model,
        tuple(each.format(home=home) for each in folders),
    )


def test_definitions_are_read_again_when_they_change_and_what_is_wrong_is_told_once(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    agents = known(home)
    assert agents(None) == ()
    write(home, "iris")
    first = agents(None)
    assert agents(None) is first
    write(home, "iris", "group: team")
    assert [each.definition.group for each in agents(None)] == ["team"]
    with caplog.at_level(logging.WARNING, "maia.agents"):
        write(home, "iris", "group: everybody")
        assert agents(None) == ()
        write(home, "basile")
        assert [each.name for each in agents(None)] == ["basile"]
    assert [record.message for record in caplog.records if "everybody" in record.message] == [
        '~/.maia/agents/iris/AGENT.md, line 3: the group "everybody" is unknown. Known: main, team, specialist.'
    ]


def test_agents_of_a_folder_come_with_its_trust_and_replace_nobody(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    write(folder, "guest")
    write(folder, "iris", "group: team")
    write(home, "iris")
    agents = known(home)
    assert [each.name for each in agents(str(folder))] == ["iris"]
    remember(folder, home, trust_state(folder, home).digest)
    assert [(each.name, each.definition.group) for each in agents(str(folder))] == [("iris", "main"), ("guest", "main")]
    assert [each.name for each in agents(None)] == ["iris"]


def test_a_folder_that_has_gone_brings_nobody_and_harms_nothing(home: Path, tmp_path: Path) -> None:
    assert [*known(home)(str(tmp_path / "gone"))] == [*known(home)(None)]


def test_a_role_brings_its_rules_and_tools_and_nobody_elses_memory(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    env = {"HOME": str(home), "MAIA_CWD": str(folder)}
    ground = plain_ground(Options(), env, Catalogue("en", strict=True))
    agent = AgentDefinition("iris", "Iris", "", "", rules=AgentRules(deny=("Read(secret)",)), tools=("Read",))
    iris = seated(ground, Role(agent, agent.tools))
    assert (iris.offered, iris.memory) == (("Read",), None)
    assert iris.acting is not None
    assert [(each.tool, each.verdict) for each in iris.acting.rules] == [("Read", Verdict.DENY)]
    assert ground.rules.judge.decide((Need("Read", "path", "secret"),)).verdict is not Verdict.DENY
    plain = seated(ground, Role(None, ("Grep",)))
    assert (plain.acting, plain.offered) == (None, ("Grep",))
