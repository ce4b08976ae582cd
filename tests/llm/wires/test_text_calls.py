from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.events import ReasoningDelta, TextDelta, WireAnswer, WireEvent
from maia.core.messages import ReasoningPart, TextPart, ToolCallPart
from maia.llm.wires.answer import Answer
from maia.llm.wires.textcalls import may_become_call, text_calls
from maia.llm.wires.thinking import Piece, ThinkSplitter
from tests.llm.wires.driving import counting_ids, request

OFFERED = {"Read", "Bash"}
READ_A = '{"name": "Read", "arguments": {"path": "a"}}'
BASH_B = '{"name": "Bash", "arguments": {"command": "b"}}'
CALLS: list[tuple[str, Any]] = [("Read", {"path": "a"}), ("Bash", {"command": "b"})]

TEXTS = [
    ("a bare object", READ_A, CALLS[:1]),
    ("a json block", f"```json\n{READ_A}\n```", CALLS[:1]),
    ("a block without a language", f"```\n{READ_A}\n```", CALLS[:1]),
    ("a block over several lines", '```json\n{\n  "name": "Read",\n  "arguments": {\n    "path": "a"\n  }\n}\n```', [
        ("Read", {"path": "a"})]),
    ("two blocks in a row", f"```json\n{READ_A}\n```\n```json\n{BASH_B}\n```", CALLS),
    ("two objects in a row", f"{READ_A}\n{BASH_B}", CALLS),
    ("two objects in one block", f"```json\n{READ_A}\n{BASH_B}\n```", CALLS),
    ("a list", f"[{READ_A}, {BASH_B}]", CALLS),
    ("tags", f"<tool_call>\n{READ_A}\n</tool_call>", CALLS[:1]),
    ("two tags", f"<tool_call>\n{READ_A}\n</tool_call>\n<tool_call>\n{BASH_B}\n</tool_call>", CALLS),
    ("a tag that is never closed", f"<tool_call>\n{READ_A}", CALLS[:1]),
    ("parameters instead of arguments", '{"name": "Read", "parameters": {"path": "a"}}', CALLS[:1]),
    ("arguments as text", '{"name": "Read", "arguments": "{\\"path\\": \\"a\\"}"}', CALLS[:1]),
    ("as the API writes it", '{"type": "function", "function": {"name": "Read", "arguments": {"path": "a"}}}', [
        ("Read", {"path": "a"})]),
    ("blanks around", f"\n\n  {READ_A}\n ", CALLS[:1]),
    ("words before stay text", f"I will read it.\n{READ_A}", []),
    ("words after stay text", f"{READ_A}\nDone.", []),
    ("a tool that was not offered stays text", '{"name": "Nope", "arguments": {}}', []),
    ("one of two not offered stays text", f'{READ_A}\n{{"name": "Nope", "arguments": {{}}}}', []),
    ("no arguments stays text", '{"name": "Read"}', []),
    ("arguments of another kind stay text", '{"name": "Read", "arguments": [1]}', []),
    ("further keys stay text", '{"name": "Read", "arguments": {}, "version": "1.0"}', []),
    ("cut JSON stays text", READ_A[:-2], []),
    ("another language stays text", f"```python\n{READ_A}\n```", []),
    ("other JSON stays text", '{"answer": 42}', []),
    ("words stay text", "Hello.", []),
    ("nothing stays nothing", "", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "calls"), [t[1:] for t in TEXTS], ids=[t[0] for t in TEXTS])
def test_only_a_text_that_is_nothing_but_calls_of_offered_tools_becomes_calls(text: str, calls: list[Any]) -> None:
    assert [(call.name, call.arguments) for call in text_calls(text, OFFERED)] == calls


@pytest.mark.parametrize("text", [t[1] for t in TEXTS if t[2]], ids=[t[0] for t in TEXTS if t[2]])
def test_every_beginning_of_a_call_is_held_back(text: str) -> None:
    assert all(may_become_call(text[:end]) for end in range(len(text)))


@pytest.mark.parametrize(
    "text", ["Hello", "# T", "```python\n", "```js\n", "{x", '{"path"', "[link](x)", "[1]", "<div>", "<t>", "``x", "1"]
)
def test_other_beginnings_are_shown_at_once(text: str) -> None:
    assert not may_become_call(text)


