"""Every event survives being written as JSON and read back."""

from __future__ import annotations

import json
import typing
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core import events
from maia.core.codec import UnreadableEvent, dump_event, load_event, to_json
from maia.core.costs import Cost, Usage
from maia.core.endings import Failure
from maia.core.events import Answered, Notice, TextDelta, ToolCallFinished, TurnEnded
from maia.core.jsonvalue import JsonObject
from maia.core.messages import AssistantMessage, TextPart, ToolCallPart
from maia.core.results import DiffBlock

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
st.register_type_strategy(dict, st.dictionaries(st.text(), json_values, max_size=3))


def strategy(hint: typing.Any) -> st.SearchStrategy[typing.Any]:
    if hint == JsonObject:
        return st.dictionaries(st.text(), json_values, max_size=3)
    if typing.get_origin(hint) is tuple:
        return st.lists(strategy(typing.get_args(hint)[0]), max_size=2).map(tuple)
    if hint is float:
        return st.floats(allow_nan=False, allow_infinity=False)
    if is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        return st.builds(hint, **{field.name: strategy(hints[field.name]) for field in fields(hint)})
    if args := typing.get_args(hint):
        if typing.get_origin(hint) is typing.Literal:
            return st.sampled_from(args)
        return st.one_of([strategy(arg) for arg in args])
    return st.from_type(hint)


@pytest.mark.parametrize("cls", typing.get_args(events.Event), ids=lambda cls: cls.__name__)
def test_an_event_comes_back_as_it_was(cls: type) -> None:
    @given(strategy(cls))
    def check(event: events.Event) -> None:
        line = dump_event(event)
        assert "\n" not in line
        assert load_event(json.loads(line)) == event

    check()


def test_names_travel_in_camel_case_and_unions_say_their_type() -> None:
    message = AssistantMessage((TextPart("x"), ToolCallPart("c", "Read", {"path": "a"})), "m", "p")
    event = Answered(message, "tool_calls", "tool_use", Usage(1, 2, 3, 4, 5), Cost(0.5, "reported"))
    assert to_json(event) == {
        "type": "Answered",
        "message": {
            "parts": [
                {"type": "TextPart", "text": "x"},
                {"type": "ToolCallPart", "callId": "c", "name": "Read", "arguments": {"path": "a"}},
            ],
            "model": "m",
            "provider": "p",
        },
        "stop": "tool_calls",
        "rawStop": "tool_use",
        "usage": {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "reasoning": 5},
        "cost": {"usd": 0.5, "source": "reported"},
        "partial": False,
        "isBookedLater": False,
    }


def test_what_a_newer_version_added_is_left_out() -> None:
    assert load_event({"type": "TextDelta", "text": "x", "colour": "red"}) == TextDelta("x")
    assert load_event({"type": "SomethingNew", "text": "x"}) is None


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "TextDelta",
        {"text": "x"},
        {"type": "TextDelta"},
        {"type": "TextDelta", "text": 5},
        {"type": "Notice", "level": "loud", "key": "k"},
        {"type": "Notice", "level": "info", "key": True},
        {"type": "ToolCallFinished", "callId": "c", "name": "n", "status": "succeeded", "text": "t", "blocks": [{}]},
        {"type": "ToolCallFinished", "callId": "c", "name": "n", "status": "succeeded", "text": "t", "blocks": 3},
    ],
    ids=repr,
)
def test_a_broken_event_is_told_apart(data: object) -> None:
    with pytest.raises(UnreadableEvent):
        load_event(data)


def test_a_lone_surrogate_never_breaks_the_file() -> None:
    assert dump_event(TextDelta("a\ud800b")) == '{"type":"TextDelta","text":"a?b"}'


def test_defaults_may_be_missing() -> None:
    assert load_event({"type": "Notice", "level": "info", "key": "k"}) == Notice("info", "k")
    event = ToolCallFinished("c", "Edit", "succeeded", "ok", blocks=(DiffBlock("p", "a", "b"),))
    data = to_json(event)
    del data["summary"], data["data"], data["duration"]
    assert load_event(data) == event


def test_an_end_with_a_failure_comes_back() -> None:
    end = TurnEnded("failed", "unknown", "", None, Cost(), "m", "p", 1, 0, 0, 1.5, Failure("auth", "h", 401))
    assert load_event(json.loads(dump_event(end))) == end
