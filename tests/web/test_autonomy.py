"""Autonomy, tools and security by the interface and as pages, on one server with an owner, a member and a guest."""

from collections.abc import Iterator

import pytest

from tests.web.serving import Serving, Visitor, serving

WRITE = {"call": {"name": "Write", "arguments": {"path": "a.py", "content": "one\n"}}}
People = tuple[Serving, Visitor, Visitor, Visitor]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    with serving(tmp_path_factory.mktemp("autonomy") / "data", script=[WRITE, {"text": "So far."}]) as server:
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


def test_the_queue_stands_above_the_levels_and_its_old_address_leads_there(people: People) -> None:
    _, owner, member, _ = people
    conversation = owner.conversation("Keys")
    owner.say(conversation, "Write it")
    owner.until_done(conversation)
    (waiting,) = owner.ask("GET", "/api/v1/approvals").json()["approvals"]
    assert (waiting["category"], waiting["background"], waiting["problem"]) == ("files", False, None)
    old = owner.client.get("/approvals?show=decided")
    assert (old.status_code, old.headers["location"]) == (303, "/autonomy?show=decided")
    page = owner.ask("GET", "/autonomy").text
    assert page.index('id="queue"') < page.index(f'data-ticket="{waiting["id"]}"') < page.index('id="levels"')
    assert f'href="/conversations/{conversation}" id="w-' in page
    other = member.ask("GET", "/autonomy").text
    assert "data-decide" not in other
    assert 'data-level="files" checked disabled' in other
