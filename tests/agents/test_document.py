from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.agents.document import Origin, Outside, read_document
from maia.agents.header import Invalid, line_of
from maia.agents.template import template
from maia.core.agent import AgentDefinition, AgentRules
from maia.i18n.catalogue import Catalogue, Lang
from tests.agents.place import RUNNERS, SECTIONS, hides, written

ORIGIN = Origin("critic", "home", "~/.maia/agents/critic/AGENT.md")
OUTSIDE = Outside(RUNNERS, hides)


def read(text: str) -> AgentDefinition:
    return read_document(text, ORIGIN, OUTSIDE).agent


def test_every_field_of_the_header_and_every_section_is_read() -> None:
    text = """---
name: critic   # the folder's name
nickname: 🔥 Le Prophète du Chaos
description : Finds what
  breaks.
tools: [Read, Grep]  # only these
skills: release, review
permissions:
  allow:
    - Read(**)       # all of it
  ask: ["Bash(git push *)"]
  deny: Read(.env)
model: sonnet
effort: High
runner: claude-code
key: WORK_KEY
folders:
  - ~/data
memory: no
trace: oui
asks_nothing: true
group: Team
Max-Turns: 40
type: Critic
role: Release manager
goal: |
  No defect.

  Ever.
backstory: Ten years.
capabilities: [audits, SQL]
constraints: never deploys
avatar: 🦉
enabled: no
monthly_tokens: 2000000
color: blue
---
A note for readers.

## Instructions system
Be <!-- not told --> careful.
<!--
  neither
  is this -->
### A heading of its own
More.

# **Missions:**
Review.
```
## Output
<!-- code, kept -->
```
###### output ##
A list.
"""
    assert read(text) == AgentDefinition(
        name="critic",
        nickname="🔥 Le Prophète du Chaos",
        description="Finds what breaks.",
        instructions="Be  careful.\n### A heading of its own\nMore.",
        missions="Review.\n```\n## Output\n<!-- code, kept -->\n```",
        output="A list.",
        runner="claude-code",
        model="sonnet",
        effort="high",
        key="WORK_KEY",
        tools=("Read", "Grep"),
        skills=("release", "review"),
        rules=AgentRules(("Read(**)",), ("Bash(git push *)",), ("Read(.env)",)),
        folders=("~/data",),
        has_memory=False,
        keeps_trace=True,
        asks_nothing=True,
        group="team",
        max_turns=40,
        monthly_tokens=2_000_000,
        kind="critic",
        role="Release manager",
        goal="No defect.\n\nEver.",
        backstory="Ten years.",
        capabilities=("audits", "SQL"),
        constraints=("never deploys",),
        avatar="🦉",
        is_enabled=False,
        level="home",
        shown=ORIGIN.shown,
    )


def test_what_is_left_out_has_its_default_and_the_nickname_is_the_name() -> None:
    told = ("Be careful.", "Review.", "A list.")
    expected = AgentDefinition("critic", "critic", "Reads code.", *told, shown=ORIGIN.shown)
    assert read(written()) == expected
    assert read(written("tools:\nmodel:   # nothing yet\n")) == expected


def test_texts_stay_texts() -> None:
    agent = read(written("nickname: No\nmodel: 4.10\n"))
    assert (agent.nickname, agent.model) == ("No", "4.10")


