from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.events import BrokenCall
from maia.core.jsonvalue import JsonValue
from maia.core.messages import ToolCallPart
from maia.llm.assemble import CallDrafts, known_name, likely_cut, read_arguments, taken_ids
from tests.llm.wires.driving import called, counting_ids, results, said, user

Fragment = dict[str, Any]
A, B = '{"path": "a"}', '{"path": "b"}'


def f(index: int | None = None, call_id: str = "", name: str = "", arguments: JsonValue = None) -> Fragment:
    return {"index": index, "call_id": call_id, "name": name, "arguments": arguments}


def assemble(fragments: list[Fragment], **finish: bool) -> tuple[list[tuple[str, str, Any]], list[BrokenCall]]:
    drafts = CallDrafts({"Read", "Bash", "CurrentModel"}, new_id=counting_ids())
    for fragment in fragments:
        drafts.add(**fragment)
    calls, broken = drafts.finish(**finish)
    return [(c.call_id, c.name, c.arguments) for c in calls], list(broken)


ONE = [("c1", "Read", {"path": "a"})]
TWO = [("c1", "Read", {"path": "a"}), ("c2", "Read", {"path": "b"})]

SHAPES = [
    ("id and name only in the first fragment", [f(0, "c1", "Read", ""), f(0, "", "", A[:5]), f(0, "", "", A[5:])], ONE),
    ("id and name repeated in each fragment", [f(0, "c1", "Read", A[:5]), f(0, "c1", "Read", A[5:])], ONE),
    ("name repeated, id only first", [f(0, "c1", "Read", A[:5]), f(0, "", "Read", A[5:])], ONE),
    ("id repeated, name only first", [f(0, "c1", "Read", A[:5]), f(0, "c1", "", A[5:])], ONE),
    ("the whole call in one fragment", [f(0, "c1", "Read", A), f(1, "c2", "Read", B)], TWO),
    ("two calls interleaved by index", [
        f(0, "c1", "Read", A[:4]), f(1, "c2", "Read", B[:6]), f(0, "", "", A[4:]), f(1, "", "", B[6:])], TWO),
    ("index missing, ids new", [f(None, "c1", "Read", A), f(None, "c2", "Read", B)], TWO),
    ("index missing, fragments follow their call", [
        f(None, "c1", "Read", A[:3]), f(None, "", "", A[3:]), f(None, "c2", "Read", ""), f(None, "", "", B)], TWO),
    ("index always 0, ids new", [
        f(0, "c1", "Read", A[:3]), f(0, "", "", A[3:]), f(0, "c2", "Read", B[:3]), f(0, "", "", B[3:])], TWO),
    ("index always 0, ids new, whole at once", [f(0, "c1", "Read", A), f(0, "c2", "Read", B)], TWO),
    ("index starts at 1", [f(1, "c1", "Read", A), f(2, "c2", "Read", B)], TWO),
    ("a new id for every fragment", [f(0, "c1", "Read", A[:4]), f(0, "x2", "", A[4:8]), f(0, "x3", "", A[8:])], ONE),
    ("a new id for every fragment, name repeated", [f(0, "c1", "Read", A[:4]), f(0, "x2", "Read", A[4:])], ONE),
    ("the id comes late", [f(0, "", "Read", A[:4]), f(0, "c1", "", A[4:])], ONE),
    ("the name comes late", [f(0, "c1", "", ""), f(0, "", "Read", A)], ONE),
    ("the name in pieces", [f(0, "c1", "Re", ""), f(0, "", "ad", ""), f(0, "", "", A)], ONE),
    ("the name growing", [f(0, "c1", "Re", ""), f(0, "", "Read", ""), f(0, "", "", A)], ONE),
    ("a continuation with a wrong index", [f(0, "c1", "Read", A[:4]), f(1, "", "", A[4:])], ONE),
    ("arguments resent cumulatively", [f(0, "c1", "Read", A[:3]), f(0, "", "", A[:8]), f(0, "", "", A)], ONE),
    ("arguments resent whole at the end", [f(0, "c1", "Read", A[:3]), f(0, "", "", A[3:]), f(0, "", "", A)], ONE),
    ("the whole call resent without an id", [f(0, "c1", "Read", A), f(0, "", "Read", A)], ONE),
    ("the whole call resent with its id", [f(0, "c1", "Read", A), f(0, "c1", "Read", A)], ONE),
    ("arguments as an object", [f(0, "c1", "Read", {"path": "a"})], ONE),
    ("arguments as JSON inside JSON", [f(0, "c1", "Read", json.dumps(A))], ONE),
    ("no arguments: empty text", [f(0, "c1", "CurrentModel", "")], [("c1", "CurrentModel", {})]),
    ("no arguments: null", [f(0, "c1", "CurrentModel", None)], [("c1", "CurrentModel", {})]),
    ("no arguments: the word null", [f(0, "c1", "CurrentModel", "null")], [("c1", "CurrentModel", {})]),
    ("no arguments: {}", [f(0, "c1", "CurrentModel", "{}")], [("c1", "CurrentModel", {})]),
    ("an object inside that begins like the whole", [f(0, "c1", "Read", '{"a":'), f(0, "", "", '{"a":1}}')], [
        ("c1", "Read", {"a": {"a": 1}})]),
    ("two calls without ids, index missing", [f(None, "", "Read", A), f(None, "", "Bash", B)], [
        ("new_1", "Read", {"path": "a"}), ("new_2", "Bash", {"path": "b"})]),
    ("two calls of one tool without ids, index missing", [f(None, "", "Read", A), f(None, "", "Read", B)], [
        ("new_1", "Read", {"path": "a"}), ("new_2", "Read", {"path": "b"})]),
    ("two calls that share an id", [f(0, "c1", "Read", A), f(1, "c1", "Read", B)], [
        ("c1", "Read", {"path": "a"}), ("new_1", "Read", {"path": "b"})]),
    ("two calls without arguments and ids", [f(None, "", "CurrentModel", ""), f(None, "", "Read", A)], [
        ("new_1", "CurrentModel", {}), ("new_2", "Read", {"path": "a"})]),
    ("an unknown name stays a call: the engine tells the model", [f(0, "c1", "Nope", A)], [
        ("c1", "Nope", {"path": "a"})]),
    ("a decorated name of an offered tool", [f(0, "c1", "functions.Read", A)], ONE),
]  # fmt: skip


