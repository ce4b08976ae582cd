from __future__ import annotations

import os
from pathlib import Path

import pytest

from maia.agents.document import MAX_BYTES
from maia.core.errors import MaiaError, SettingsProblem, UsageProblem
from maia.core.events import Notice
from tests.agents.place import World, written


def names(world: World, *, trusted: bool = True) -> list[tuple[str, str, str]]:
    agents = world.shelf(trusted=trusted).read()
    return [(agent.name, agent.nickname, agent.level) for agent in agents.found]


def test_agents_of_the_project_come_first_and_win(world: World) -> None:
    world.put("home", "critic", written("nickname: Old\n"))
    world.put("home", "zoe", written())
    world.put("project", "critic", written("nickname: New\n"))
    assert names(world) == [("critic", "New", "project"), ("zoe", "zoe", "home")]


def test_nothing_anywhere_is_no_agent_and_no_word(world: World) -> None:
    agents = world.shelf().read()
    assert (agents.found, agents.notices) == ((), ())


def test_a_folder_that_is_not_trusted_brings_no_agent(world: World) -> None:
    world.put("project", "critic", written("nickname: Evil\n"))
    world.put("home", "critic", written("nickname: Mine\n"))
    world.put("project", "other", written())
    assert names(world, trusted=False) == [("critic", "Mine", "home")]
    agents = world.shelf(trusted=False).read()
    assert agents.waiting == ("critic", "other")
    with pytest.raises(UsageProblem) as caught:
        agents.find("Other")
    assert caught.value.key == "agents.untrusted"


def test_the_home_folder_as_launch_folder_is_one_place(world: World) -> None:
    world.put("home", "critic", written())
    same = World(world.home, world.home)
    assert [agent.level for agent in same.shelf(trusted=False).read().found] == ["home"]


def test_an_agent_is_found_by_name_or_nickname_in_any_spelling(world: World) -> None:
    world.put("home", "chaos", written("nickname: Le Prophète du Chaos\n"))
    agents = world.shelf().read()
    for word in ("chaos", "CHAOS", "le prophe\u0300te  du chaos"):
        assert agents.find(word).name == "chaos"


def test_signs_and_emoji_of_a_nickname_need_not_be_typed_where_it_is_clear_who_is_meant(world: World) -> None:
    world.put("home", "a", written("nickname: 🔥 Zed!\n"))
    world.put("home", "b", written("nickname: ✨ Yan\n"))
    world.put("home", "c", written("nickname: Yan 🌙\n"))
    agents = world.shelf().read()
    assert agents.find("zed").name == "a"
    for unclear in ("yan", "🌙", "!"):
        with pytest.raises(UsageProblem):
            agents.find(unclear)


@pytest.mark.parametrize(
    ("word", "key", "close"),
    [
        ("prophet", "agents.unknown_near", "The Chaos Prophet"),
        ("chaso", "agents.unknown_near", "chaos"),
        ("zzz", "agents.unknown", "The Chaos Prophet"),
    ],
)
def test_an_unknown_agent_is_an_error_with_the_nearest_names(world: World, word: str, key: str, close: str) -> None:
    world.put("home", "chaos", written("nickname: The Chaos Prophet\n"))
    with pytest.raises(UsageProblem) as caught:
        world.shelf().read().find(word)
    assert caught.value.key == key
    assert close in str(caught.value.values)


def test_an_invalid_agent_is_skipped_with_a_warning_and_the_others_load(world: World) -> None:
    world.put("project", "bad", written("effort: huge\n"))
    world.put("home", "bad", written())
    world.put("project", "good", written("efort: low\n"))
    agents = world.shelf().read()
    assert [agent.name for agent in agents.found] == ["good"], "the home folder's one is not run in its place"
    file = "./.maia/agents/bad/AGENT.md"
    assert agents.notices == (
        Notice(
            "warn",
            "agents.doubtful_field",
            {"file": "./.maia/agents/good/AGENT.md", "line": 3, "field": "efort", "close": "effort"},
        ),
        Notice(
            "warn",
            "agents.bad.effort",
            {"file": file, "line": 3, "given": "huge", "known": "none, minimal, low, medium, high, xhigh, max"},
        ),
        Notice("warn", "agents.skipped", {"n": 1, "names": "bad"}),
    )
    with pytest.raises(SettingsProblem) as caught:
        agents.find("BAD")
    assert (caught.value.key, caught.value.values["file"]) == ("agents.bad.effort", file)


