from __future__ import annotations

from pathlib import Path

import pytest

from maia.agents.prompts import Prompt, create_prompt, edit_prompt, prompt_names, read_prompt
from maia.core.errors import MaiaError, UsageProblem
from tests.agents.place import World, written


@pytest.fixture
def agent(world: World) -> World:
    world.put("home", "critic", written("nickname: Zed\n"))
    return world


def test_a_prompt_is_kept_beside_its_agent_listed_and_read(agent: World) -> None:
    made = create_prompt(agent.shelf(), "zed", "review", "Review {{file}} as {{ who }}: $ARGUMENTS")
    assert (made.placeholders, made.takes_arguments) == (("file", "who"), True)
    assert made.shown == "~/.maia/agents/critic/prompts/review.md"
    assert prompt_names(agent.shelf(), "critic") == ("review",)
    assert read_prompt(agent.shelf(), "Zed", "review") == made


def test_a_prompt_is_never_overwritten(agent: World) -> None:
    create_prompt(agent.shelf(), "critic", "review", "one")
    with pytest.raises(UsageProblem) as caught:
        create_prompt(agent.shelf(), "critic", "review", "two")
    assert caught.value.key == "agents.prompt.exists"
    assert read_prompt(agent.shelf(), "critic", "review").text == "one"


def test_an_edit_replaces_exactly_one_place_and_shows_what_changed(agent: World) -> None:
    create_prompt(agent.shelf(), "critic", "review", "one\ntwo\n")
    prompt, diff = edit_prompt(agent.shelf(), "critic", "review", old="two", new="three")
    assert prompt.text == "one\nthree\n"
    assert diff.splitlines()[2:] == ["@@ -1,2 +1,2 @@", " one", "-two", "+three"]
    prompt, diff = edit_prompt(agent.shelf(), "critic", "review", text="whole")
    assert read_prompt(agent.shelf(), "critic", "review").text == "whole"
    assert edit_prompt(agent.shelf(), "critic", "review", text="whole")[1] == ""


@pytest.mark.parametrize(
    ("old", "key"),
    [("x", "agents.prompt.not_found"), ("", "agents.prompt.not_found"), ("o", "agents.prompt.several")],
)
def test_an_edit_that_is_not_exact_changes_nothing(agent: World, old: str, key: str) -> None:
    create_prompt(agent.shelf(), "critic", "review", "one two")
    with pytest.raises(UsageProblem) as caught:
        edit_prompt(agent.shelf(), "critic", "review", old=old, new="y")
    assert caught.value.key == key
    assert read_prompt(agent.shelf(), "critic", "review").text == "one two"


@pytest.mark.parametrize(
    ("name", "text", "key"),
    [
        ("../x", "x", "agents.prompt.bad_name"),
        ("a/b", "x", "agents.prompt.bad_name"),
        ("ok", " \n", "agents.prompt.empty"),
        ("ok", "a\0b", "agents.prompt.characters"),
        ("ok", "\ud800", "agents.prompt.characters"),
        ("ok", "x" * 300_000, "agents.prompt.too_big"),
    ],
)
def test_what_is_no_prompt_is_refused(agent: World, name: str, text: str, key: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        create_prompt(agent.shelf(), "critic", name, text)
    assert caught.value.key == key
    assert prompt_names(agent.shelf(), "critic") == ()


def test_an_unknown_prompt_is_an_error_with_the_nearest(agent: World) -> None:
    with pytest.raises(UsageProblem) as caught:
        read_prompt(agent.shelf(), "critic", "review")
    assert caught.value.key == "agents.prompt.none"
    create_prompt(agent.shelf(), "critic", "review", "x")
    with pytest.raises(UsageProblem) as caught:
        read_prompt(agent.shelf(), "critic", "revue")
    assert caught.value.values["close"] == "review"


def test_prompts_of_a_project_lead_through_no_link(world: World, tmp_path: Path) -> None:
    file = world.put("project", "critic", written())
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret.md").write_text("x", "utf-8")
    (file.parent / "prompts").symlink_to(elsewhere)
    assert prompt_names(world.shelf(), "critic") == ()
    for attempt in (
        lambda: read_prompt(world.shelf(), "critic", "secret"),
        lambda: create_prompt(world.shelf(), "critic", "new", "x"),
    ):
        with pytest.raises(MaiaError) as caught:
            attempt()
        assert caught.value.key == "agents.link"
    assert [each.name for each in elsewhere.iterdir()] == ["secret.md"]


@pytest.mark.parametrize(
    ("text", "arguments", "values", "task"),
    [
        ("Do $ARGUMENTS now", "this", {}, "Do this now"),
        ("Do", "this", {}, "Do\n\nthis"),
        ("Do", "", {}, "Do"),
        ("{{a}}-{{ b }}-{{a}}", "", {"a": "{{b}}", "b": "$ARGUMENTS"}, "{{b}}-$ARGUMENTS-{{b}}"),
        ("$ARGUMENTSX {{}} {{1}}", "y", {}, "$ARGUMENTSX {{}} {{1}}"),
    ],
)
def test_places_are_filled_once_with_what_was_given(
    text: str, arguments: str, values: dict[str, str], task: str
) -> None:
    assert Prompt("p", text, "").filled(arguments, values) == task


@pytest.mark.parametrize(("values", "key"), [({}, "missing"), ({"a": "x", "b": "y"}, "stray")])
def test_a_place_without_a_value_or_a_value_without_a_place_is_an_error(values: dict[str, str], key: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        Prompt("p", "{{a}}", "").filled("", values)
    assert caught.value.key == f"agents.prompt.{key}"