@pytest.mark.parametrize(("fragments", "calls"), [c[1:] for c in SHAPES], ids=[c[0] for c in SHAPES])
def test_fragments_become_whole_calls(fragments: list[Fragment], calls: list[tuple[str, str, Any]]) -> None:
    assert assemble(fragments) == (calls, [])


BROKEN = [
    ("cut in a text", '{"path": "a'),
    ("cut after the colon", '{"path":'),
    ("cut before the last brace", '{"path": "a"'),
    ("two objects glued", A + B),
    ("a list", "[1]"),
    ("a number", "3"),
    ("words", "path=a"),
    ("NaN is no JSON", '{"n": NaN}'),
    ("single quotes", "{'path': 'a'}"),
    ("trailing comma", '{"path": "a",}'),
    ("too deep", "[" * 100_000),
]


@pytest.mark.parametrize("arguments", [b[1] for b in BROKEN], ids=[b[0] for b in BROKEN])
def test_arguments_that_are_no_whole_object_are_never_executed(arguments: str) -> None:
    assert assemble([f(0, "c1", "Read", arguments)]) == (
        [],
        [BrokenCall("c1", "Read", len(arguments), arguments[:200])],
    )


def test_a_broken_call_does_not_spoil_the_others() -> None:
    fragments = [f(0, "c1", "Read", A), f(1, "c2", "Bash", B[:5]), f(2, "c3", "Read", B)]
    assert assemble(fragments) == (
        [("c1", "Read", {"path": "a"}), ("c3", "Read", {"path": "b"})],
        [BrokenCall("c2", "Bash", 5, B[:5])],
    )


