"""The guide's own examples are true."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from maia.core.permission import Rule, Verdict
from maia.permissions.rules import parse_rule
from tests.permissions.made import SOURCE, rules, shell

DOCS = Path(__file__).parents[2] / "docs"
GUIDES = ("permissions.md", "permissions.fr.md")


def text_of(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


@pytest.mark.parametrize("name", GUIDES)
def test_the_table_of_the_hidden_command_is_true(name: str) -> None:
    in_force = rules(allow=["Bash(cat *)"], deny=["Bash(curl *)"])
    rows = re.findall(r"^\| `(.+)` \| (allow|ask|deny) \|", text_of(name), re.MULTILINE)
    assert len(rows) == 8
    assert [(command, shell(command.replace("\\|", "|"), in_force)) for command, _ in rows] == rows


@pytest.mark.parametrize("name", GUIDES)
def test_every_rule_in_the_guide_can_be_read(name: str) -> None:
    text = text_of(name)
    written = re.findall(r"`(?:allow: |ask: |deny: )?([A-Z]\w+\([^`]+\))`", text)
    written = [rule for rule in written if not rule.startswith(("Tool(", "Outil("))]
    assert len(written) > 40
    wrong = [rule for rule in written if not isinstance(parse_rule(rule, Verdict.ALLOW, SOURCE), Rule)]
    assert wrong == [rule for rule in wrong if rule in ("Redirect(path)", "Redirect(chemin)")]


@pytest.mark.parametrize("name", GUIDES)
def test_the_example_of_a_file_is_json(name: str) -> None:
    (block,) = re.findall(r"```json\n(.*?)```", text_of(name), re.DOTALL)
    assert set(json.loads(block)["permissions"]) == {"allow", "ask", "deny"}


def test_both_languages_have_the_same_sections_and_examples() -> None:
    headings = [re.findall(r"^(#+) ", text_of(name), re.MULTILINE) for name in GUIDES]
    assert headings[0] == headings[1]
    codes = [re.findall(r"^\| `(.+?)` \| (?:allow|ask|deny) \|", text_of(name), re.MULTILINE) for name in GUIDES]
    assert codes[0] == codes[1]


@pytest.mark.parametrize(
    ("name", "denies", "sandbox"),
    [
        ("permissions.md", "Denies are best effort", "The sandbox is the wall, and a separate layer"),
        (
            "permissions.fr.md",
            "Les interdictions sont du meilleur effort",
            "Le bac à sable est le mur, et une couche séparée",
        ),
    ],
)
def test_the_guide_says_that_denies_are_best_effort_and_names_the_sandbox(name: str, denies: str, sandbox: str) -> None:
    assert denies in text_of(name)
    assert sandbox in text_of(name)
