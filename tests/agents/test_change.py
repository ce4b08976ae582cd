from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.agents.change import CHANGEABLE, create, delete, removed, restore, revision_of, update, widening
from maia.agents.shelf import Shelf
from maia.agents.template import template
from maia.core.agent import AgentDefinition, AgentRules
from maia.core.errors import MaiaError, SettingsProblem, UsageProblem
from tests.agents.place import SECTIONS, World, written

TEMPLATE = template("en", {})
FIELDS: dict[str, Any] = {"description": "Reads.", "instructions": "Be careful."}


def made(world: World, name: str = "critic", level: Any = "home", **fields: Any) -> Path:
    return create(world.shelf(), name, TEMPLATE, {**FIELDS, **fields}, level).file


def test_a_new_agent_is_the_template_with_its_name(world: World) -> None:
    done = create(world.shelf(), "critic", TEMPLATE, {}, "project")
    assert done.file == world.project / ".maia" / "agents" / "critic" / "AGENT.md"
    assert done.file.read_text("utf-8") == TEMPLATE.replace("name: agent", "name: critic", 1)
    assert world.shelf().read().find("critic") == done.agent


def test_given_fields_stand_in_it_and_the_comments_stay(world: World) -> None:
    fields: dict[str, Any] = {
        "nickname": "🔥 The Chaos Prophet",
        "tools": ["Read"],
        "permissions": {"deny": ["Read(.env)"], "allow": []},
        "trace": True,
        "effort": "low",
        "missions": "Review.\n\n- twice",
    }
    file = made(world, **fields)
    agent = world.shelf().read().find("🔥 the chaos prophet")
    assert (agent.tools, agent.rules, agent.keeps_trace) == (("Read",), AgentRules(deny=("Read(.env)",)), True)
    assert (agent.instructions, agent.missions) == ("Be careful.", "Review.\n\n- twice")
    assert agent.output, "what was not given has usual words"
    assert "# Guide: docs/agents.md." in file.read_text("utf-8")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_what_a_client_gives_must_say_what_the_agent_does(world: World) -> None:
    with pytest.raises(UsageProblem) as caught:
        create(world.shelf(), "critic", TEMPLATE, {"nickname": "X"}, "home")
    assert caught.value.values == {"fields": "description, instructions"}
    assert not (world.home / ".maia" / "agents" / "critic").exists()


def test_nothing_is_ever_overwritten(world: World) -> None:
    made(world)
    for name, key in (("critic", "agents.exists"), ("CRITIC", "agents.taken")):
        with pytest.raises(UsageProblem) as caught:
            made(world, name)
        assert caught.value.key == key
    broken = world.put("home", "broken", "not a definition")
    with pytest.raises(UsageProblem) as caught:
        made(world, "broken")
    assert (caught.value.key, broken.read_text("utf-8")) == ("agents.exists", "not a definition")


def test_a_project_may_have_its_own_agent_of_a_name_of_home_and_not_the_other_way_round(world: World) -> None:
    made(world)
    made(world, level="project")
    assert world.shelf().read().find("critic").level == "project"
    made(world, "second", "project")
    with pytest.raises(UsageProblem) as caught:
        made(world, "second")
    assert caught.value.key == "agents.taken"


@pytest.mark.parametrize("nickname", ["critic", "Zed", "ＺＥＤ"])
def test_a_nickname_is_unique_over_all_names_and_nicknames(world: World, nickname: str) -> None:
    made(world, nickname="Zed")
    for change in (lambda: made(world, "other", "project", nickname=nickname), lambda: renamed(world, nickname)):
        with pytest.raises(UsageProblem) as caught:
            change()
        assert (caught.value.key, caught.value.values["other"]) == ("agents.taken", "critic")
    assert not (world.project / ".maia" / "agents" / "other" / "AGENT.md").exists()


def renamed(world: World, nickname: str) -> None:
    world.put("home", "third", written())
    update(world.shelf(), "third", {"nickname": nickname})


