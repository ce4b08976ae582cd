"""Definitions of agents by the interface: read, made, changed, switched off, removed and put back (N-05.02–N-05.12)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from maia.core.memories import MemoryEntry
from maia.memory.identity import place_name
from maia.memory.sqlite import SqliteStore
from maia.permissions.trust import remember
from tests.web.serving import Serving, Visitor, serving
from tests.web.test_users import PASSWORD

IRIS = """---
# kept by hand
nickname: Iris   # as she likes it
description: Looks after invoices
tools: [Read, Grep]
x-other: {of: another program}
---

## Instructions system

You look after invoices with great care.

## Missions

Answer questions.

## Output

One line.
"""
BROKEN = IRIS.replace("tools: [Read, Grep]", "tools: [Read,\tGrep")
PAIR = {"provider": "offline", "model": "offline"}


def put(root: Path, name: str, text: str) -> Path:
    file = root / ".maia" / "agents" / name / "AGENT.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Path]]:
    """A server, its home with two agents, a trusted folder that brings two more, and a wild one."""
    root = tmp_path_factory.mktemp("office")
    home = root / "data" / "home"
    put(home, "iris", IRIS)
    put(home, "torn", BROKEN)
    put(root / "work", "guide", IRIS.replace("nickname: Iris", "nickname: Guide"))
    put(root / "work", "iris", IRIS)
    remember(root / "work", home)
    put(root / "wild", "wolf", IRIS)
    with serving(
        root / "data", script=[{"text": "Yes.", "usage": {"input": 12, "output": 3}, "repeat": True}]
    ) as server:
        with Visitor(server.url) as first:
            first.become_owner(server.token)
            for name in ("work", "wild"):
                folders = [{"path": str(root / name)}]
                assert first.ask("POST", "/api/v1/conversations", {"folders": folders}).status_code == 201
        yield server, home


@pytest.fixture
def home(office: tuple[Serving, Path]) -> Path:
    return office[1]


@pytest.fixture
def owner(office: tuple[Serving, Path]) -> Iterator[Visitor]:
    with Visitor(office[0].url) as visitor:
        visitor.sign_in()
        yield visitor


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json().get("code", "")


def text_of(home: Path, name: str) -> str:
    return (home / ".maia" / "agents" / name / "AGENT.md").read_text("utf-8")


def test_all_definitions_are_listed_with_where_they_come_from(owner: Visitor, home: Path) -> None:
    found = owner.ask("GET", "/api/v1/agents").json()["agents"]
    work = str(home.parents[1] / "work")
    shown = [(each["name"], each["folder"], each["readOnly"], bool(each["problem"])) for each in found]
    assert [each for each in shown if each[0] in ("iris", "torn", "guide", "wolf")] == [
        ("iris", None, False, False),
        ("torn", None, False, True),
        ("guide", work, True, False),
        ("iris", work, True, False),
    ]
    torn = next(each for each in found if each["name"] == "torn")
    assert (torn["problem"]["line"], torn["file"]) == (5, "~/.maia/agents/torn/AGENT.md")
    guide = next(each for each in found if each["name"] == "guide")
    whole = owner.ask("GET", f"/api/v1/agents/{guide['id']}").json()
    assert (whole["nickname"], whole["instructions"]) == ("Guide", "You look after invoices with great care.")
    refused = owner.ask("PATCH", f"/api/v1/agents/{guide['id']}", {"role": "x"})
    assert code(refused) == (400, "read_only")
    assert owner.ask("GET", f"/api/v1/agents/{torn['id']}").json()["problem"] == torn["problem"]


def test_a_change_writes_its_field_alone_and_counts_from_the_next_turn(owner: Visitor, home: Path) -> None:
    made = owner.ask("POST", "/api/v1/conversations", {"agent": "iris"}).json()["id"]
    owner.say(made, "Hello")
    owner.until_done(made)
    before = owner.ask("GET", "/api/v1/agents/iris").json()
    asked = {"revision": before["revision"], "role": "Clerk", "constraints": ["never pays"], "goal": "Clear.\r\nBooks."}
    now = owner.ask("PATCH", "/api/v1/agents/iris", {**asked, "unheard": 1}).json()
    assert (now["role"], now["constraints"], now["goal"]) == ("Clerk", ["never pays"], "Clear.\nBooks.")
    assert now["revision"] != before["revision"]
    added = "role: Clerk\ngoal: |-\n  Clear.\n  Books.\nconstraints: [never pays]\n---\n"
    assert text_of(home, "iris").replace(added, "---\n") == IRIS
    instructions = owner.ask("PATCH", "/api/v1/agents/iris", {"instructions": "You sing.", "maxTurns": 7}).json()
    assert (instructions["maxTurns"], instructions["model"]) == (7, None)
    cursor = owner.ask("GET", f"/api/v1/conversations/{made}").json()["cursor"]
    owner.say(made, "Again")
    owner.until_done(made, cursor)
    shown = owner.ask("GET", f"/api/v1/observability/compositions/{made}").json()["composition"]
    told = next(each["text"] for each in shown["sections"] if each["name"] == "agent")
    for words in ("You sing.", "# Your role\n\nClerk", "- never pays", "at most 7 steps"):
        assert words in told
    owner.ask("PATCH", "/api/v1/agents/iris", {"role": None, "constraints": [], "goal": "", "maxTurns": None})
    care = "You look after invoices with great care."
    owner.ask("PATCH", "/api/v1/agents/iris", {"instructions": care})
    assert text_of(home, "iris") == IRIS


def test_a_file_that_changed_meanwhile_is_told_and_kept(owner: Visitor, home: Path) -> None:
    file = put(home, "late", IRIS.replace("nickname: Iris", "nickname: Late"))
    seen = owner.ask("GET", "/api/v1/agents/late").json()
    text = file.read_text("utf-8").replace("invoices\n", "letters\n", 1)
    file.write_text(text, "utf-8")
    refused = owner.ask("PATCH", "/api/v1/agents/late", {"revision": seen["revision"], "role": "x"})
    assert code(refused) == (409, "agent_changed")
    assert (refused.json()["agent"]["description"], file.read_text("utf-8")) == ("Looks after letters", text)
    again = {"revision": refused.json()["agent"]["revision"], "role": "x"}
    assert owner.ask("PATCH", "/api/v1/agents/late", again).status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        ({"provider": "offline"}, 400, "ValidationError"),
        ({"model": "offline"}, 400, "ValidationError"),
        ({"provider": "offline", "model": "none"}, 400, "model_binding_unavailable"),
        ({"effort": "huge"}, 400, "EFFORT_UNSUPPORTED"),
        ({"effort": 3}, 400, "ValidationError"),
        ({"type": "king"}, 400, "ValidationError"),
        ({"group": "all"}, 400, "ValidationError"),
        ({"maxTurns": 0}, 400, "ValidationError"),
        ({"monthlyTokens": -1}, 400, "ValidationError"),
        ({"avatar": "abc"}, 400, "avatar"),
        ({"nickname": "a\u202eb"}, 400, "nickname_characters"),
        ({"instructions": "# Output\nx"}, 400, "section_twice"),
        ({"instructions": " "}, 400, "section_empty"),
        ({"description": None}, 400, "no_description"),
        ({"tools": ["not a tool!"]}, 400, "tool"),
        ({"capabilities": ["a" * 501]}, 400, "ValidationError"),
        ({"role": "a\x00b"}, 400, "wrong_value"),
        ({"nickname": "TORN"}, 200, ""),
        ({"unheard": True}, 200, ""),
        ({}, 200, ""),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    owner: Visitor, home: Path, body: dict[str, Any], status: int, told: str
) -> None:
    file = put(home, "plain", IRIS.replace("nickname: Iris   # as she likes it", "nickname: Plain"))
    text = file.read_text("utf-8")
    done = owner.ask("PATCH", "/api/v1/agents/plain", body)
    assert code(done) == (status, told), done.text
    if status != 200:
        assert file.read_text("utf-8") == text
        assert done.json()["message"]
    if told == "model_binding_unavailable":
        assert (done.json()["providerId"], done.json()["modelId"]) == ("offline", "none")


def test_an_agent_without_tokens_left_is_refused_by_name_until_it_gets_more(owner: Visitor, home: Path) -> None:
    put(home, "ebbe", IRIS.replace("nickname: Iris", "nickname: Ebbe"))
    kept = owner.ask("PATCH", "/api/v1/agents/ebbe", {"monthlyTokens": 1}).json()
    assert (kept["monthlyTokens"], kept["tokensThisMonth"]) == (1, {"used": 0, "limit": 1})
    made = owner.ask("POST", "/api/v1/conversations", {"agent": "ebbe"}).json()["id"]
    owner.say(made, "Hello")
    owner.until_done(made)
    refused = owner.ask("POST", f"/api/v1/conversations/{made}/messages", {"content": "Again"})
    assert code(refused) == (402, "agent_quota")
    body = refused.json()
    assert (body["limit"], body["used"] > 1, body["until"][-3:]) == (1, True, "-01")
    assert body["message"].startswith("Ebbe has used its 1 tokens of this month: it answers again on 01/")
    more = owner.ask("PATCH", "/api/v1/agents/ebbe", {"monthlyTokens": 0}).json()
    assert (more["monthlyTokens"], more["tokensThisMonth"]["used"]) == (0, body["used"])
    owner.say(made, "Again")
    owner.until_done(made)


def test_a_model_is_set_and_cleared_with_its_provider_and_other_fields_leave_it(owner: Visitor, home: Path) -> None:
    put(home, "bound", IRIS.replace("nickname: Iris", "nickname: Bound"))
    bound = owner.ask("PATCH", "/api/v1/agents/bound", PAIR).json()
    assert (bound["providerId"], bound["modelId"], bound["isAvailable"]) == ("offline", "offline", True)
    assert "model: offline/offline\n" in text_of(home, "bound")
    owner.ask("PATCH", "/api/v1/agents/bound", {"role": "Clerk"})
    assert owner.ask("GET", "/api/v1/agents/bound").json()["provider"] == "offline"
    owner.ask("PATCH", "/api/v1/agents/bound", {"provider": None, "model": None, "role": None})
    assert text_of(home, "bound") == IRIS.replace("nickname: Iris", "nickname: Bound")
    assert code(owner.ask("PATCH", "/api/v1/agents/nobody", {"role": "x"})) == (404, "no_agent")
    assert owner.ask("GET", "/api/v1/agents/nobody").status_code == 404


def test_a_new_agent_begins_with_the_words_and_tools_of_its_type(owner: Visitor, home: Path) -> None:
    made = owner.ask("POST", "/api/v1/agents", {"nickname": "Œil vif", "type": "observer", "group": "team"})
    assert made.status_code == 201, made.text
    agent = made.json()
    assert (agent["name"], agent["type"], agent["group"]) == ("il-vif", "observer", "team")
    assert agent["tools"] == ["Read", "Glob", "Grep", "WebFetch"]
    assert agent["instructions"].startswith(("You observe", "Vous observez"))
    assert "il-vif" in {each["name"] for each in owner.ask("GET", "/api/v1/colleagues").json()["colleagues"]}
    own = owner.ask("POST", "/api/v1/agents", {"name": "own", "description": "D.", "instructions": "I.", **PAIR}).json()
    assert (own["tools"], own["model"], own["instructions"]) == (None, "offline", "I.")
    for body, told in (
        ({"name": "own"}, (409, "exists")),
        ({"name": "../x"}, (400, "bad_name")),
        ({"nickname": "Own"}, (409, "taken")),
        ({"name": "lost", "provider": "nobody", "model": "x"}, (400, "model_binding_unavailable")),
    ):
        assert code(owner.ask("POST", "/api/v1/agents", body)) == told
    assert not (home / ".maia" / "agents" / "lost").exists()


def test_an_agent_that_is_switched_off_is_no_colleague_until_it_is_on_again(owner: Visitor, home: Path) -> None:
    put(home, "idle", IRIS.replace("nickname: Iris", "nickname: Idle"))
    made = owner.ask("POST", "/api/v1/conversations", {"agent": "idle"}).json()["id"]
    owner.ask("PATCH", "/api/v1/agents/idle", {"enabled": False})
    names = {each["name"] for each in owner.ask("GET", "/api/v1/colleagues").json()["colleagues"]}
    assert "idle" not in names
    assert owner.ask("POST", "/api/v1/colleagues/idle/home").status_code == 404
    refused = owner.ask("POST", f"/api/v1/conversations/{made}/messages", {"content": "Hello"})
    assert code(refused) == (409, "agent_unavailable")
    owner.ask("PATCH", "/api/v1/agents/idle", {"enabled": True})
    owner.say(made, "Hello")


def test_a_removed_agent_is_kept_aside_and_comes_back(owner: Visitor, home: Path) -> None:
    text = IRIS.replace("nickname: Iris", "nickname: Gone")
    put(home, "gone", text)
    kept = owner.ask("DELETE", "/api/v1/agents/gone").json()["kept"]
    assert owner.ask("GET", "/api/v1/agents/gone").status_code == 404
    assert owner.ask("DELETE", "/api/v1/agents/gone").status_code == 404
    assert owner.ask("POST", "/api/v1/agents/restore", {"kept": kept}).json()["nickname"] == "Gone"
    assert text_of(home, "gone") == text
    assert code(owner.ask("POST", "/api/v1/agents/restore", {"kept": "../../gone"})) == (400, "none_removed")
    put(home, "scrap", BROKEN)
    assert owner.ask("DELETE", "/api/v1/agents/scrap").status_code == 200


def test_every_tool_that_a_model_can_be_offered_can_be_listed_for_an_agent(owner: Visitor) -> None:
    tools = owner.ask("GET", "/api/v1/agents/tools").json()["tools"]
    listed = {name.casefold() for each in tools for name in (each["name"], *each["also"])}
    there = {each["id"] for each in owner.ask("GET", "/api/v1/tools").json()["tools"]}
    assert there - listed == {"memory_search", "memory_expand"}, "who has a memory looks up in any case (N-05.08)"


def test_what_an_agent_keeps_for_itself_is_shown_and_forgotten(owner: Visitor, home: Path) -> None:
    put(home, "mind", IRIS.replace("nickname: Iris", "nickname: Mind"))
    assert owner.ask("GET", "/api/v1/agents/mind/memories").json() == {"memories": []}
    place = home / ".maia" / "memory" / place_name("agent:mind")
    place.parent.mkdir(parents=True, exist_ok=True)
    store = SqliteStore(place, "agent:mind")
    store.put((MemoryEntry("one", "The canal is <b>deep</b>", 1.0), MemoryEntry("two", "Pay on Fridays", 2.0)))
    store.close()
    found = owner.ask("GET", "/api/v1/agents/mind/memories").json()["memories"]
    assert [each["id"] for each in found] == ["two", "one"]
    found = owner.ask("GET", "/api/v1/agents/mind/memories?q=canal").json()["memories"]
    assert [each["text"] for each in found] == ["The canal is <b>deep</b>"]
    assert "The canal is &lt;b&gt;deep" in owner.client.get("/agents/mind/memories").text
    assert owner.ask("DELETE", "/api/v1/agents/mind/memories/one").status_code == 204
    assert owner.ask("DELETE", "/api/v1/agents/mind/memories/one").status_code == 404
    assert len(owner.ask("GET", "/api/v1/agents/mind/memories").json()["memories"]) == 1
    assert owner.ask("GET", "/api/v1/agents/iris/memories").json() == {"memories": []}


def test_a_member_reads_them_and_changes_none_and_the_audit_tells_who_did(
    office: tuple[Serving, Path], owner: Visitor, home: Path
) -> None:
    put(home, "shown", IRIS.replace("nickname: Iris", "key: WORK_KEY\nnickname: Shown"))
    invited = owner.ask("POST", "/api/v1/users", {"name": "Max", "email": "max@example.org", "role": "user"}).json()
    token = invited["invitation"]["path"].partition("token=")[2]
    with Visitor(office[0].url) as max_:
        max_.client.post("/join", data={"token": token, "password": PASSWORD})
        max_.csrf = max_.ask("GET", "/api/v1/session").json()["csrf"]
        seen = max_.ask("GET", "/api/v1/agents/shown").json()
        assert seen["instructions"] == "You look after invoices with great care."
        assert not {"key", "folders", "permissions"} & seen.keys()
        folders = {each["folder"] for each in max_.ask("GET", "/api/v1/agents").json()["agents"]}
        assert folders == {None}, "a folder of somebody else's conversation stays theirs"
        foreign = [each["id"] for each in owner.ask("GET", "/api/v1/agents").json()["agents"] if each["folder"]]
        assert foreign
        assert {max_.ask("GET", f"/api/v1/agents/{each}").status_code for each in foreign} == {404}
        for method, path, body in (
            ("POST", "/api/v1/agents", {"nickname": "Mine"}),
            ("PATCH", "/api/v1/agents/shown", {"role": "x"}),
            ("DELETE", "/api/v1/agents/shown", None),
            ("POST", "/api/v1/agents/restore", {"kept": "x"}),
            ("GET", "/api/v1/agents/shown/memories", None),
            ("DELETE", "/api/v1/agents/shown/memories/x", None),
        ):
            assert code(max_.ask(method, path, body)) == (403, "not_allowed"), path
    assert owner.ask("GET", "/api/v1/agents/shown").json()["key"] == "WORK_KEY"
    owner.ask("PATCH", "/api/v1/agents/shown", {"role": "secret words"})
    acts = owner.ask("GET", "/api/v1/audit?action=agents").json()["acts"]
    assert acts[0]["action"] == "agents.changed"
    assert acts[0]["details"] == {"agent": "shown", "fields": ["role"]}
