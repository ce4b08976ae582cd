"""A conversation delegates through a real server: the interface tells of both ends, and lists keep them apart."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.web.serving import Visitor, parsed, serving

AGENT = """---
nickname: {nickname}
description: Knows {name}
group: {group}
permissions:
  deny: [{denied}]
---

## Instructions system

You look closely.

## Missions

Answer questions.

## Output

One line.
"""
SPECIALIST: dict[str, Any] = {"agent": "mole", "task": "Count the <b>invoices</b>"}
CARD: dict[str, Any] = {"agent": "Iris", "title": "Pay", "task": "Pay them"}
SCRIPT: list[Any] = [
    [{"call": {"name": "run_specialist", "arguments": SPECIALIST}}],
    {"text": "There are seven.", "cost": 0.5, "usage": {"input": 1200, "output": 34}},
    {"text": "Seven, says the mole."},
    [{"call": {"name": "assign_task", "arguments": CARD}}],
    {"text": "Yes."},
    {"text": "Paid."},
    [{"call": {"name": "run_specialist", "arguments": SPECIALIST}}],
    [{"call": {"name": "Read", "arguments": {"path": "plan.txt"}}}],
    {"text": "Denied."},
    {"text": "No."},
    [{"call": {"name": "run_specialist", "arguments": SPECIALIST}}],
    [{"call": {"name": "AskUser", "arguments": {"question": "Which year?"}}}],
    {"text": "Which year?"},
    {"text": "The mole asks."},
    {"text": "Meanwhile."},
    {"text": "Seven in 2026."},
    {"text": "Yes.", "repeat": True},
]


def staffed(data: Path) -> Path:
    """A data folder whose home has a colleague and a specialist."""
    known = (("iris", "Iris", "main", ""), ("mole", "Mole <i>é</i>", "specialist", ""), ("caged", "C", "team", "Read"))
    for name, nickname, group, denied in known:
        agent = data / "home" / ".maia" / "agents" / name / "AGENT.md"
        agent.parent.mkdir(parents=True)
        agent.write_text(AGENT.format(name=name, nickname=f'"{nickname}"', group=group, denied=denied), "utf-8")
    return data


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    data = staffed(tmp_path_factory.mktemp("office") / "data")
    with serving(data, script=SCRIPT) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        yield visitor


def below(owner: Visitor, conversation: str) -> list[dict[str, Any]]:
    return owner.ask("GET", f"/api/v1/conversations/{conversation}/children").json()["children"]


def test_a_conversation_tells_what_it_delegated_and_only_cards_stand_on_the_board(owner: Visitor) -> None:
    conversation = owner.conversation()
    owner.say(conversation, "Count")
    done = owner.until_done(conversation)[-1].json
    assert done["turnMeta"]["delegated"] == {"usd": 0.5, "source": "reported"}
    assert done["turnMeta"]["cost"]["usd"] is None, "what was delegated is no part of its own cost"
    (child,) = below(owner, conversation)
    assert (child["kind"], child["agent"], child["outcome"], child["turn"]) == ("specialist", "mole", "finished", 1)
    whole = owner.ask("GET", f"/api/v1/conversations/{child['id']}").json()
    assert (whole["parentId"], whole["isSubConversation"], whole["modelBinding"]) == (conversation, True, "inherit")
    above = owner.ask("GET", f"/api/v1/conversations/{child['id']}/children").json()["above"]
    assert [each["id"] for each in above] == [conversation]
    said = owner.say(conversation, "Pay")
    owner.until_done(conversation, said["cursor"])
    card = next(each for each in below(owner, conversation) if each["kind"] == "card")
    owner.until_done(card["id"])
    listed = owner.ask("GET", "/api/v1/conversations").json()["conversations"]
    assert {each["id"] for each in listed} == {conversation, card["id"]}
    cards = {each["id"]: each for each in owner.ask("GET", "/api/v1/board").json()["cards"]}
    assert set(cards) == {conversation, card["id"]}
    assert cards[conversation]["subTasks"]["all"] == 2
    kept = owner.ask("GET", f"/api/v1/conversations/{conversation}/history?kind=change").json()["entries"]
    assert ("task", "Pay", "running") in [(each["field"], each["old"], each["new"]) for each in kept]
    page = owner.client.get(f"/conversations/{conversation}").text
    assert "Mole &lt;i&gt;é&lt;/i&gt; · Count the &lt;b&gt;invoices&lt;/b&gt;" in page
    assert f'href="/conversations/{child["id"]}"' in page


def test_what_a_rule_denies_to_an_agent_is_denied_to_the_specialist_that_it_runs(owner: Visitor) -> None:
    conversation = owner.ask("POST", "/api/v1/conversations", {"agent": "caged"}).json()["id"]
    owner.say(conversation, "Read it")
    owner.until_done(conversation)
    (child,) = below(owner, conversation)
    page = owner.client.get(f"/conversations/{child['id']}").text
    assert "deny Read" in page


def test_a_question_below_is_seen_above_and_its_result_goes_along_with_the_next_message(owner: Visitor) -> None:
    conversation = owner.conversation()
    owner.say(conversation, "Count")
    owner.until_done(conversation)
    (child,) = below(owner, conversation)

    def page() -> str:
        return owner.client.get(f"/conversations/{conversation}").text

    assert owner.ask("GET", f"/api/v1/conversations/{conversation}").json()["status"] == "waiting"
    assert "Mole &lt;i&gt;é&lt;/i&gt; waits for your answer" in page()
    assert '<span class="row-state">Waiting</span>' in page(), "no success, and no failure"
    said = owner.say(conversation, "And else?")
    owner.until_done(conversation, said["cursor"])
    said = owner.say(child["id"], "2026")
    owner.until_done(child["id"], said["cursor"])
    next(frame for frame in owner.frames(conversation) if "delegate.late" in frame.data)
    assert "has its result: the next answer here reads it." in page()
    frames = (each for each in owner.frames(conversation) if not each.event)
    done = next(each for each in frames if each.json["event"].get("status") == "succeeded")
    with owner.client.stream("GET", f"/ui/stream?conversation={conversation}&cursor={int(done.id) - 1}") as answer:
        missed = next(frame.data for frame in parsed(answer.iter_lines()) if "#turn-" in frame.data)
    assert 'hx-target="#turn-1"' in missed, "who missed it draws the earlier turn, too"
    assert '<span class="row-state">Succeeded</span>' in missed
    assert '<span class="row-state">Succeeded</span>' in page()
    assert "waits for your answer" not in page()
    assert "Mole &lt;i&gt;é&lt;/i&gt; no longer waits for anybody." in page()
    assert owner.ask("GET", f"/api/v1/conversations/{conversation}").json()["status"] == "idle"
    said = owner.say(conversation, "And?")
    owner.until_done(conversation, said["cursor"])
    assert f'<a class="chip small" href="/conversations/{child["id"]}"' in page()