def test_a_field_is_changed_by_nickname_and_the_rest_keeps_its_bytes(world: World) -> None:
    text = written("nickname: Zed  # mine\ncolor: red\n")
    file = world.put("home", "critic", text)
    file.chmod(0o640)
    done = update(world.shelf(), "ZED", {"nickname": "Zoé", "output": "Short.", "model": "sonnet"})
    assert (done.agent.nickname, done.agent.output, done.agent.model) == ("Zoé", "Short.", "sonnet")
    expected = text.replace("Zed  #", "Zoé  #").replace("red\n", "red\nmodel: sonnet\n")
    assert file.read_text("utf-8") == expected.replace("### Output\nA list.\n", "### Output\n\nShort.\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    update(world.shelf(), "critic", {"model": None})
    assert world.shelf().read().find("critic").model == ""


def test_html_comments_of_a_section_stay_when_its_text_is_replaced(world: World) -> None:
    file = made(world)
    update(world.shelf(), "critic", {"instructions": "New.", "missions": "Other.\n\nTwo."})
    text = file.read_text("utf-8")
    for comment in ("<!-- Who the agent is", "<!-- What it is for", "<!-- What comes back"):
        assert text.count(comment) == 1
    agent = world.shelf().read().find("critic")
    assert (agent.instructions, agent.missions) == ("New.", "Other.\n\nTwo.")
    again = update(world.shelf(), "critic", {"instructions": "New.", "missions": "Other.\n\nTwo."})
    assert (again.agent, file.read_text("utf-8")) == (agent, text)


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"name": "x"}, "agents.unknown_field"),
        ({"tool": ["Read"]}, "agents.unknown_field"),
        ({"tools": "Read"}, ""),
        ({"tools": {"a": ["b"]}}, "agents.wrong_value"),
        ({"tools": [1]}, "agents.wrong_value"),
        ({"tools": ["a\nb"]}, "agents.wrong_value"),
        ({"nickname": "a\nb"}, "agents.wrong_value"),
        ({"nickname": True}, "agents.wrong_value"),
        ({"nickname": "\u202ex"}, "agents.bad.nickname_characters"),
        ({"instructions": None}, "agents.wrong_value"),
        ({"instructions": ""}, "agents.bad.section_empty"),
        ({"instructions": "x\n# Output\ny"}, "agents.bad.section_twice"),
        ({"output": "<!-- never closed"}, "agents.bad.section_empty"),
        ({"instructions": "a\n<!-- b -->\nc"}, "agents.not_told"),
        ({"description": ""}, "agents.bad.no_description"),
        ({"description": None}, "agents.bad.no_description"),
        ({"effort": "huge"}, "agents.bad.effort"),
        ({"runner": "nobody"}, "agents.bad.runner"),
        ({"key": "KEY_1"}, "agents.bad.key_itself"),
        ({"permissions": {"denied": ["x"]}}, "agents.wrong_value"),
        ({"permissions": {"deny": "x"}}, "agents.wrong_value"),
        ({"model": "\ud800"}, "agents.wrong_value"),
        ({"instructions": "x" * 300_000}, "agents.too_big"),
    ],
)
def test_a_change_that_does_not_do_is_refused_and_nothing_is_changed(
    world: World, fields: dict[str, Any], key: str
) -> None:
    text = written("nickname: Zed\n")
    file = world.put("home", "critic", text)
    if not key:
        update(world.shelf(), "critic", fields)
        return
    with pytest.raises(UsageProblem) as caught:
        update(world.shelf(), "critic", fields)
    assert caught.value.key == key
    assert file.read_text("utf-8") == text
    with pytest.raises(UsageProblem):
        create(world.shelf(), "new", TEMPLATE, {**FIELDS, **fields}, "home")
    assert not (world.home / ".maia" / "agents" / "new" / "AGENT.md").exists()