def test_a_call_without_a_name_is_broken() -> None:
    assert assemble([f(0, "c1", "", A)]) == ([], [BrokenCall("c1", "", len(A), A)])


def test_a_last_call_without_arguments_is_broken_when_the_server_reports_a_limit() -> None:
    fragments = [f(0, "c1", "Read", A), f(1, "c2", "CurrentModel", "")]
    assert assemble(fragments, cut=True) == (ONE, [BrokenCall("c2", "CurrentModel", 0, "")])
    assert assemble(fragments)[1] == []


def test_ids_that_the_history_already_uses_are_replaced() -> None:
    history = (user("x"), said("", called("c1")), results("c1"))
    drafts = CallDrafts({"Read"}, taken_ids(history), counting_ids())
    drafts.add(index=0, call_id="c1", name="Read", arguments=A)
    assert drafts.finish() == ((ToolCallPart("new_1", "Read", {"path": "a"}),), ())


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)


@given(OBJECTS, st.lists(st.integers(0, 120), max_size=6), st.booleans())
def test_any_object_cut_anywhere_comes_back_whole_also_when_resent(
    arguments: dict[str, Any], cuts: list[int], cumulative: bool
) -> None:
    text = json.dumps(arguments)
    places = [0, *sorted({min(cut, len(text)) for cut in cuts} - {0}), len(text)]
    parts = [text[0 if cumulative else a : b] for a, b in itertools.pairwise(places)]
    fragments = [f(0, "c1", "Read", ""), *(f(0, "", "", part) for part in parts)]
    assert assemble(fragments) == ([("c1", "Read", arguments)], [])


@given(OBJECTS.filter(bool), st.integers(1, 200))
def test_any_object_cut_short_is_broken(arguments: dict[str, Any], keep: int) -> None:
    text = json.dumps(arguments)
    cut = text[: min(keep, len(text) - 1)]
    calls, broken = assemble([f(0, "c1", "Read", cut)])
    assert (calls, [b.received_chars for b in broken]) == ([], [len(cut)])


FRAGMENTS = st.builds(
    f,
    st.none() | st.integers(0, 2),
    st.sampled_from(["", "", "c1", "c2"]),
    st.sampled_from(["", "", "Read", "Bash", "Nope"]),
    st.none() | st.text(max_size=5) | st.sampled_from([A, A[:4], A[4:], "{}"]) | OBJECTS,
)


@given(st.lists(FRAGMENTS, max_size=8))
def test_no_fragments_make_assembly_fail_and_ids_are_unique(fragments: list[Fragment]) -> None:
    calls, broken = assemble(fragments)
    ids = [call[0] for call in calls] + [b.call_id for b in broken]
    assert all(ids)
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("output", "asked", "has_calls", "cut"),
    [
        (4096, None, True, True),
        (8192, None, True, True),
        (16384, None, True, True),
        (32768, None, True, True),
        (64000, None, True, True),
        (5000, 5000, True, True),
        (4096, None, False, False),
        (4095, None, True, False),
        (0, 0, True, False),
    ],
)
def test_an_output_exactly_on_a_usual_limit_with_a_call_is_likely_cut(
    output: int, asked: int | None, has_calls: bool, cut: bool
) -> None:
    assert likely_cut(output, asked, has_calls) is cut


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Read", "Read"),
        (" Read ", "Read"),
        ("functions.Read", "Read"),
        ("Read<|channel|>commentary", "Read"),
        ("read", "read"),
        ("functions.Nope", "functions.Nope"),
    ],
)
def test_only_decoration_is_taken_off_a_name(name: str, known: str) -> None:
    assert known_name(name, {"Read"}) == known


def test_arguments_keep_their_order_and_unicode() -> None:
    assert list(read_arguments('{"b": 1, "a": "é\\ud83d\\ude00"}') or {}) == ["b", "a"]
    assert read_arguments('{"a": "\\ud83d\\ude00"}') == {"a": "😀"}
