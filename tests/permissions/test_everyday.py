from __future__ import annotations

from pathlib import Path

import pytest

from maia.permissions.paths import Place
from tests.permissions.everyday import EVERYDAY, RULES
from tests.permissions.made import rules, shell

LIMIT = 0.02


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    launch = tmp_path_factory.mktemp("launch")
    for name in ("src", "out", "tests", ".venv/bin"):
        (launch / name).mkdir(parents=True)
    return Place(launch, Path("/nonexistent/home"), fold_case=False)


def test_everyday_commands_that_plain_rules_cover_are_not_asked_about(place: Place) -> None:
    in_force = rules(allow=RULES)
    asked = [command for command in EVERYDAY if shell(command, in_force, place) != "allow"]
    assert len(EVERYDAY) >= 100
    assert len(asked) / len(EVERYDAY) < LIMIT, asked


def test_a_narrow_deny_beside_them_brings_no_questions(place: Place) -> None:
    in_force = rules(allow=RULES, deny=["Bash(rm -rf *)", "Bash(git push *)", "Read(.env)", "Redirect(.env)"])
    asked = [command for command in EVERYDAY if shell(command, in_force, place) != "allow"]
    assert len(asked) / len(EVERYDAY) < LIMIT, asked


def test_with_all_of_bash_allowed_and_a_deny_they_are_not_asked_about_either(place: Place) -> None:
    in_force = rules(
        allow=["Bash", "Redirect(out/**)", "Redirect(*.log)"], deny=["Bash(git push *)"], ask=["Bash(sudo rm *)"]
    )
    asked = [command for command in EVERYDAY if shell(command, in_force, place) != "allow"]
    assert set(asked) <= {"source .venv/bin/activate && pytest -q"}, "what a sourced file does is not known"


def test_without_rules_every_one_of_them_asks(place: Place) -> None:
    assert {shell(command, rules(), place) for command in EVERYDAY} == {"ask"}