@pytest.mark.parametrize(
    ("fields", "wider"),
    [
        ({"asks_nothing": True}, "asks_nothing"),
        ({"permissions": {"allow": ["Bash(*)"], "deny": ["Read(.env)"]}}, "permissions.allow"),
        ({"permissions": {"deny": ["Read(x)"]}}, "permissions.deny"),
        ({"permissions": None}, "permissions.deny"),
        ({"folders": ["/"]}, "folders"),
        ({"key": "OTHER"}, "key"),
        ({"permissions": {"deny": ["Read(.env)", "Bash(*)"], "ask": ["Edit"]}}, ""),
        ({"tools": None}, "tools"),
        ({"tools": ["Read", "Bash"]}, "tools"),
        ({"skills": None}, "skills"),
        ({"skills": ["release", "deploy"]}, "skills"),
        ({"skills": ["release"], "tools": ["read"]}, ""),
        ({"model": "x", "runner": "codex", "instructions": "y"}, ""),
    ],
)
def test_only_a_person_may_let_an_agent_do_more(world: World, fields: dict[str, Any], wider: str) -> None:
    text = written("tools: [Read, Grep]\nskills: [release, notes]\npermissions:\n  deny: [Read(.env)]\n")
    file = world.put("home", "critic", text)
    if wider:
        with pytest.raises(UsageProblem) as caught:
            update(world.shelf(), "critic", fields, by_person=False)
        assert (caught.value.key, caught.value.values["fields"]) == ("agents.person_only", wider)
        assert file.read_text("utf-8") == text
        update(world.shelf(), "critic", fields)
    else:
        update(world.shelf(), "critic", fields, by_person=False)
    assert file.read_text("utf-8") != text


@pytest.mark.parametrize("lent", ["asks_nothing: true", "key: WORK_API_KEY"])
@pytest.mark.parametrize(("field", "value"), [("runner", "codex"), ("model", "Claude at work")])
def test_what_a_person_trusted_stays_with_the_runner_and_the_model_it_was_said_for(
    world: World, lent: str, field: str, value: str
) -> None:
    world.put("home", "critic", written(f"runner: claude-code\nmodel: opus\n{lent}\n"))
    with pytest.raises(UsageProblem) as caught:
        update(world.shelf(), "critic", {field: value}, by_person=False)
    assert (caught.value.key, caught.value.values["fields"]) == ("agents.person_only", field)
    update(world.shelf(), "critic", {"description": "new"}, by_person=False)


def test_a_new_agent_of_a_client_may_do_nothing_more_either(world: World) -> None:
    with pytest.raises(UsageProblem) as caught:
        create(world.shelf(), "critic", TEMPLATE, {**FIELDS, "asks_nothing": True}, "home", by_person=False)
    assert caught.value.key == "agents.person_only"
    assert widening(None, AgentDefinition("a", "a", "", "", asks_nothing=True, key="K")) == ("asks_nothing", "key")


def test_a_client_makes_no_agent_in_a_folder_that_nobody_trusts(world: World) -> None:
    with pytest.raises(UsageProblem) as caught:
        create(world.shelf(trusted=False), "critic", TEMPLATE, FIELDS, "project", by_person=False)
    assert caught.value.key == "agents.untrusted"
    assert not (world.project / ".maia" / "agents" / "critic").exists()
    create(world.shelf(trusted=False), "critic", TEMPLATE, FIELDS, "project")


def test_a_deleted_agent_lies_in_the_trash_with_its_prompts(world: World) -> None:
    for _ in range(2):
        file = world.put("project", "critic", written("nickname: Zed\n"))
        (file.parent / "prompts").mkdir()
        (file.parent / "prompts" / "review.md").write_text("x", "utf-8")
        there = delete(world.shelf(), "zed")
        assert there.parent == world.project / ".maia" / ".trash" / "agents"
        assert (there / "AGENT.md").is_file()
        assert (there / "prompts" / "review.md").is_file()
        assert not file.parent.exists()
    assert len(list((world.project / ".maia" / ".trash" / "agents").iterdir())) == 2
    assert (world.project / ".maia" / ".trash" / ".gitignore").read_text("ascii") == "*\n"


