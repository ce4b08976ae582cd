"""What Providers lists of an agent program before it was ever started."""

import pytest

from maia.app.supply import models_of_program
from maia.runtimes.programs import BY_NAME


@pytest.mark.parametrize(
    ("program", "windows"),
    [
        pytest.param("claude-code", {200_000}, id="Claude Code"),
        pytest.param("opencode", {None}, id="one that says nothing of its models"),
    ],
)
def test_entries_of_claude_code_list_200k_before_it_tells_its_models(program: str, windows: set[int | None]) -> None:
    listed = models_of_program(BY_NAME[program], program)
    assert {each.window for each in listed} == windows
    assert listed[0].id == "default"
