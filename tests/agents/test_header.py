from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from maia.agents.header import TOO_LONG, CannotEdit, Invalid, Value, plain, read_header, with_field

TEXT = """---
# about this file
name: critic   # the folder
color: blue    # another program's

# what it may use
tools:
  # reading
  - Read   # files
  - Grep
  # changing
  - Edit   # with care
flow: [a, b] # x
permissions:   # rules
  deny:
    - Read(.env)   # secrets
    - Read(*.key)
  allow: [Read]
long: |
  two
  lines
# the end
---
body: no header
"""


@pytest.mark.parametrize(
    ("name", "value", "before", "after"),
    [
        ("name", "judge", "name: critic   # the folder", "name: judge   # the folder"),
        ("name", "a: b", "name: critic   # the folder", 'name: "a: b"   # the folder'),
        ("name", "no", "name: critic   # the folder", 'name: "no"   # the folder'),
        ("name", "#1", "name: critic   # the folder", 'name: "#1"   # the folder'),
        ("name", "é 🔥", "name: critic   # the folder", "name: é 🔥   # the folder"),
        ("flow", ["c", "a, b", "1"], "flow: [a, b] # x", 'flow: [c, "a, b", "1"] # x'),
        ("flow", None, "flow: [a, b] # x\n", ""),
        ("flow", True, "flow: [a, b] # x\n", "flow: true\n"),
        (
            "tools",
            ["Read", "Edit", "Bash"],
            "  - Grep\n  # changing\n  - Edit   # with care\n",
            "  # changing\n  - Edit   # with care\n  - Bash\n",
        ),
        ("tools", [], TEXT[TEXT.index("tools:") : TEXT.index("flow:")], "tools: []\n"),
        ("tools", None, TEXT[TEXT.index("tools:") : TEXT.index("flow:")], ""),
        ("long", "one line", "long: |\n  two\n  lines\n", "long: one line\n"),
        ("permissions", {"deny": ["Read(.env)"], "allow": ["Read"]}, "    - Read(*.key)\n", ""),
        ("permissions", {"deny": ["Read(.env)", "Read(*.key)"]}, "  allow: [Read]\n", ""),
        (
            "permissions",
            {"deny": ["Read(.env)", "Read(*.key)"], "allow": ["Read"], "ask": ["Edit"]},
            "  allow: [Read]\n",
            "  allow: [Read]\n  ask: [Edit]\n",
        ),
        ("effort", "low", "# the end\n", "# the end\neffort: low\n"),
        ("memory", False, "# the end\n", "# the end\nmemory: false\n"),
        (
            "rules",
            {"deny": ["Bash(rm *)"], "ask": []},
            "# the end\n",
            "# the end\nrules:\n  deny:\n    - Bash(rm *)\n  ask: []\n",
        ),
    ],
)
def test_one_field_is_changed_and_everything_else_keeps_its_bytes(
    name: str, value: Value | None, before: str, after: str
) -> None:
    assert TEXT.count(before) == 1
    expected = TEXT.replace(before, after)
    assert with_field(TEXT, name, value) == expected
    windows = TEXT.replace("\n", "\r\n")
    assert with_field("\ufeff" + windows, name, value) == "\ufeff" + expected.replace("\n", "\r\n")


def test_a_field_without_a_value_gets_one() -> None:
    assert with_field("---\nname:   # none yet\n---\n", "name", "x") == "---\nname: x   # none yet\n---\n"
    assert with_field("---\ntools:\n---\n", "tools", ["a"]) == "---\ntools: [a]\n---\n"


def test_taking_out_what_is_not_there_changes_nothing() -> None:
    assert with_field(TEXT, "effort", None) == TEXT


def test_a_name_in_another_spelling_is_the_same_field() -> None:
    text = "---\nAsks-Nothing: true\n---\n"
    assert with_field(text, "asks_nothing", False) == "---\nAsks-Nothing: false\n---\n"


def test_what_cannot_be_changed_alone_is_refused() -> None:
    with pytest.raises(CannotEdit):
        with_field("---\na: 1\n---\n", "a", "\ufffe")


def test_a_value_that_makes_the_header_too_long_is_told_as_that() -> None:
    with pytest.raises(Invalid) as told:
        with_field("---\na: 1\n---\n", "a", "x" * 40_000)
    assert told.value.key == TOO_LONG


values = st.one_of(
    st.booleans(),
    st.text(max_size=30),
    st.lists(st.text(min_size=1, max_size=12), max_size=4),
    st.dictionaries(st.sampled_from(["allow", "ask", "deny"]), st.lists(st.text(min_size=1, max_size=9), min_size=1)),
)
names = st.sampled_from(["name", "color", "tools", "flow", "permissions", "long", "new"])


@given(st.lists(st.tuples(names, st.none() | values), max_size=4))
def test_any_change_reads_as_wanted_or_is_refused(changes: list[tuple[str, Any]]) -> None:
    text = TEXT
    wanted = {field.name: plain(field.value) for field in read_header(TEXT).fields.fields}
    for name, value in changes:
        try:
            text = with_field(text, name, value)
        except CannotEdit:
            assume(False)
        wanted.pop(name, None)
        if value is not None:
            wanted[name] = str(value).lower() if isinstance(value, bool) else value
    assert {field.name: plain(field.value) for field in read_header(text).fields.fields} == wanted
    assert text.endswith("---\nbody: no header\n")
    assert [row for row in ("# about this file", "# what it may use", "# the end") if row not in text] == []
