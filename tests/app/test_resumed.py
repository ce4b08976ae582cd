"""What a person is told when a session that a program answered goes on without it."""

import pytest

from maia.app.resumed import told_of_program
from maia.core.events import Notice
from maia.i18n.catalogue import LANGUAGES, Catalogue
from maia.llm.binding import Choice
from maia.llm.models import ModelInfo

GPT = ModelInfo("gpt-5", "openai")


def gone(resumed: str) -> Choice:
    return Choice(GPT, "default", (), (Notice("warn", "models.resumed_gone", {"name": resumed}),))


@pytest.mark.parametrize(
    "resumed",
    [
        pytest.param("claude-code-cli/default", id="a conversation of the workspace"),
        pytest.param("claude-code/sonnet", id="a session of a terminal"),
    ],
)
def test_where_a_program_answered_its_name_and_the_way_back_to_it_are_told(resumed: str) -> None:
    values = {"program": "Claude Code", "name": "claude-code", "model": "openai/gpt-5"}
    told = Choice(GPT, "default", (), (Notice("warn", "runtime.answered_session", values),))
    assert told_of_program(gone(resumed), resumed) == told
    for lang in LANGUAGES:
        assert "--runtime claude-code" in Catalogue(lang)("runtime.answered_session", **values)


@pytest.mark.parametrize(
    ("choice", "resumed"),
    [
        pytest.param(gone("work/gpt-6"), "work/gpt-6", id="a model of a server"),
        pytest.param(Choice(GPT, "option"), "claude-code-cli/default", id="another was asked for"),
        pytest.param(gone("default"), "default", id="no provider is known"),
    ],
)
def test_any_other_choice_is_told_as_it_is(choice: Choice, resumed: str) -> None:
    assert told_of_program(choice, resumed) == choice