def end_of(text: str, size: int, tools: bool = True) -> tuple[list[WireEvent], WireAnswer]:
    asked = request() if tools else request(tools=())
    answer = Answer(asked, wire="w", provider="p", new_id=counting_ids())
    events = [event for start in range(0, len(text), size) for event in answer.text(text[start : start + size])]
    events += answer.end("end", "stop")
    last = events[-1]
    assert isinstance(last, WireAnswer)
    return events, last


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(("text", "calls"), [t[1:] for t in TEXTS], ids=[t[0] for t in TEXTS])
def test_the_deltas_of_an_answer_are_its_text_whether_it_holds_calls_or_not(
    text: str, calls: list[Any], size: int
) -> None:
    events, last = end_of(text, size)
    shown = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert shown == ("" if calls else text)
    assert [(p.name, p.arguments) for p in last.message.parts if isinstance(p, ToolCallPart)] == calls
    assert "".join(p.text for p in last.message.parts if isinstance(p, TextPart)) == shown
    assert (last.stop, last.raw_stop) == ("tool_calls" if calls else "end", "stop")


def test_many_blanks_do_not_hold_an_answer_back() -> None:
    answer = Answer(request(), wire="w", provider="p")
    assert answer.text("\n" * 100) == []
    assert answer.text("Yes") == [TextDelta("\n" * 100 + "Yes")]


def test_without_tools_a_call_in_the_text_is_text() -> None:
    _, last = end_of(READ_A, 5, tools=False)
    assert last.message.parts == (TextPart(READ_A),)


def test_a_call_after_thinking_is_found() -> None:
    _, last = end_of(f"<think>\nLet me look.\n</think>\n\n{READ_A}", 4)
    assert last.message.parts == (
        ReasoningPart("Let me look.\n", "w"),
        ToolCallPart("new_1", "Read", {"path": "a"}),
    )


THOUGHTS = [
    ("tags at the start", "<think>\nhm\n</think>\n\nYes.", ("hm\n", "Yes.")),
    ("blanks before", "\n <think>hm</think>Yes.", ("hm", "Yes.")),
    ("the longer tag", "<thinking>hm</thinking>Yes.", ("hm", "Yes.")),
    ("empty thinking", "<think>\n\n</think>\n\nYes.", ("", "Yes.")),
    ("never closed", "<think>hm < hm", ("hm < hm", "")),
    ("half a closing tag at the end", "<think>hm</thi", ("hm</thi", "")),
    ("another tag inside", "<think>a</b></think>Yes.", ("a</b>", "Yes.")),
    ("only thinking", "<think>hm</think>", ("hm", "")),
    ("in the middle it is text", "Use <think>x</think>.", ("", "Use <think>x</think>.")),
    ("a second one is text", "<think>a</think>b<think>c</think>", ("a", "b<think>c</think>")),
    ("another tag is text", "<thing>a</thing>", ("", "<thing>a</thing>")),
    ("half a tag is text", "<thi", ("", "<thi")),
    ("blanks alone are text", " \n", ("", " \n")),
    ("text", "Yes.", ("", "Yes.")),
]


@pytest.mark.parametrize(("text", "expected"), [t[1:] for t in THOUGHTS], ids=[t[0] for t in THOUGHTS])
def test_thinking_in_tags_is_told_apart_wherever_the_stream_is_cut(text: str, expected: tuple[str, str]) -> None:
    for cut in range(len(text) + 1):
        for chunks in ([text[:cut], text[cut:]], list(text)):
            splitter = ThinkSplitter()
            pieces = [piece for chunk in chunks for piece in splitter.feed(chunk)] + splitter.flush()
            assert (joined(pieces, "reasoning"), joined(pieces, "text")) == expected


def joined(pieces: list[Piece], kind: str) -> str:
    return "".join(piece.text for piece in pieces if piece.kind == kind)


@given(st.lists(st.sampled_from(["<", "think", ">", "</think>", "<think>", "a", "\n", " "]), max_size=12))
def test_nothing_is_lost_but_tags_and_the_blanks_around_them(chunks: list[str]) -> None:
    splitter = ThinkSplitter()
    pieces = [piece for chunk in chunks for piece in splitter.feed(chunk)] + splitter.flush()
    text = "".join(chunks)
    kept = "".join(piece.text for piece in pieces)
    if not splitter.tag:
        assert kept == text
    else:
        plain = text.lstrip().removeprefix("<think>").replace("</think>", "", 1)
        assert "".join(kept.split()) == "".join(plain.split())


def test_thinking_is_shown_as_it_comes() -> None:
    answer = Answer(request(), wire="w", provider="p")
    assert answer.text("<think>one ") == [ReasoningDelta("one ")]
    assert answer.text("two</thi") == [ReasoningDelta("two")]
    assert answer.text("nk>") == []
    assert answer.text("\nYes") == [TextDelta("Yes")]
