from __future__ import annotations

from tests.permissions import everyday_lines, hostile
from tests.permissions.made import rules, shell

NARROW = rules(allow=hostile.RULES)
ALL_BUT_TOUCH = rules(allow=["Bash"], deny=["Bash(touch *)"])
EVERYDAY = rules(allow=everyday_lines.RULES)
BESIDE_DENIES = rules(
    allow=everyday_lines.RULES, deny=["Read(.env)", "Bash(rm -rf *)", "Bash(git push *)", "Edit(locked/**)"]
)


def test_what_a_narrow_rule_did_not_mean_asks() -> None:
    passed = [command for command in hostile.AGAINST_NARROW_RULES if shell(command, NARROW) != "ask"]
    assert passed == []


def test_a_denied_program_runs_in_none_of_them() -> None:
    passed = [command for command in hostile.AGAINST_A_DENY if shell(command, ALL_BUT_TOUCH) == "allow"]
    assert passed == []


def test_a_day_of_work_brings_no_question_that_its_rules_answer() -> None:
    asked = [line for line in everyday_lines.LINES if shell(line, EVERYDAY) != "allow"]
    assert asked == []


def test_denies_beside_them_bring_none_either() -> None:
    asked = [line for line in everyday_lines.LINES if shell(line, BESIDE_DENIES) != "allow"]
    assert asked == []
