from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.permissions.made import rules, shell

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "cases" / "shell-permissions.json").read_text("utf-8")
)["cases"]

HARDENED = {"a52": "ask"}
"""Where the file leaves the choice: what `find -exec` runs needs a rule of its own."""


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_a_published_case_gets_its_verdict(case: dict[str, Any]) -> None:
    in_force = rules(allow=case["allow"], ask=case["ask"], deny=case["deny"])
    assert shell(case["command"], in_force) == HARDENED.get(case["id"], case["expect"]), case["why"]


def test_a_hardened_case_is_one_that_may_be() -> None:
    assert all("harden" in case["why"] for case in CASES if case["id"] in HARDENED)
