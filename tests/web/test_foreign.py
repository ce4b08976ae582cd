"""Ids of other people on every route that takes one, found by walking the routes: none is answered or changed.

Held against CVE-2026-31950, CVE-2026-45349, CVE-2026-45671 and CVE-2026-23522 of other workspaces.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.web.serving import Serving, Visitor, serving
from tests.web.test_access import API, OPEN, Walked, routes

WRITE = {"call": {"name": "Write", "arguments": {"path": "a.py", "content": "one\n"}}}
PERSONAL = {
    "conversation_id": 404,
    "deleted_id": 404,
    "note_id": 404,
    "sign_in_id": 404,
    "approval_id": 404,
    "attachment_id": 404,
    "user_id": 403,
    "ticket_id": 403,  # a line's, refused at the handshake: tests/web/test_opencode.py
}
"""Parts of paths that name something of one person, with the answer for anybody else who has no right to it."""
SHARED = {"category", "row_id", "kind", "provider_id", "tier", "digest", "name", "agent_id", "entry_id"}
"""Parts of paths that name what all people of an installation share."""
BODY: dict[str, Any] = {
    "content": "x", "note": "x", "title": "x", "text": "x", "decision": "approve", "role": "guest", "enabled": False,
    "name": "x", "folders": [], "archived": True, "before": None, "pinned": True,
}  # fmt: skip
UNSAFE = {"POST", "PUT", "PATCH", "DELETE"}


def parts(path: str) -> list[str]:
    return re.findall(r"{(\w+)(?::\w+)?}", path)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Visitor, Visitor, Visitor]]:
    """The owner with something of every kind, a member and a guest."""
    with serving(tmp_path_factory.mktemp("foreign") / "data", script=[WRITE, {"text": "So far."}]) as server:
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


def belongings(owner: Visitor) -> dict[str, str]:
    """The id of one thing of each kind."""
    conversation, deleted = owner.conversation("Mine alone"), owner.conversation("Deleted")
    owner.say(conversation, "Write it")
    owner.until_done(conversation)
    owner.ask("DELETE", f"/api/v1/conversations/{deleted}")
    note = owner.ask("POST", "/api/v1/memory/notes", {"text": "The canary is kept in cage seven"})
    headers = {"X-CSRF-Token": owner.csrf}
    place = f"/api/v1/conversations/{conversation}/attachments?name=canary.txt"
    kept = owner.client.post(place, content=b"The canary is kept in cage seven", headers=headers)
    return {
        "attachment_id": kept.json()["id"],
        "conversation_id": conversation,
        "deleted_id": deleted,
        "note_id": note.json()["id"],
        "sign_in_id": owner.ask("GET", "/api/v1/session/sign-ins").json()["signIns"][0]["id"],
        "approval_id": owner.ask("GET", "/api/v1/approvals").json()["approvals"][0]["id"],
        "user_id": owner.ask("GET", "/api/v1/session").json()["id"],
    }


def state(owner: Visitor, ids: dict[str, str]) -> list[Any]:
    """What the owner sees of it."""
    paths = [
        "conversations/" + ids["conversation_id"],
        "attachments/" + ids["attachment_id"],
        "memory/notes",
        "session/sign-ins",
        "users",
        "approvals",
    ]
    seen = [owner.ask("GET", f"/api/v1/{path}").json() for path in paths]
    return [re.sub(r'"seenAt": ?"[^"]*"', "", str(each)) for each in seen]


def concrete(route: Walked, ids: dict[str, str]) -> str:
    path = route.path
    for name in parts(path):
        path = re.sub(rf"{{{name}(:\w+)?}}", ids.get(name, "1"), path)
    if "conversation" in [each.name for each in route.dependant.query_params] or path == "/ui/stream":
        path += f"?conversation={ids['conversation_id']}"
    return path


def test_every_part_of_a_path_is_known_to_be_somebodys_or_everybodys() -> None:
    named = {name for route in routes() for name in parts(route.path)}
    unknown = named - set(PERSONAL) - SHARED
    assert unknown == set(), "say in this file whether these are one person's; then they are tried here"


def test_nothing_of_another_person_is_answered_or_changed_on_any_route(
    people: tuple[Serving, Visitor, Visitor, Visitor],
) -> None:
    _, owner, member, _ = people
    ids = belongings(owner)
    before = state(owner, ids)
    tried, wrong = 0, list[tuple[str, str, int]]()
    for route in routes():
        named = [name for name in parts(route.path) if name in PERSONAL]
        if not named and route.path != "/ui/stream":
            continue
        expected = PERSONAL[named[0]] if named else 404
        for method in sorted(route.methods):
            for spelled in (ids, {name: value.upper() for name, value in ids.items()}):
                path = concrete(route, spelled)
                answer = member.ask(method, path, BODY if method in UNSAFE - {"DELETE"} else None)
                tried += 1
                if answer.status_code != expected:
                    wrong.append((method, route.path, answer.status_code))
                assert "Mine alone" not in answer.text
                assert "cage seven" not in answer.text
    assert wrong == []
    assert tried > 50
    assert state(owner, ids) == before
    for path in ("conversations", "memory/notes", "approvals", "board", "search?q=canary", "search?q=alone"):
        assert "alone" not in member.ask("GET", f"/api/v1/{path}").text.replace("q=alone", "")
    for path in ("/", "/board", "/memory", "/approvals", "/ui/find?q=alone"):
        assert "Mine alone" not in member.ask("GET", path, Accept="text/html").text


def test_an_id_of_another_person_in_a_body_or_a_question_leads_nowhere(
    people: tuple[Serving, Visitor, Visitor, Visitor],
) -> None:
    _, owner, member, _ = people
    foreign, own = owner.conversation("Mine alone"), member.conversation("Own")
    for body in ({"before": foreign}, {"parentId": foreign}):
        answer = member.ask("POST", f"/api/v1/conversations/{own}/move", body)
        assert "Mine alone" not in answer.text
        assert answer.status_code < 500
    seen = owner.ask("GET", f"/api/v1/conversations/{foreign}").json()
    assert seen["title"] == "Mine alone"


def test_who_may_only_read_changes_nothing_on_any_route(people: tuple[Serving, Visitor, Visitor, Visitor]) -> None:
    _, owner, _, guest = people
    own_account = f"{API}/session"
    wrong = list[tuple[str, str, int]]()
    for route in routes():
        if route.path in OPEN or route.path.startswith(own_account):
            continue
        for method in sorted(route.methods & UNSAFE):
            answer = guest.ask(method, concrete(route, {}), BODY if method != "DELETE" else None)
            if (answer.status_code, answer.json().get("code")) != (403, "may_only_read"):
                wrong.append((method, route.path, answer.status_code))
    assert wrong == []
    assert owner.ask("GET", "/api/v1/projects").status_code == 200


LEADING = re.compile(
    rf"{API}/(users|audit|model/|routing/|project-types|stages|order|privacy|projects|agents|autonomy|opencode)"
)


def test_what_all_people_share_is_changed_by_those_who_lead_alone(
    people: tuple[Serving, Visitor, Visitor, Visitor],
) -> None:
    _, owner, member, _ = people
    known = {"provider_id": owner.ask("GET", "/api/v1/model/providers").json()["providers"][0]["id"], "tier": "quick"}
    wrong = list[tuple[str, str, int]]()
    for route in routes():
        if not LEADING.match(route.path) or route.path.endswith("/conversations"):
            continue
        for method in sorted(route.methods & UNSAFE):
            answer = member.ask(method, concrete(route, known), BODY if method != "DELETE" else None)
            if answer.status_code not in (400, 403):
                wrong.append((method, route.path, answer.status_code))
    assert wrong == []


@pytest.mark.parametrize(
    ("page", "offers"),
    [
        ("/", ('id="new-conversation"', 'data-composer="new"', 'href="/terminal"')),
        ("/board", ('id="new-conversation"', 'id="new-card"', "data-new-card")),
        ("/memory", ('id="new-conversation"', 'data-note="POST"')),
    ],
)
def test_whoever_only_reads_is_offered_nothing_to_write(
    people: tuple[Serving, Visitor, Visitor, Visitor], page: str, offers: tuple[str, ...]
) -> None:
    _, _, member, guest = people
    assert [each in member.ask("GET", page).text for each in offers] == [True] * len(offers)
    assert [each in guest.ask("GET", page).text for each in offers] == [False] * len(offers)


def test_whoever_only_reads_sees_nothing_of_what_others_said_at_a_terminal(
    people: tuple[Serving, Visitor, Visitor, Visitor], tmp_path: Path
) -> None:
    _, _, member, guest = people
    listed = f"{API}/terminal-sessions?folder={tmp_path}"
    for path in ("/terminal", f"/terminal?folder={tmp_path}", listed):
        assert guest.ask("GET", path).status_code == 403, path
    assert [member.ask("GET", path).status_code for path in ("/terminal", listed)] == [200, 200]
