from typing import Any

import pytest

from maia.core.errors import ArgumentProblem, ToolProblem
from maia.tools.ask_user import AskUserArgs, AskUserTool

TOOL = AskUserTool()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"question": " Which one? "}, AskUserArgs("Which one?", ())),
        ({"text": "Which one?", "choices": ["A", "B", "A", " ", 3]}, AskUserArgs("Which one?", ("A", "B"))),
        ({"question": "x" * 2_000, "options": ["y" * 200] * 2}, AskUserArgs("x" * 2_000, ("y" * 200,))),
    ],
)
def test_a_question_is_read_with_the_answers_that_can_be_shown(arguments: Any, expected: AskUserArgs) -> None:
    assert TOOL.parse(arguments) == expected


@pytest.mark.parametrize(
    "arguments",
    [
        {"question": "  "},
        {"question": "x" * 2_001},
        {"question": "x", "options": [str(n) for n in range(7)]},
        {"question": "x", "options": ["y" * 201]},
        {},
    ],
)
def test_what_nobody_can_be_shown_is_refused(arguments: Any) -> None:
    with pytest.raises((ToolProblem, ArgumentProblem)):
        TOOL.parse(arguments)
