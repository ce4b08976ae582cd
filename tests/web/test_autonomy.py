"""Autonomy, tools and security by the interface and as pages, on one server with an owner, a member and a guest."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.serving import Serving, Visitor, serving

People = tuple[Serving, Visitor, Visitor, Visitor]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("made")


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory, made: Path) -> Iterator[People]:
    write = {"call": {"name": "Write", "arguments": {"path": str(made / "a.py"), "content": "one\n"}}}
    with serving(tmp_path_factory.mktemp("autonomy") / "data", script=[write, {"text": "So far."}]) as server:
        owner, member, guest = (Visitor(server.url) for _ in range(3))
        owner.become_owner(server.token)
        for visitor, role in ((member, "user"), (guest, "guest")):
            done = owner.ask("POST", "/api/v1/users", {"name": role, "email": f"{role}@example.org", "role": role})
            token = done.json()["invitation"]["path"].partition("token=")[2]
            visitor.client.post("/join", data={"token": token, "password": "another horse"})
            visitor.csrf = visitor.ask("GET", "/api/v1/session").json()["csrf"]
        yield server, owner, member, guest
        for each in (owner, member, guest):
            each.client.close()


def test_levels_are_read_by_all_and_set_by_who_may_decide(people: People) -> None:
    _, owner, member, guest = people
    shown = owner.ask("GET", "/api/v1/autonomy").json()
    assert shown["mayChange"]
    assert [(each["category"], each["level"], each["reversible"]) for each in shown["levels"]] == [
        ("files", 1, True),
        ("commands", 1, False),
        ("web", 1, False),
        ("other", 1, False),
    ]
    changed = owner.ask("PATCH", "/api/v1/autonomy/files", {"level": 3})
    assert (changed.status_code, changed.json()["level"], changed.json()["changedBy"]) == (200, 3, "Léa Morel")
    for category, level, status, code in (
        ("web", 2, 400, "autonomy_locked"),
        ("files", 4, 400, "bad_level"),
        ("nothing", 1, 404, "no_category"),
        ("files", "3", 400, "ValidationError"),
    ):
        refused = owner.ask("PATCH", f"/api/v1/autonomy/{category}", {"level": level})
        assert (refused.status_code, refused.json()["code"]) == (status, code)
    for visitor in (member, guest):
        read = visitor.ask("GET", "/api/v1/autonomy").json()
        assert (read["mayChange"], read["levels"][0]["level"]) == (False, 3)
        assert visitor.ask("PATCH", "/api/v1/autonomy/files", {"level": 1}).status_code == 403
    acts = owner.ask("GET", "/api/v1/audit?action=level").json()["acts"]
    assert [each["details"] for each in acts] == [{"category": "files", "from": 1, "to": 3}]


def test_the_queue_stands_above_the_levels_and_its_old_address_leads_there(people: People, made: Path) -> None:
    _, owner, member, _ = people
    conversation = owner.conversation("Keys")
    owner.ask("PATCH", f"/api/v1/conversations/{conversation}", {"folders": [{"path": str(made)}]})
    owner.say(conversation, "Write it")
    owner.until_done(conversation)
    (waiting,) = owner.ask("GET", "/api/v1/approvals").json()["approvals"]
    assert (waiting["category"], waiting["background"], waiting["problem"]) == ("files", False, None)
    old = owner.client.get("/approvals?show=decided")
    assert (old.status_code, old.headers["location"]) == (303, "/autonomy?show=decided")
    page = owner.ask("GET", "/autonomy").text
    assert page.index('id="queue"') < page.index(f'data-ticket="{waiting["id"]}"') < page.index('id="levels"')
    assert f'href="/conversations/{conversation}" id="w-' in page
    assert f'<code class="ask-call" title="{made}/a.py">a.py</code>' in page, "as it is seen from the folder"
    assert "<code>write_file · a.py</code>" in owner.ask("GET", "/").text
    other = member.ask("GET", "/autonomy").text
    assert "data-decide" not in other
    assert "data-level" not in other


def test_all_tools_are_listed_with_their_risk_and_grant_nothing(people: People) -> None:
    _, owner, _, guest = people
    rows = {each["id"]: each for each in guest.ask("GET", "/api/v1/tools").json()["tools"]}
    risks = {name: (row["category"], row["risk"], row["asks"]) for name, row in rows.items()}
    assert {name: risks[name] for name in ("read_file", "grep", "glob", "write_file", "edit_file", "run_command")} == {
        "read_file": ("looking", "green", False),
        "grep": ("looking", "green", False),
        "glob": ("looking", "green", False),
        "write_file": ("files", "yellow", True),
        "edit_file": ("files", "yellow", True),
        "run_command": ("commands", "red", True),
    }
    assert {"memory_search", "memory_expand", "web_fetch", "run_specialist", "assign_task"} <= set(rows)
    assert rows["read_file"]["inputSchema"]["properties"]["path"]
    for query, ids in (
        ("risk=yellow", {"write_file", "edit_file"}),
        ("category=memory", {"memory_search", "memory_expand", "memory_store"}),
        ("q=run_command", {"run_command"}),
        ("q=nothing+like+it", set[str]()),
    ):
        found = {each["id"] for each in owner.ask("GET", f"/api/v1/tools?{query}").json()["tools"]}
        assert found >= ids if query.startswith("q=run") else found == ids
    assert owner.ask("GET", "/api/v1/tools?risk=purple").status_code == 400
    page = guest.ask("GET", "/tools?risk=red").text
    assert "run_command" in page
    assert "read_file</code></b>" not in page
    assert "data-decide" not in page


def test_each_refusal_without_a_person_is_one_row_without_any_value(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "home" / ".claude").mkdir(parents=True)
    (data / "home" / ".maia").mkdir()
    paths = ["~/canary-notes", "not/absolute", "~/.claude"]
    rules = {"permissions": {"deny": ["Read(**/canary.txt)"]}, "security": {"foreignMemoryPaths": paths}}
    (data / "home" / ".maia" / "settings.json").write_text(json.dumps(rules))
    calls = [
        {"call": {"name": "Read", "arguments": {"path": str(data / "home" / ".claude" / "canary-store.json")}}},
        {"call": {"name": "Read", "arguments": {"path": "/etc/canary-outside"}}},
        {"call": {"name": "Read", "arguments": {"path": "canary.txt"}}},
    ]
    with serving(data, script=[*calls, {"text": "So far."}]) as server, Visitor(server.url) as owner:
        owner.become_owner(server.token)
        conversation = owner.conversation("Canary keys")
        owner.say(conversation, "Read them")
        owner.until_done(conversation)
        listed = owner.ask("GET", "/api/v1/security/denials").json()["denials"]
        rows = [(each["decision"], each["checkpoint"], each["reason"], each["tool"]) for each in listed]
        assert rows == [("deny", "deterministic", reason, "Read") for reason in ("rule", "outside", "protected")]
        assert {each["conversationId"] for each in listed} == {conversation}
        assert "canary" not in json.dumps(listed)
        shown = owner.ask("GET", "/api/v1/security").json()
        assert [(each["reason"], each["count"]) for each in shown["refusals24h"]] == [
            ("outside", 1),
            ("protected", 1),
            ("rule", 1),
        ]
        assert shown["foreignMemoryPaths"] == [
            {"path": "~/canary-notes", "state": "missing"},
            {"path": "not/absolute", "state": "ignored"},
            {"path": "~/.claude", "state": "found"},
        ]
        assert (shown["workspaces"], "~/.maia" in shown["ownData"]) == (str(data / "workspaces"), True)
        assert shown["sandbox"]["mode"] == "required"
        page = owner.ask("GET", "/security").text
        assert page.count("canary-store") == page.count("canary-outside") == page.count("canary.txt") == 0
        assert f'href="/conversations/{conversation}"' in page
        body = {"name": "Ann", "email": "ann@example.org", "role": "admin"}
        token = owner.ask("POST", "/api/v1/users", body).json()["invitation"]["path"].partition("token=")[2]
        with Visitor(server.url) as admin:
            admin.client.post("/join", data={"token": token, "password": "another horse"})
            seen = admin.ask("GET", "/api/v1/security/denials").json()["denials"]
            assert [each["conversationId"] for each in seen] == [None] * 3, "another person's is not named"
            page = admin.ask("GET", "/security").text
            assert (conversation in page, "Canary keys" in page) == (False, False)


def test_security_is_for_those_who_lead(people: People) -> None:
    _, _, member, guest = people
    for visitor in (member, guest):
        for path in ("/api/v1/security", "/api/v1/security/denials", "/security"):
            assert visitor.ask("GET", path).status_code == 403
        assert 'href="/security"' not in visitor.ask("GET", "/tools").text
