"""What an agent's definition does to a session (C6.03, C6.06, T7.04 to T7.06)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from maia.agents.change import Written, create, delete, update
from maia.agents.prompts import create_prompt
from maia.agents.shelf import Shelf
from maia.agents.template import template
from maia.app.acting import rules_of, section_of, steps_of, tools_for
from maia.app.agents import act_as, agent_shelf, changing, find_agent
from maia.app.agents_command import list_agents as run_list
from maia.app.build import Ground, build_conversation, endpoint_models, lay_ground, runner_of, work_bench
from maia.app.memory import Remembered
from maia.app.paying import Purses
from maia.core.agent import AgentDefinition, AgentRules, RealModel
from maia.core.errors import UsageProblem
from maia.core.events import Notice
from maia.core.permission import Need, Verdict
from maia.core.requests import Effort
from maia.i18n.catalogue import Catalogue
from maia.permissions.trust import trust_state
from maia.terminal.options import Options
from maia.tools.toolbox import built_in_tools

FILE = "~/.maia/agents/critic/AGENT.md"
AGENT = AgentDefinition("critic", "Zed", "Reads.", "Be careful.", "Review.", "A list.", shown=FILE)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for folder in ("work/.maia", "home/.maia", "data"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


def ground_of(base: Path, options: Options | None = None, settings: Any = None) -> Ground:
    if settings is not None:
        (base / "home" / ".maia" / "settings.json").write_text(json.dumps(settings), "utf-8")
    env = {"HOME": str(base / "home"), "MAIA_CWD": str(base / "work")}
    return lay_ground(options or Options(), env, Catalogue("en", strict=True))


def verdict(ground: Ground, command: str) -> Verdict:
    return ground.rules.judge.decide([Need("Bash", "command", command)]).verdict


# Rules --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "agent", "expected"),
    [
        ({}, {"allow": ["Bash(make *)"]}, Verdict.ALLOW),
        ({"deny": ["Bash(make *)"]}, {"allow": ["Bash(make *)"]}, Verdict.DENY),
        ({"ask": ["Bash(make *)"]}, {"allow": ["Bash(make *)"]}, Verdict.ASK),
        ({"allow": ["Bash(make *)"]}, {"ask": ["Bash(make *)"]}, Verdict.ASK),
        ({"allow": ["Bash(make *)"]}, {"deny": ["Bash(make *)"]}, Verdict.DENY),
        ({"allow": ["Bash(make *)"]}, {}, Verdict.ALLOW),
        ({}, {}, Verdict.ASK),
    ],
)
def test_rules_of_an_agent_add_and_never_lift_a_deny_or_an_ask(
    base: Path, settings: Any, agent: Any, expected: Verdict
) -> None:
    ground = ground_of(base, settings={"permissions": settings})
    rules = AgentRules(**{name: tuple(texts) for name, texts in agent.items()})
    acting = act_as(ground, replace(AGENT, rules=rules))
    assert verdict(acting, "make all") is expected
    acting.rules.reload()
    assert verdict(acting, "make all") is expected, "also when the settings are read again"


def test_rules_of_one_agent_are_not_those_of_another_on_the_same_ground(base: Path) -> None:
    ground = ground_of(base)
    one = act_as(ground, replace(AGENT, rules=AgentRules(allow=("Bash(make *)",))))
    other = act_as(ground, AGENT)
    one.rules.judge.allow_for_session([Need("Bash", "command", "ls")])
    assert [verdict(each, "make x") for each in (one, other, ground)] == [
        Verdict.ALLOW,
        Verdict.ASK,
        Verdict.ASK,
    ]
    assert verdict(other, "ls") is Verdict.ASK


def test_rules_are_shown_with_their_file_and_wrong_ones_are_told(base: Path) -> None:
    rules = AgentRules(deny=("Read(.env)", "Read("), allow=("nonsense)",))
    acting = act_as(ground_of(base), replace(AGENT, rules=rules))
    assert [(file.shown, [rule.text for rule in file.rules]) for file in acting.rules.shown()] == [
        (AGENT.shown, ["Read(.env)"])
    ]
    assert acting.acting is not None
    told = [(notice.key, notice.values.get("rule")) for notice in acting.acting.notices if notice.level == "warn"]
    assert told == [("agents.bad_rule", "Read("), ("agents.bad_rule", "nonsense)")]
    keys = [notice.key for notice in acting.rules.notices()]
    assert "perm.start.files" in keys
    assert "perm.start.none" not in keys


def test_a_program_is_denied_the_tools_that_the_agent_leaves_out() -> None:
    agent = replace(AGENT, runner="claude-code", tools=("read", "Grep"))
    rules, _ = rules_of(agent, "claude-code")
    assert [(rule.verdict, rule.text) for rule in rules] == [
        (Verdict.DENY, name) for name in ("Write", "Edit", "Bash", "Glob", "WebFetch")
    ]
    assert rules_of(agent, "maia") == ((), ())


@pytest.mark.parametrize(
    ("agent", "runner", "expected"),
    [
        (replace(AGENT, asks_nothing=True), "codex", ["Agent(codex)"]),
        (replace(AGENT, asks_nothing=True, level="project"), "codex", []),
        (replace(AGENT, asks_nothing=True), "maia", []),
        (AGENT, "codex", []),
    ],
    ids=["the person's own word", "a project's word", "nothing to switch off", "not said"],
)
def test_a_program_works_without_asking_only_where_the_person_says_so(
    base: Path, agent: AgentDefinition, runner: str, expected: list[str]
) -> None:
    assert [rule.text for rule in rules_of(agent, runner)[0]] == expected
    acting = act_as(ground_of(base), replace(agent, runner=runner)).acting
    assert acting is not None
    told = [notice.key for notice in acting.notices if "asks_nothing" in notice.key]
    wanted = {"home": "agents.asks_nothing", "project": "agents.asks_nothing_project"}[agent.level]
    assert told == ([wanted] if agent.asks_nothing and runner != "maia" else [])


# What it is told, its steps and tools -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("effort", "limit", "steps"),
    [
        ("low", 50, 10),
        ("medium", 50, 25),
        ("high", 50, 50),
        ("high", 80, 50),
        ("medium", 20, 20),
        ("max", 80, 80),
        ("xhigh", 80, 80),
        ("minimal", 80, 10),
        (None, 7, 7),
    ],
)
def test_effort_bounds_the_steps_and_no_limit_is_lifted(effort: Effort | None, limit: int, steps: int) -> None:
    assert steps_of(replace(AGENT, effort=effort), limit) == steps


@pytest.mark.parametrize(
    ("fields", "options", "steps"),
    [
        pytest.param({}, Options(), 50, id="as the settings say"),
        pytest.param({"max_turns": 80}, Options(), 80, id="more than the settings"),
        pytest.param({"max_turns": 3}, Options(), 3, id="fewer"),
        pytest.param({"max_turns": 40, "effort": "low"}, Options(), 40, id="before its effort"),
        pytest.param({"max_turns": 40}, Options(max_iterations=7), 7, id="the option first"),
    ],
)
def test_an_agents_own_turns_are_its_steps_unless_the_option_says_otherwise(
    base: Path, fields: dict[str, Any], options: Options, steps: int
) -> None:
    ground = act_as(ground_of(base, options), replace(AGENT, **fields))
    models = endpoint_models(ground)
    purses = Purses(lambda: ground.rules.settings, {}, ground.say, Remembered(base / "remembered"))
    config = work_bench(ground, models, purses, lambda _whose, _notices: None).configure()
    assert config.max_iterations == steps
    (told,) = [section.text for section in config.sections if section.name == "agent"]
    assert (f"at most {steps} steps" in told) is (steps not in (7, 50))


def test_an_agent_is_told_its_sections_and_its_pace() -> None:
    text = section_of(replace(AGENT, effort="low")).text
    parts = ['"Zed" (agent critic)', "Be careful.", "Review.", "A list.", "at most 10 steps"]
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
    assert "Effort" not in section_of(AGENT).text


def test_an_agent_is_told_who_it_is_beside_its_instructions() -> None:
    who = replace(AGENT, role="Clerk", goal="Clear books.", backstory="Ten years.", capabilities=("SQL",))
    text = section_of(replace(who, constraints=("never pays", "asks"))).text
    parts = ["# Your role\n\nClerk", "# Your goal\n\nClear books.", "# Your background\n\nTen years.", "- SQL"]
    for part in (*parts, "without exception\n\n- never pays\n- asks"):
        assert part in text
    assert "# Your" not in section_of(AGENT).text.replace("# Your missions", "")


def test_an_agent_that_is_switched_off_is_listed_and_starts_nothing(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ground = ground_of(base)
    fields = {"description": "Reads.", "instructions": "Go.", "enabled": False}
    changing(ground.folders, lambda shelf: create(shelf, "critic", template("en", {}), fields, "home"))
    with pytest.raises(UsageProblem) as caught:
        find_agent(ground.folders, "critic")
    assert caught.value.key == "agents.disabled"
    run_list(ground, ())
    assert capsys.readouterr().out.split() == ["critic", "critic", "(switched", "off)", "Reads."]


def test_only_the_named_tools_are_there_in_their_usual_order() -> None:
    tools = {tool.spec.name: tool for tool in built_in_tools()}
    named = ("grep", "read_file", "memory_search", "ask_user", "run_specialist", "Nope")
    kept, notices = tools_for(named, "its file", tools)
    assert (list(kept), [notice.values["names"] for notice in notices]) == (["Read", "Grep"], ["Nope"])
    assert tools_for((), "", tools)[0] == {}
    assert list(tools_for(None, "", tools)[0]) == list(tools)


def test_folders_of_an_agent_are_as_those_of_an_option(base: Path) -> None:
    acting = act_as(ground_of(base), replace(AGENT, folders=("../data",)))
    assert acting.add_dirs == (base / "data",)
    (base / "work" / "data").mkdir()
    elsewhere = act_as(ground_of(base), replace(AGENT, folders=("data",)), launch=base)
    assert elsewhere.add_dirs == (base / "data",), "they start at the folder of the definition"
    with pytest.raises(UsageProblem) as caught:
        act_as(ground_of(base), replace(AGENT, folders=("../nowhere",)))
    assert caught.value.key == "cli.bad_dir"


def test_memory_is_the_agents_own_and_none_where_it_has_none(base: Path) -> None:
    ground = ground_of(base)
    assert act_as(ground, AGENT).memory is not None
    assert act_as(ground, replace(AGENT, runner="codex")).memory is not None, "a program is lent its tools"
    assert act_as(ground, replace(AGENT, has_memory=False)).memory is None
    assert act_as(ground_of(base, settings={"memory": True}), replace(AGENT, has_memory=False)).memory is None
    assert ground.memory is None


# Who runs it --------------------------------------------------------------------------------------------------------

NICKNAMES = {
    "The Oracle": "anthropic/claude-opus-5",
    "Claude at work": {"runner": "claude-code", "model": "opus"},
    "Codex": {"runner": "codex"},
}


@pytest.mark.parametrize(
    ("options", "agent", "expected"),
    [
        (Options(), AGENT, RealModel("")),
        (Options(), replace(AGENT, runner="codex", model="gpt"), RealModel("gpt", "codex")),
        (Options(), replace(AGENT, model="claude AT work"), RealModel("opus", "claude-code")),
        (Options(), replace(AGENT, model="codex"), RealModel("", "codex")),
        (Options(), replace(AGENT, runner="claude-code", model="Claude at work"), RealModel("opus", "claude-code")),
        (Options(model="x"), replace(AGENT, runner="codex", model="gpt"), RealModel("x", "codex")),
        (Options(runtime="qwen"), replace(AGENT, runner="codex", model="gpt"), RealModel("", "qwen")),
        (Options(runtime="maia"), replace(AGENT, runner="codex", model="gpt"), RealModel("", "maia")),
        (Options(model="Codex"), None, RealModel("", "codex")),
        (Options(model="The oracle"), None, RealModel("anthropic/claude-opus-5")),
        (Options(), None, RealModel("")),
    ],
)
def test_options_win_over_the_agent_and_nicknames_name_the_runner(
    base: Path, options: Options, agent: AgentDefinition | None, expected: RealModel
) -> None:
    ground = ground_of(base, options, {"ModelNicknames": NICKNAMES})
    assert runner_of(act_as(ground, agent) if agent else ground) == expected


@pytest.mark.parametrize(
    ("options", "agent"),
    [
        (Options(), replace(AGENT, runner="codex", model="Claude at work")),
        (Options(), replace(AGENT, runner="codex", model="The Oracle")),
        (Options(runtime="codex", model="Claude at work"), AGENT),
        (Options(runtime="codex", model="The Oracle"), None),
    ],
)
def test_a_model_of_another_runner_is_an_error(base: Path, options: Options, agent: AgentDefinition | None) -> None:
    ground = ground_of(base, options, {"ModelNicknames": NICKNAMES})
    with pytest.raises(UsageProblem) as caught:
        runner_of(act_as(ground, agent) if agent else ground)
    assert caught.value.key == "agents.model.other_runner"


def test_a_key_that_is_not_there_is_named(base: Path) -> None:
    with pytest.raises(UsageProblem) as caught:
        act_as(ground_of(base), replace(AGENT, key="WORK_KEY"))
    assert (caught.value.key, caught.value.values) == ("agents.key.absent", {"variable": "WORK_KEY"})


def test_a_session_acts_as_the_agent_that_the_option_names(base: Path) -> None:
    ground = ground_of(base)
    create(agent_shelf(ground.folders), "critic", template("en", {}), {"nickname": "Zed", **WORDS}, "home")
    acting = ground_of(base, Options(agent="ZED", prompt="x"))
    assert acting.acting is not None
    assert acting.acting.agent.name == "critic"
    talk = build_conversation(acting)
    assert [row.name for row in talk.tools()][-2:] == ["MemoryStore", "MemorySearch"]
    with pytest.raises(UsageProblem):
        ground_of(base, Options(agent="nobody"))


WORDS = {"description": "x", "instructions": "y"}


# Trust --------------------------------------------------------------------------------------------------------------


def test_what_a_person_changes_keeps_the_trust_in_the_folder(base: Path) -> None:
    folders = ground_of(base).folders
    text = template("en", {})
    changing(folders, lambda shelf: create(shelf, "critic", text, {"nickname": "Zed", **WORDS}, "project"))
    changing(folders, lambda shelf: update(shelf, "zed", {"model": "x"}))
    changing(folders, lambda shelf: create_prompt(shelf, "zed", "review", "Review."))
    assert trust_state(folders.launch, folders.home).verdict == "trusted"
    assert find_agent(folders, "zed").model == "x"
    changing(folders, lambda shelf: delete(shelf, "zed"))
    assert trust_state(folders.launch, folders.home).verdict == "trusted"


def test_a_change_by_somebody_else_asks_again_and_no_change_of_ours_hides_it(base: Path) -> None:
    folders = ground_of(base).folders
    changing(folders, lambda shelf: create(shelf, "critic", template("en", {}), WORDS, "project"))
    file = folders.launch / ".maia" / "agents" / "critic" / "AGENT.md"
    file.write_text(file.read_text("utf-8").replace("y", "evil"), "utf-8")
    changing(folders, lambda shelf: create(shelf, "mine", template("en", {}), WORDS, "home"))
    assert trust_state(folders.launch, folders.home).verdict == "changed"
    with pytest.raises(UsageProblem) as caught:
        find_agent(folders, "critic")
    assert caught.value.key == "agents.untrusted"


def test_a_change_of_a_definition_hides_no_right_that_was_put_into_it_meanwhile(base: Path) -> None:
    folders = ground_of(base).folders
    changing(folders, lambda shelf: create(shelf, "critic", template("en", {}), WORDS, "project"))
    file = folders.launch / ".maia" / "agents" / "critic" / "AGENT.md"

    def raced(shelf: Shelf) -> Written:
        file.write_text(
            file.read_text("utf-8").replace("\n---\n", '\npermissions:\n  allow: ["Bash"]\n---\n', 1), "utf-8"
        )
        return update(shelf, "critic", {"model": "x"}, by_person=False)

    assert changing(folders, raced).agent.rules.allow == ("Bash",)
    assert trust_state(folders.launch, folders.home).verdict == "changed"


def test_the_start_log_says_as_whom_maia_acts(base: Path) -> None:
    acting = act_as(ground_of(base), AGENT).acting
    assert acting is not None
    assert acting.notices == (
        Notice("info", "agents.acts_as", {"nickname": "Zed", "file": AGENT.shown, "runner": "maia"}),
    )