def test_an_empty_list_is_not_the_same_as_none() -> None:
    assert read(written("tools: []\n")).tools == ()


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "with a byte order mark"])
def test_line_ends_and_byte_order_marks_make_no_difference(newline: str, mark: str) -> None:
    text = written("tools: [Read]\n")
    assert read(mark + text.replace("\n", newline)) == read(text)


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ("", "no_header", 1),
        ("# Instructions system\n", "no_header", 1),
        ("---\nname: critic\n", "open_header", 1),
        ("---\n[a, b]\n---\n" + SECTIONS, "header_shape", 2),
        ("---\n{description: x}\n---\n" + SECTIONS, "header_shape", 2),
        (written(description=""), "no_description", 2),
        (written("nickname: a: b\n"), "colon", 3),
        (written("tools:\n\t- Read\n"), "tab", 4),
        (written("model: *sonnet\n"), "alias", 3),
        (written("a: &x [1]\nb: *x\n"), "alias", 3),
        (written("model: '\n"), "yaml", 4),
        (written("model: a\x07b\n"), "character", 3),
        (written("x: " + "[" * 3000 + "\n"), "deep", 2),
        (written("x: " + "[" * 20 + "]" * 20 + "\n"), "deep", 3),
        (written("x: " + "y" * 40_000 + "\n"), "header_big", 2),
        (written("model: a\nModel: b\n"), "twice", 4),
        (written("name: other\n"), "other_name", 3),
        (written("runner: claude\n"), "runner", 3),
        (written("key: a-key with spaces\n"), "key", 3),
        (written("key: KEY_1\n"), "key_itself", 3),
        (written("tool: [Read]\n"), "unknown_field", 3),
        (written("permission: {deny: [Read]}\n"), "unknown_field", 3),
        (written("model: [a]\n"), "text", 3),
        (written("model: |\n  a\n  b\n"), "one_line", 3),
        (written("memory: perhaps\n"), "switch", 3),
        (written("effort: huge\n"), "effort", 3),
        (written("type: king\n"), "type", 3),
        (written("avatar: abc\n"), "avatar", 3),
        (written("enabled: maybe\n"), "switch", 3),
        (written("role: [a]\n"), "text", 3),
        (written("max_turns: 0\n"), "count", 3),
        (written("max_turns: 1001\n"), "count", 3),
        (written("max_turns: ٣\n"), "count", 3),
        (written("max_turns: 2.5\n"), "count", 3),
        (written("monthly_tokens: -1\n"), "tokens", 3),
        (written("monthly_tokens: 2e6\n"), "tokens", 3),
        (written("monthly_tokens: 1000000000001\n"), "tokens", 3),
        (written("tools: {a: b}\n"), "list", 3),
        (written("tools: [[a]]\n"), "entry", 3),
        (written(f"folders: [{'x, ' * 501}]\n"), "many", 3),
        (written("tools: [Bash(git *)]\n"), "tool", 3),
        (written("permissions: [Read]\n"), "permissions", 3),
        (written("permissions:\n  allows: [Read]\n"), "permissions", 4),
        (written('nickname: "\\u200b"\n'), "nickname_empty", 3),
        (written(f"nickname: {'x' * 101}\n"), "nickname_long", 3),
        (written('nickname: "a\\u202eb"\n'), "nickname_characters", 3),
        (written(sections="# Missions\nx\n# Output\ny\n"), "section_missing", 4),
        (written(sections="# Instructions system\n# Missions\nx\n# Output\ny\n"), "section_empty", 4),
        (written(sections=SECTIONS + "# missions\nagain\n"), "section_twice", 12),
        (written(sections="<!--\n" + SECTIONS), "section_missing", 4),
    ],
)
def test_an_invalid_definition_says_why_and_where(text: str, key: str, line: int) -> None:
    with pytest.raises(Invalid) as caught:
        read(text)
    assert (caught.value.key, caught.value.line) == (f"agents.bad.{key}", line)
    for lang in ("fr", "en"):
        assert Catalogue(lang, strict=True)(caught.value.key, file="f", line=line, **caught.value.values)


def test_a_reason_never_repeats_what_may_be_a_key() -> None:
    token = "x" * 30 + "1"
    for value in (token, token + " more"):
        with pytest.raises(Invalid) as caught:
            read(written(f"key: {value}\n"))
        assert token not in repr(caught.value.values)


def test_an_unknown_field_that_looks_like_one_is_told_and_others_belong_to_other_programs() -> None:
    document = read_document(written("efort: low\ncolor: red\nmode: subagent\nmodel: x\n"), ORIGIN, OUTSIDE)
    assert document.doubtful == (("efort", 3, "effort"),)


def test_the_template_is_an_agent_that_restricts_and_opens_nothing(lang: Lang) -> None:
    text = template(lang, {}).replace("name: agent", "name: critic", 1)
    agent = read(text)
    assert (agent.tools, agent.rules, agent.model, agent.asks_nothing) == (None, AgentRules(), "", False)


def test_every_line_that_the_template_offers_works_when_it_is_switched_on(lang: Lang) -> None:
    text = template(lang, {}).replace("name: agent", "name: critic", 1)
    agent = read(re.sub(r"^# (?=(?:  )?\w+:)(?!Guide)", "", text, flags=re.MULTILINE))
    assert (agent.tools, agent.skills, agent.model, agent.key) == (
        ("Read", "Grep", "Glob"),
        ("release",),
        "sonnet",
        "WORK_API_KEY",
    )
    assert agent.rules == AgentRules(("Read(**)",), ("Bash(git push *)",), ("Read(.env)",))
    assert (agent.effort, agent.runner, agent.folders) == ("medium", "maia", ("~/data",))
    assert (agent.has_memory, agent.keeps_trace, agent.asks_nothing) == (False, True, True)


def test_the_template_names_every_field(lang: Lang) -> None:
    from maia.agents.document import FIELDS

    text = template(lang, {})
    assert [name for name in FIELDS if f"{name}:" not in text] == []


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_a_definition_or_a_reason(header: str, body: str) -> None:
    say = Catalogue("en", strict=True)
    for text in (header, written(header + "\n", body), written(header + "\n", SECTIONS + body)):
        problem: Invalid | None = None
        try:
            read(text)
        except Invalid as caught:
            problem = caught
        if problem is not None:
            values: dict[str, Any] = {"file": "f", "line": problem.line, **problem.values}
            assert say(problem.key, **values)
            assert 1 <= problem.line <= line_of(text, len(text)) + 1