def test_an_agent_that_cannot_be_read_can_be_taken_away(world: World) -> None:
    world.put("home", "broken", "nothing")
    assert (delete(world.shelf(), "broken") / "AGENT.md").read_text("utf-8") == "nothing"
    with pytest.raises(UsageProblem):
        delete(world.shelf(), "broken")


def test_a_project_is_never_written_through_a_link(world: World, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (world.project / ".maia").symlink_to(elsewhere)
    with pytest.raises(SettingsProblem):
        made(world, level="project")
    (world.project / ".maia").unlink()
    world.put("project", "other", written())
    (world.project / ".maia" / "agents" / "critic").symlink_to(elsewhere)
    with pytest.raises(MaiaError):
        made(world, level="project")
    assert list(elsewhere.iterdir()) == []


def test_a_link_of_the_persons_own_stays_a_link(world: World, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.md"
    real.write_text(written(), "utf-8")
    file = world.put("home", "critic", "")
    file.unlink()
    file.symlink_to(real)
    update(world.shelf(), "critic", {"model": "x"})
    assert file.is_symlink()
    assert "model: x" in real.read_text("utf-8")


def test_a_file_that_somebody_else_changed_meanwhile_is_left_alone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = world.put("home", "critic", written())
    read = Shelf.read

    def later(shelf: Shelf) -> Any:
        return read(shelf)

    import maia.agents.change as change

    edited = change._edited  # pyright: ignore[reportPrivateUsage] - the moment between reading and writing

    def slow(*given: Any) -> str:
        text = edited(*given)
        file.write_text(written("color: blue\n"), "utf-8")
        return text

    monkeypatch.setattr(Shelf, "read", later)
    monkeypatch.setattr(change, "_edited", slow)
    with pytest.raises(SettingsProblem) as caught:
        update(world.shelf(), "critic", {"model": "x"})
    assert caught.value.key == "agents.changed"
    assert file.read_text("utf-8") == written("color: blue\n")


_MAKE = """
import sys
from pathlib import Path
from maia.agents.change import create, update
from maia.agents.shelf import Shelf
from maia.agents.template import template
from maia.core.errors import UsageProblem
shelf = Shelf.of(Path(sys.argv[1]), Path(sys.argv[2]), trusted=True)
who = sys.argv[3]
try:
    create(shelf, "same", template("en", {}), {"description": who, "instructions": "x"}, "home")
    print("made")
except UsageProblem as problem:
    print(problem.key)
for n in range(5):
    update(shelf, "shared", {"model" if who == "a" else "effort": str(n) if who == "a" else "low"})
"""


def test_two_processes_at_once_lose_nothing(world: World) -> None:
    world.put("home", "shared", written())
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", _MAKE, str(world.project), str(world.home), who],
            env=env,
            stdout=subprocess.PIPE,
            text=True,
        )
        for who in ("a", "b")
    ]
    said = [each.communicate(timeout=60)[0].strip() for each in started]
    assert [each.returncode for each in started] == [0, 0]
    assert sorted(said) == ["agents.exists", "made"]
    shared = world.shelf().read().find("shared")
    assert (shared.model, shared.effort) == ("4", "low")


def test_a_change_that_was_thought_for_another_text_is_refused(world: World) -> None:
    file = world.put("home", "critic", written())
    seen = revision_of(file.read_text("utf-8"))
    update(world.shelf(), "critic", {"model": "x"}, revision=seen)
    text = file.read_text("utf-8")
    with pytest.raises(SettingsProblem) as caught:
        update(world.shelf(), "critic", {"model": "y"}, revision=seen)
    assert (caught.value.key, file.read_text("utf-8")) == ("agents.changed", text)


