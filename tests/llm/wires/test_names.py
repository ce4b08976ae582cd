from __future__ import annotations

import json
import re
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.endings import Failure
from maia.core.messages import Message, ToolCallPart
from maia.llm.target import WireTarget
from maia.llm.wires.anthropic_messages import messages_body
from maia.llm.wires.names import IdForm, fit_id, fit_name
from maia.llm.wires.openai_chat import chat_body
from maia.llm.wires.quirks import Quirks, adapted
from tests.llm.wires.driving import ANTHROPIC, OPENAI, request, results, said, user

MISTRAL = WireTarget("mistral", "openai-chat", "https://api.mistral.ai/v1")

ACCEPTED: dict[IdForm, str] = {
    "any": r"(?s).+",
    "letters": r"[a-zA-Z0-9_-]+",
    "short": r"(?s).{1,40}",
    "nine": r"[a-zA-Z0-9]{9}",
}
ODD_IDS = ("call.1", "call_1", "call:1", "é" * 60, "c" * 41, "x__thought__" + "A" * 2000, "\ud800", "abcdefgh9")
ODD_NAMES = ("multi_tool_use.parallel", "psql postgresql://… " * 40, 'Read" path="a', "$READ", "…", "N" * 65)


@given(st.text(min_size=1, max_size=80), st.sampled_from(get_args(IdForm)))
def test_every_id_is_made_to_fit_the_same_each_time(call_id: str, form: IdForm) -> None:
    fitting = fit_id(call_id, form)
    assert re.fullmatch(ACCEPTED[form], fitting)
    assert fit_id(fitting, form) == fitting
    assert fit_id(call_id, form) == fitting


@pytest.mark.parametrize("form", get_args(IdForm))
def test_different_ids_stay_different(form: IdForm) -> None:
    assert len({fit_id(call_id, form) for call_id in ODD_IDS}) == len(ODD_IDS)


@given(st.text())
def test_every_name_is_made_to_fit(name: str) -> None:
    assert re.fullmatch("[a-zA-Z0-9_-]{1,64}", fit_name(name))


@pytest.mark.parametrize("name", ["Read", "mcp__server__tool-1"])
def test_the_name_of_a_tool_stays(name: str) -> None:
    assert fit_name(name) == name


def history() -> tuple[Message, ...]:
    """As another provider and a model that makes up tools left it."""
    calls = tuple(
        ToolCallPart(call_id, name, {}) for call_id, name in zip(ODD_IDS, (*ODD_NAMES, "Read", "Read"), strict=True)
    )
    return (user("a"), said("", *calls), results(*ODD_IDS))


def sent(body: Any) -> tuple[list[str], list[str], list[str]]:
    """Ids of the calls, ids of the results and names, as a body of either format has them."""
    calls = body["messages"][-1 - len(ODD_IDS)]["tool_calls"]
    ids, names = [call["id"] for call in calls], [call["function"]["name"] for call in calls]
    return ids, [message["tool_call_id"] for message in body["messages"][-len(ODD_IDS) :]], names


@pytest.mark.parametrize("form", get_args(IdForm))
def test_openai_gets_names_and_ids_that_fit_and_results_under_the_same_ids(form: IdForm) -> None:
    ids, answered, names = sent(chat_body(request(*history()), OPENAI, Quirks(call_ids=form)))
    assert ids == answered
    assert all(re.fullmatch(ACCEPTED[form], call_id) for call_id in ids)
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) for name in names)


def test_mistral_gets_its_nine_letters_without_a_refusal() -> None:
    ids, _, _ = sent(chat_body(request(*history()), MISTRAL, Quirks()))
    assert all(re.fullmatch(ACCEPTED["nine"], call_id) for call_id in ids)


def test_anthropic_gets_names_and_ids_that_fit_and_results_under_the_same_ids() -> None:
    _, answer, asked = json.loads(json.dumps(messages_body(request(*history()), ANTHROPIC, Quirks())))["messages"]
    ids = [block["id"] for block in answer["content"]]
    assert ids == [block["tool_use_id"] for block in asked["content"]]
    assert all(re.fullmatch(ACCEPTED["letters"], call_id) for call_id in ids)
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", block["name"]) for block in answer["content"])


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (
            "Invalid 'messages[10].tool_calls[0].id': string too long. Expected a string with maximum length 40, but "
            "got a string with length 46 instead.",
            "short",
        ),
        ("Tool call id was call_0fypS1hVX but must be a-z, A-Z, 0-9, with a length of 9.", "nine"),
        ("Invalid 'input[95].call_id': string too long. Expected a string with maximum length 64", "short"),
    ],
)
def test_an_endpoint_that_refuses_ids_gets_others_once(text: str, form: IdForm) -> None:
    failure = Failure("rejected", status=400, provider_text=text)
    learned = adapted(Quirks(), {"model": "m"}, failure)
    assert learned == Quirks(call_ids=form)
    assert adapted(learned, {"model": "m"}, failure) is None
