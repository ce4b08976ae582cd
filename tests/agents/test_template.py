from pathlib import Path

import pytest

from maia.agents.change import create
from maia.agents.template import template
from maia.core.errors import SettingsProblem
from tests.agents.place import World, written


def test_a_person_may_have_a_template_of_their_own(world: World, tmp_path: Path) -> None:
    env = {"MAIA_RESSOURCES": str(tmp_path)}
    (tmp_path / "AGENT.md").write_text(written("color: blue  # mine\n"), "utf-8")
    assert template("fr", env) == written("color: blue  # mine\n")
    (tmp_path / "AGENT.fr.md").write_text(written("color: bleu\n"), "utf-8")
    assert "bleu" in template("fr", env)
    done = create(world.shelf(), "critic", template("en", env), {}, "home")
    assert "color: blue  # mine\nname: critic\n" in done.file.read_text("utf-8")


def test_a_template_that_cannot_be_used_is_told_and_makes_nothing(world: World, tmp_path: Path) -> None:
    env = {"MAIA_RESSOURCES": str(tmp_path / "nowhere")}
    with pytest.raises(SettingsProblem) as caught:
        template("en", env)
    assert caught.value.key == "agents.template"
    (tmp_path / "AGENT.md").write_bytes(b"\xff")
    with pytest.raises(SettingsProblem):
        template("en", {"MAIA_RESSOURCES": str(tmp_path)})
    assert world.shelf().read().found == ()


def test_the_programs_template_is_in_both_languages() -> None:
    assert template("fr", {}) != template("en", {})
    assert template("de", {}) == template("en", {})
