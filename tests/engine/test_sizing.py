"""How much room the parts of a prompt get, and what rides on a message."""

from pathlib import Path

import pytest

from maia.core.messages import AssistantMessage, Message, TextPart, UserMessage
from maia.core.requests import Section
from maia.engine.context import Assembler, base_sections
from maia.engine.preface import place_of_message, with_preface
from maia.engine.sizing import growth, sized
from tests.engine.doubles import FakeTool

FIXED = tuple(Section(name, "w" * 1_000, "maia") for name in ("identity", "rules", "working-folders", "runtime"))
LONG = (Section("agent", "a" * 100_000), Section("project-prompt", "q" * 100_000), Section("project", "p" * 100_000))
CLOCK = Section("turn-time", "It is noon.")


@pytest.mark.parametrize(
    ("window", "agent", "prompt", "project"),
    [
        pytest.param(None, 16_000, 8_000, 24_000, id="nobody knows the window"),
        pytest.param(29_000, 16_000, 8_000, 24_000, id="as usual from 29k on"),
        pytest.param(100_000, 16_000, 8_000, 24_000, id="the standard"),
        pytest.param(200_000, 32_000, 16_000, 48_000, id="twice"),
        pytest.param(250_000, 40_000, 20_000, 60_000, id="two and a half times"),
        pytest.param(1_000_000, 40_000, 20_000, 60_000, id="and never more"),
    ],
)
def test_what_may_be_cut_follows_the_window_of_the_model(
    window: int | None, agent: int, prompt: int, project: int
) -> None:
    made = sized((*FIXED, *LONG), window)
    assert made[:4] == FIXED, "who it is, its rules and where it runs are never cut"
    for each, size in zip(made[4:], (agent, prompt, project), strict=True):
        assert size - 10 <= len(each.text) <= size
        assert each.cut_chars >= 100_000 - size


@pytest.mark.parametrize("window", [8_000, 16_000, 28_000])
def test_a_small_window_keeps_room_for_the_conversation(window: int) -> None:
    made = sized((*FIXED, *LONG), window, lambda: 4_000)
    assert sum(len(each.text) for each in made) + 4_000 <= 0.35 * window * 4
    assert made[:4] == FIXED


def test_where_even_the_fixed_parts_fill_it_the_others_are_left_out_and_say_so() -> None:
    assert sized((*FIXED, *LONG), 2_000)[4:] == tuple(Section(each.name, "", "", 100_000) for each in LONG)


def test_what_fits_is_left_as_it_is() -> None:
    short = (Section("project", "Use tabs.", "MAIA.md", 3),)
    assert sized(short, 8_000) == short
    assert growth(None) == 1.0


def test_the_clock_stands_in_the_prompt_of_the_terminal_alone() -> None:
    from datetime import date

    today = date(2026, 12, 4)
    terminal = base_sections(Path("/w"), (), today=today)
    workspace = base_sections(Path("/w"), (Path("/x"),), door="workspace")
    assert [each.name for each in workspace] == ["identity", "rules", "working-folders", "runtime"]
    assert "2026-12-04" in terminal[-1].text
    assert not any("2026" in each.text or "Today" in each.text for each in workspace)
    assert workspace == base_sections(Path("/w"), (Path("/x"),), door="workspace"), "the same from turn to turn"
    assert "terminal" not in workspace[0].text


@pytest.mark.parametrize(
    ("history", "place"),
    [
        pytest.param((), 0, id="the first"),
        pytest.param((UserMessage((TextPart("a"),)), AssistantMessage((TextPart("b"),))), 2, id="after an answer"),
        pytest.param((UserMessage((TextPart("a"),)),), 0, id="joined to one that was never answered"),
    ],
)
def test_what_rides_on_a_message_is_in_front_of_it_and_of_no_other(history: tuple[Message, ...], place: int) -> None:
    assert place_of_message(history) == place
    asked = UserMessage((TextPart("now"),))
    messages: tuple[Message, ...] = (*history[:place], asked, AssistantMessage((TextPart("c"),)))
    sent = with_preface(messages, place, (CLOCK,))
    assert sent[place] == UserMessage((TextPart("It is noon."), TextPart("now")))
    assert (sent[:place], sent[place + 1 :]) == (messages[:place], messages[place + 1 :])
    assert messages[place] is asked, "what is kept is not changed"
    assert with_preface(messages, place, ()) is messages


def test_a_tool_under_two_names_is_told_once() -> None:
    tool = FakeTool("MemorySearch")
    assert Assembler((), {"MemorySearch": tool, "search_memory": tool}).specs() == (tool.spec,)
