from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.web.serving import Serving, Visitor, serving

AGENT = """---
name: iris
nickname: Iris
description: Looks after invoices
---

## Instructions system

You look after invoices.

## Missions

Answer questions about invoices.

## Output

One line.
"""


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server whose owner has a colleague."""
    data = tmp_path_factory.mktemp("office") / "data"
    agent = data / "home" / ".maia" / "agents" / "iris" / "AGENT.md"
    agent.parent.mkdir(parents=True)
    agent.write_text(AGENT, "utf-8")
    with serving(data) as server:
        with Visitor(server.url) as first:
            first.become_owner(server.token)
        yield server


@pytest.fixture
def owner(office: Serving) -> Iterator[Visitor]:
    with Visitor(office.url) as visitor:
        visitor.sign_in()
        yield visitor


def stages(owner: Visitor) -> list[dict[str, Any]]:
    return owner.ask("GET", "/api/v1/projects").json()["stages"]


def test_a_new_installation_has_stages_and_the_persons_agents(owner: Visitor) -> None:
    assert [(each["name"], each["closed"]) for each in stages(owner)][:4] == [
        ("To do", False),
        ("Doing", False),
        ("Review", False),
        ("Done", True),
    ]
    colleagues = owner.ask("GET", "/api/v1/colleagues").json()["colleagues"]
    assert [(each["name"], each["description"]) for each in colleagues] == [("iris", "Looks after invoices")]


def test_fields_are_set_and_told_and_their_changes_kept(owner: Visitor) -> None:
    project = owner.ask("POST", "/api/v1/projects", {"name": "Invoicing", "agent": "iris"}).json()["id"]
    conversation = owner.conversation("A card")
    path = f"/api/v1/conversations/{conversation}"
    fields = {"priority": "high", "projectId": project, "dueOn": "2026-12-04", "pinned": True, "labels": ["tax"]}
    changed = owner.ask("PATCH", path, fields)
    assert changed.status_code == 200, changed.text
    read = owner.ask("GET", path).json()
    assert {name: read[name] for name in fields} == fields
    assert (read["agent"], read["project"], read["stageId"]) == ("iris", "Invoicing", stages(owner)[0]["id"])
    note = owner.ask("POST", f"{path}/notes", {"note": "Three decimals"})
    assert note.status_code == 201
    entries = owner.ask("GET", f"{path}/history").json()["entries"]
    assert entries[0]["id"] == note.json()["id"]
    assert {(e["field"], e["old"], e["new"]) for e in entries[1:]} == {
        ("priority", "normal", "high"),
        ("project", None, "Invoicing"),
        ("due", None, "2026-12-04"),
    }
    notes = owner.ask("GET", f"{path}/history?kind=note").json()
    assert ([e["note"] for e in notes["entries"]], notes["next"]) == (["Three decimals"], None)
    owner.ask("PATCH", path, {"dueOn": None, "priority": None})
    read = owner.ask("GET", path).json()
    assert (read["dueOn"], read["priority"]) == (None, "high"), "null takes away what may be missing, no more"


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ({"title": " "}, "title_empty"),
        ({"stageId": "nowhere"}, "no_stage"),
        ({"agent": "nobody"}, "no_agent"),
        ({"labels": ["x" * 50]}, "bad_labels"),
        ({"folders": [{"path": "/"}]}, "home"),
        ({"providerId": "nowhere", "modelId": "none"}, "model_binding_unavailable"),
        ({"modelBinding": "inherit"}, "binding_inherit_needs_agent"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_change_with_one_bad_part_changes_nothing(owner: Visitor, bad: dict[str, Any], code: str) -> None:
    path = f"/api/v1/conversations/{owner.conversation('Before')}"
    before = owner.ask("GET", path).json()
    good = {"title": "After", "priority": "urgent", "dueOn": "2031-01-02", "pinned": True, "labels": ["a"]}
    refused = owner.ask("PATCH", path, {**good, "archived": True, "folders": [], **bad})
    assert (refused.status_code, refused.json()["code"]) == (400, code)
    assert owner.ask("GET", path).json() == before
    assert owner.ask("GET", f"{path}/history").json()["entries"] == []


def test_readers_of_a_conversation_are_told_which_parts_of_its_record_changed(owner: Visitor) -> None:
    conversation = owner.conversation("Told")
    path = f"/api/v1/conversations/{conversation}"
    owner.ask("PATCH", path, {"priority": "high", "title": "Told again"})
    owner.ask("PATCH", path, {"folders": []})
    owner.ask("POST", f"{path}/notes", {"note": "A note"})
    owner.say(conversation, "Hello")
    told = [each.json["event"] for each in owner.until_done(conversation) if each.kind == "RecordChanged"]
    assert [each["parts"] for each in told] == [["fields", "history"], ["fields", "folders"], ["history"]]


def test_a_card_on_a_projects_board_is_a_conversation(owner: Visitor) -> None:
    project = owner.ask("POST", "/api/v1/projects", {"name": "Board of its own"}).json()["id"]
    made = owner.ask("POST", f"/api/v1/projects/{project}/conversations", {"title": "One", "priority": "urgent"})
    assert made.status_code == 201
    card = made.json()
    assert (card["projectId"], card["priority"], card["title"]) == (project, "urgent", "One")
    board = owner.ask("GET", f"/api/v1/board?project={project}").json()
    assert [each["id"] for each in board["cards"]] == [card["id"]]
    assert owner.ask("POST", "/api/v1/projects/nowhere/conversations", {}).status_code == 404
    assert owner.ask("DELETE", f"/api/v1/projects/{project}").status_code == 204
    assert owner.ask("POST", f"/api/v1/projects/{project}/conversations", {}).status_code == 404


def test_moving_a_card_answers_with_the_card(owner: Visitor) -> None:
    conversation, doing = owner.conversation("To be moved"), stages(owner)[1]["id"]
    moved = owner.ask("POST", f"/api/v1/conversations/{conversation}/move", {"stageId": doing})
    assert (moved.status_code, moved.json()["stageId"]) == (200, doing)
    gone = owner.ask("POST", f"/api/v1/conversations/{conversation}/move", {"stageId": "nowhere"})
    assert (gone.status_code, gone.json()["code"]) == (400, "no_stage")


def test_a_board_is_asked_for_by_its_filters_and_lanes(owner: Visitor) -> None:
    doing = stages(owner)[1]["id"]
    made = [owner.ask("POST", "/api/v1/conversations", {"title": f"Filtered {n}", "stageId": doing}) for n in range(3)]
    ids = [each.json()["id"] for each in made]
    owner.ask("PATCH", f"/api/v1/conversations/{ids[0]}", {"labels": ["only"]})
    for card, place in ((ids[0], {"first": True}), (ids[2], {"after": ids[1]})):
        assert owner.ask("POST", f"/api/v1/conversations/{card}/move", place).status_code == 200

    def shown(query: str) -> tuple[list[str], list[int]]:
        board = owner.ask("GET", f"/api/v1/board?{query}").json()
        return [card["id"] for card in board["cards"]], [lane["count"] for lane in board["lanes"]]

    assert shown("q=filtered") == ([ids[0], ids[1], ids[2]], [3])
    assert shown("q=filtered&limit=1") == ([ids[0]], [3])
    assert shown(f"q=filtered&limit=1&more={doing}:2") == ([ids[0], ids[1]], [3])
    assert shown("label=only&group=priority") == ([ids[0]], [1])
    assert shown("q=filtered&state=done") == ([], [])
    for wrong in ("group=colour", "state=x", "limit=0", "q=%00"):
        assert owner.ask("GET", f"/api/v1/board?{wrong}").status_code == 400, wrong


def test_a_conversation_leaves_as_a_file(owner: Visitor) -> None:
    conversation = owner.conversation('Bad "name"/../x')
    owner.say(conversation, "# Hello")
    owner.until_done(conversation)
    path = f"/api/v1/conversations/{conversation}/export"
    text = owner.ask("GET", path)
    assert (text.status_code, text.headers["content-type"]) == (200, "text/markdown; charset=utf-8")
    assert 'filename="Bad name .. x.md"' in text.headers["content-disposition"]
    assert text.text.startswith('# Bad "name"/../x\n')
    assert "# Hello" in text.text
    whole = owner.ask("GET", f"{path}?format=json").json()
    assert [message["role"] for message in whole["messages"]] == ["user", "assistant"]
    assert owner.ask("GET", f"{path}?format=exe").status_code == 400


def test_the_agent_stays_after_the_first_message(owner: Visitor) -> None:
    conversation = owner.conversation()
    owner.say(conversation, "Hello")
    owner.until_done(conversation)
    refused = owner.ask("PATCH", f"/api/v1/conversations/{conversation}", {"agent": "iris"}, Accept_Language="fr")
    assert (refused.status_code, refused.json()["code"]) == (400, "agent_locked")
    assert refused.json()["message"] == "L'agent ne peut plus être modifié après le premier message"


def test_deleting_has_an_undo(owner: Visitor) -> None:
    conversation = owner.conversation("Zebra crossing")
    path = f"/api/v1/conversations/{conversation}"
    found = owner.ask("GET", "/api/v1/search?q=zebra").json()["found"]
    assert [each["id"] for each in found] == [conversation]
    assert owner.ask("DELETE", path).status_code == 204
    assert owner.ask("GET", path).status_code == 404
    assert owner.ask("GET", "/api/v1/search?q=zebra").json()["found"] == []
    assert owner.ask("POST", f"{path}/restore").json()["title"] == "Zebra crossing"
    assert owner.ask("GET", path).status_code == 200
    assert owner.ask("POST", "/api/v1/conversations/nowhere/restore").status_code == 404


def test_stages_and_types_are_changed_and_ordered(owner: Visitor) -> None:
    made = owner.ask("POST", "/api/v1/stages", {"name": "Waiting for tax office", "wipLimit": 3}).json()["id"]
    before = [each["id"] for each in stages(owner)]
    assert owner.ask("PUT", "/api/v1/order/stages", {"ids": [*before[1:], before[0]]}).status_code == 204
    assert [each["id"] for each in stages(owner)] == [*before[1:], before[0]]
    assert owner.ask("PUT", "/api/v1/order/stages", {"ids": before}).status_code == 204
    assert owner.ask("PATCH", f"/api/v1/stages/{made}", {"wipLimit": None, "folded": True}).status_code == 204
    assert {(s["wipLimit"], s["folded"]) for s in stages(owner) if s["id"] == made} == {(None, True)}
    assert owner.ask("DELETE", f"/api/v1/stages/{made}").status_code == 204
    kind = owner.ask("POST", "/api/v1/project-types", {"name": "Incident", "priority": "urgent"}).json()["id"]
    assert owner.ask("PATCH", f"/api/v1/project-types/{kind}", {"name": "Outage"}).status_code == 204
    types = owner.ask("GET", "/api/v1/projects").json()["types"]
    assert [(t["name"], t["priority"]) for t in types if t["id"] == kind] == [("Outage", "urgent")]
    assert owner.ask("DELETE", f"/api/v1/project-types/{kind}").status_code == 204
    wrong: list[tuple[str, str, Any, int]] = [
        ("POST", "/api/v1/stages", {}, 400),
        ("POST", "/api/v1/projects", {"name": " "}, 400),
        ("POST", "/api/v1/projects", {"name": "x", "typeId": kind}, 400),
        ("PATCH", "/api/v1/projects/nowhere", {"name": "x"}, 404),
        ("DELETE", "/api/v1/stages/nowhere", None, 404),
        ("PUT", "/api/v1/order/projects", {"ids": []}, 400),
    ]
    for method, path, body, status in wrong:
        assert owner.ask(method, path, body).status_code == status, (method, path)


def test_what_all_share_is_changed_by_those_who_may(tmp_path: Path) -> None:
    import asyncio

    from maia.database import users
    from maia.database.address import database_url
    from maia.database.database import Database
    from maia.workspace.people.passwords import hashed

    data = tmp_path / "data"
    with serving(data) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
    kept = asyncio.run(hashed("another horse"))
    database = Database(database_url(None, data))
    database.write_soon(lambda c: users.add_user(c, "b@example.org", "B", "user", kept, None)).result()
    database.close()
    with serving(data) as server, Visitor(server.url) as member:
        member.sign_in("b@example.org", "another horse")
        for method, path in (
            ("POST", "/api/v1/projects"),
            ("POST", "/api/v1/stages"),
            ("DELETE", "/api/v1/stages/x"),
            ("PUT", "/api/v1/prompts/master"),
        ):
            assert member.ask(method, path, {"name": "x", "prompt": "x"}).status_code == 403
        assert member.ask("GET", "/api/v1/projects").status_code == 200


def test_older_entries_come_page_by_page_and_are_nobody_elses(owner: Visitor) -> None:
    conversation = owner.conversation("Long")
    for n in range(45):
        owner.ask("POST", f"/api/v1/conversations/{conversation}/notes", {"note": f"note {n}."})
    path = f"/ui/conversations/{conversation}/rail/history"
    first = owner.ask("GET", f"{path}?kind=note").text
    assert ("note 44." in first, "note 5." in first, "note 4." in first) == (True, True, False)
    more = first.split('hx-get="')[1].split('"')[0].replace("&amp;", "&")
    second = owner.ask("GET", more).text
    assert ("note 4." in second, "note 0." in second, "note 5." in second, "hx-get" in second) == (
        True,
        True,
        False,
        False,
    )
    assert "<h3" not in second
    for tab in ("history", "folders"):
        assert owner.ask("GET", f"/ui/conversations/{'0' * len(conversation)}/rail/{tab}").status_code == 404
    assert owner.ask("GET", f"/ui/conversations/{'0' * len(conversation)}/bar").status_code == 404


def test_the_first_stages_are_named_in_the_language_of_the_first_owner(data: Path) -> None:
    with serving(data) as server, Visitor(server.url) as owner:
        owner.client.headers["accept-language"] = "fr"
        owner.become_owner(server.token)
        names = [stage["name"] for stage in stages(owner)]
    assert names == ["À faire", "En cours", "En revue", "Terminé"]