def test_a_nickname_that_another_agent_has_is_told_and_not_used(world: World) -> None:
    world.put("project", "a", written("nickname: Zed\n"))
    world.put("home", "b", written("nickname: ＺＥＤ\n"))
    world.put("home", "c", written("nickname: A\n"))
    agents = world.shelf().read()
    assert [(agent.name, agent.nickname) for agent in agents.found] == [("a", "Zed"), ("b", "b"), ("c", "c")]
    assert [notice.key for notice in agents.notices] == ["agents.nickname_taken"] * 2
    assert agents.find("zed").name == "a"


def test_a_project_leads_through_no_link_and_the_home_folder_may(world: World, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "AGENT.md").write_text(written(), "utf-8")
    for level in ("project", "home"):
        folder = (world.project if level == "project" else world.home) / ".maia" / "agents"
        folder.mkdir(parents=True)
        (folder / f"{level}_folder").symlink_to(elsewhere)
        (folder / f"{level}_file").mkdir()
        (folder / f"{level}_file" / "AGENT.md").symlink_to(elsewhere / "AGENT.md")
    agents = world.shelf().read()
    assert [agent.name for agent in agents.found] == ["home_file", "home_folder"]
    assert {name: notice.key for name, notice in agents.broken.items()} == {
        "project_file": "agents.link",
        "project_folder": "agents.link",
    }


@pytest.mark.parametrize("level", ["project", "home"])
def test_what_is_no_readable_file_is_a_warning_and_never_waited_for(world: World, level: str) -> None:
    big = world.put(level, "big", written())
    big.write_bytes(written().encode() + b"x" * MAX_BYTES)
    world.put(level, "folder", "").unlink()
    (big.parent.parent / "folder" / "AGENT.md").mkdir()
    world.put(level, "pipe", "").unlink()
    os.mkfifo(big.parent.parent / "pipe" / "AGENT.md")
    world.put(level, "latin", "").write_bytes(written().encode() + b"\xe9")
    (big.parent.parent / "gone").mkdir()
    (big.parent.parent / "gone" / "AGENT.md").symlink_to("nowhere")
    keys = {name: notice.key for name, notice in world.shelf().read().broken.items()}
    assert keys == {
        "big": "agents.too_big",
        "folder": "agents.not_a_file",
        "gone": "agents.link" if level == "project" else "agents.unreadable",
        "latin": "agents.bad.not_utf8",
        "pipe": "agents.not_a_file",
    }


def test_what_has_no_agents_name_is_no_agent(world: World) -> None:
    for name in (".trash", "a b", "con", "-x"):
        world.put("home", name, written())
    (world.home / ".maia" / "agents" / "stray.md").write_text("x", "utf-8")
    (world.home / ".maia" / "agents" / "empty").mkdir()
    agents = world.shelf().read()
    assert (agents.found, agents.notices) == ((), ())


def test_more_agents_than_anybody_has_are_left_out_and_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maia.agents.shelf.MOST_AGENTS", 2)
    for name in "abcd":
        world.put("home", name, written())
    agents = world.shelf().read()
    assert [agent.name for agent in agents.found] == ["a", "b"]
    assert agents.notices == (Notice("warn", "agents.many", {"folder": "~/.maia/agents", "most": 2, "n": 2}),)


def test_every_problem_has_its_words(world: World) -> None:
    from maia.i18n.catalogue import Catalogue

    world.put("home", "bad", "")
    problem: MaiaError | None = None
    for word in ("bad", "nobody"):
        try:
            world.shelf().read().find(word)
        except MaiaError as caught:
            problem = caught
        assert problem is not None
        assert Catalogue("fr", strict=True)(problem.key, **problem.values)