def test_a_removed_agent_comes_back_whole_and_over_nothing(world: World) -> None:
    text = written("nickname: Zed\ncolor: red\n")
    kept: list[str] = []
    for n in range(2):
        world.put("home", "critic", text if n == 0 else written())
        kept.append(delete(world.shelf(), "critic").name)
    assert sorted(removed(world.shelf())) == sorted((each, "critic") for each in kept)
    assert restore(world.shelf(), kept[0]) == "critic"
    assert (world.home / ".maia" / "agents" / "critic" / "AGENT.md").read_text("utf-8") == text
    for each, key in ((kept[1], "agents.exists"), (kept[0], "agents.none_removed"), ("../x", "agents.none_removed")):
        with pytest.raises(UsageProblem) as caught:
            restore(world.shelf(), each)
        assert caught.value.key == key
    assert removed(world.shelf()) == [(kept[1], "critic")]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_text_of_several_lines_stands_in_the_header_as_people_write_it(world: World, newline: str) -> None:
    text = written("goal: old  # why\ncolor: red\n").replace("\n", newline)
    file = world.put("home", "critic", text)
    told = {"goal": "One.\n\n  - two", "backstory": "# a\n---\n...", "constraints": ["a, b", "c"]}
    update(world.shelf(), "critic", told)
    agent = world.shelf().read().find("critic")
    assert (agent.goal, agent.backstory, agent.constraints) == (told["goal"], told["backstory"], ("a, b", "c"))
    rows = ("goal: |-", "  One.", "", "    - two", "color: red", "backstory: |-", "  # a", "  ---", "  ...", "")
    assert newline.join(rows) in file.read_bytes().decode()
    update(world.shelf(), "critic", {"goal": "One.", "backstory": None, "constraints": None})
    assert file.read_bytes().decode() == text.replace("old  # why", "One.")


LINES = st.text(st.characters(blacklist_categories=["Cs", "Cc"], whitelist_characters="\n\t"), max_size=60)
SAID = st.characters(whitelist_categories=["L", "N", "P", "S", "Zs"])
WORDS = st.lists(st.text(SAID, min_size=1, max_size=12).filter(str.strip).map(str.strip), max_size=4)


@given(goal=LINES.map(str.strip), role=st.text(SAID, max_size=30).map(str.strip), able=WORDS)
def test_whatever_is_set_and_taken_out_again_leaves_the_file_as_it_was(goal: str, role: str, able: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder).resolve() / "project", Path(folder).resolve() / "home")
        header = "# mine\ncolor: [red,   blue]   # theirs\nx-unknown:\n  - 1   # one\n"
        text = written(header, SECTIONS + "\n```\n# Code\n```\n")
        file = world.put("home", "critic", text)
        try:
            update(world.shelf(), "critic", {"goal": goal, "role": role, "capabilities": able})
        except MaiaError:
            assert file.read_text("utf-8") == text
            return
        agent = world.shelf().read().find("critic")
        assert (agent.goal, agent.role, agent.capabilities) == (goal, role, tuple(able))
        update(world.shelf(), "critic", {"goal": None, "role": None, "capabilities": None})
        assert file.read_text("utf-8") == text


def test_an_agent_that_is_switched_off_is_kept_and_not_acted_as(world: World) -> None:
    world.put("home", "critic", written("nickname: Zed\n"))
    update(world.shelf(), "critic", {"enabled": False})
    agents = world.shelf().read()
    assert agents.find("zed").is_enabled is False
    with pytest.raises(UsageProblem) as caught:
        agents.ready("zed")
    assert (caught.value.key, caught.value.values["name"]) == ("agents.disabled", "Zed")
    with pytest.raises(UsageProblem):
        update(world.shelf(), "critic", {"enabled": True}, by_person=False)
    update(world.shelf(), "critic", {"enabled": None})
    assert world.shelf().read().ready("critic").name == "critic"


def test_every_field_of_the_header_but_the_name_can_be_changed() -> None:
    assert set(CHANGEABLE) == {
        "nickname", "description", "tools", "skills", "permissions", "model", "effort", "trace", "runner", "key",
        "folders", "memory", "asks_nothing", "group", "max_turns", "monthly_tokens", "type", "role", "goal",
        "backstory", "capabilities", "constraints", "avatar", "enabled", "instructions", "missions", "output",
    }  # fmt: skip
