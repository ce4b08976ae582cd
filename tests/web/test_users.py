"""People and their rights, through the interface of a real server on both databases."""

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.web.serving import OWNER, Serving, Visitor

Join = Callable[..., Visitor]
PASSWORD = "another horse"
_NUMBERS = itertools.count()


@pytest.fixture
def join(served: Serving, owner: Visitor) -> Iterator[Join]:
    """Invites somebody and signs them in: `join(role)`."""
    opened: list[Visitor] = []

    def made(role: str = "user", by: Visitor = owner, name: str = "Noor") -> Visitor:
        email = f"{role}-{next(_NUMBERS)}@example.org"
        done = by.ask("POST", "/api/v1/users", {"name": name, "email": email, "role": role})
        assert done.status_code == 201, done.text
        visitor = Visitor(served.url)
        opened.append(visitor)
        token = done.json()["invitation"]["path"].partition("token=")[2]
        entered = visitor.client.post("/join", data={"token": token, "password": PASSWORD})
        assert (entered.status_code, entered.headers["location"]) == (303, "/"), entered.text
        me = visitor.ask("GET", "/api/v1/session").json()
        visitor.csrf, visitor.user = me["csrf"], me  # type: ignore[attr-defined]
        return visitor

    yield made
    for each in opened:
        each.client.close()


def who(visitor: Visitor) -> dict[str, Any]:
    return visitor.ask("GET", "/api/v1/session").json()


def status(visitor: Visitor) -> int:
    return visitor.ask("GET", "/api/v1/session").status_code


def test_somebody_who_is_invited_joins_once_by_the_link(served: Serving, owner: Visitor) -> None:
    invited = owner.ask("POST", "/api/v1/users", {"name": "Ana", "email": "ANA@example.org", "role": "admin"})
    assert invited.status_code == 201
    user, link = invited.json()["user"], invited.json()["invitation"]["path"]
    shown = owner.ask("GET", f"/api/v1/users/{user['id']}").json()
    assert (shown["status"], shown["email"], shown["role"]) == ("invited", "ana@example.org", "admin")
    assert shown["invitedUntil"] is not None
    with Visitor(served.url) as ana:
        assert ana.sign_in("ana@example.org", "").status_code == 401, "nobody enters without a password"
        assert "Ana" in ana.client.get(link).text
        token = link.partition("token=")[2]
        assert ana.client.post("/join", data={"token": token, "password": "short"}).status_code == 400
        assert ana.client.post("/join", data={"token": token, "password": PASSWORD}).status_code == 303
        assert who(ana)["role"] == "admin"
        assert ana.client.post("/join", data={"token": token, "password": "somebody else"}).status_code == 401
        assert ana.client.get(link).status_code == 410
    assert owner.ask("GET", f"/api/v1/users/{user['id']}").json()["status"] == "active"
    again = owner.ask("POST", "/api/v1/users", {"name": "Ana", "email": "ana@example.org"})
    assert (again.status_code, again.json()["code"]) == (409, "email_taken")


def test_a_newer_link_ends_the_older_one_and_using_it_ends_all_sign_ins(
    served: Serving, owner: Visitor, join: Join
) -> None:
    somebody = join()
    user = who(somebody)
    links = [owner.ask("POST", f"/api/v1/users/{user['id']}/invitation").json() for _ in range(2)]
    first, second = (each["invitation"]["path"].partition("token=")[2] for each in links)
    with Visitor(served.url) as visitor:
        assert visitor.client.post("/join", data={"token": first, "password": PASSWORD}).status_code == 401
        assert status(somebody) == 200
        assert visitor.client.post("/join", data={"token": second, "password": "a new horse"}).status_code == 303
        assert status(somebody) == 401
        assert visitor.sign_in(user["email"], "a new horse").status_code == 201


def test_archiving_acts_at_once_on_requests_and_on_open_streams(owner: Visitor, join: Join) -> None:
    somebody = join()
    user, conversation = who(somebody)["id"], somebody.conversation("Kept")
    ended = threading.Event()
    begun = threading.Event()

    def read(path: str) -> None:
        with somebody.client.stream("GET", path) as answer:
            begun.set() if answer.status_code == 200 else None
            for _ in answer.iter_lines():
                pass
        ended.set()

    reader = threading.Thread(target=read, args=(f"/ui/stream?conversation={conversation}&cursor=0",), daemon=True)
    reader.start()
    assert begun.wait(10)
    assert owner.ask("DELETE", f"/api/v1/users/{user}").json()["status"] == "archived"
    assert ended.wait(5), "an open stream ends, long before its next sign of life"
    assert status(somebody) == 401
    assert somebody.sign_in(who_email(owner, user), PASSWORD).status_code == 401
    assert owner.ask("POST", f"/api/v1/users/{user}/restore").json()["status"] == "active"
    assert status(somebody) == 401, "restoring brings no old sign-in back"
    assert somebody.sign_in(who_email(owner, user), PASSWORD).status_code == 201
    assert somebody.ask("GET", f"/api/v1/conversations/{conversation}").json()["title"] == "Kept"


def who_email(owner: Visitor, user: str) -> str:
    return owner.ask("GET", f"/api/v1/users/{user}").json()["email"]


def test_another_role_acts_at_once(owner: Visitor, join: Join) -> None:
    somebody = join("admin")
    user = who(somebody)["id"]
    assert somebody.ask("GET", "/api/v1/users").status_code == 200
    assert owner.ask("PATCH", f"/api/v1/users/{user}", {"role": "guest"}).json()["role"] == "guest"
    assert somebody.ask("GET", "/api/v1/users").status_code == 403
    refused = somebody.ask("POST", "/api/v1/conversations", {})
    assert (refused.status_code, refused.json()["code"]) == (403, "may_only_read")
    assert somebody.ask("PATCH", "/api/v1/session/preferences", {"lang": "en"}).status_code == 200


def test_who_may_only_read_opens_the_record_of_a_conversation_without_a_stage(owner: Visitor, join: Join) -> None:
    somebody = join()
    conversation = somebody.conversation("Nowhere")
    assert somebody.ask("PATCH", f"/api/v1/conversations/{conversation}", {"stageId": None}).status_code == 200
    owner.ask("PATCH", f"/api/v1/users/{who(somebody)['id']}", {"role": "guest"})
    shown = somebody.ask("GET", f"/ui/cards/{conversation}")
    assert (shown.status_code, "Nowhere" in shown.text) == (200, True)


REFUSED = [
    pytest.param("admin", "owner", "PATCH", {"role": "user"}, "not_allowed", id="an administrator, an owner"),
    pytest.param("admin", "admin", "DELETE", None, "not_allowed", id="an administrator, another one"),
    pytest.param("admin", "user", "PATCH", {"role": "owner"}, "not_allowed", id="an administrator makes an owner"),
    pytest.param("admin", "user", "PATCH", {"role": "admin"}, "not_allowed", id="an administrator makes their equal"),
    pytest.param("user", "guest", "DELETE", None, "not_allowed", id="a member"),
    pytest.param("owner", "first", "DELETE", None, "first_owner", id="the first owner"),
    pytest.param("owner", "first", "PATCH", {"role": "user"}, "first_owner", id="the first owner's role"),
    pytest.param("owner", "self", "PATCH", {"role": "user"}, "not_yourself", id="oneself"),
]


@pytest.mark.parametrize(("by", "whom", "method", "body", "code"), REFUSED)
def test_nobody_reaches_above_themselves(
    owner: Visitor, join: Join, by: str, whom: str, method: str, body: Any, code: str
) -> None:
    actor = join(by)
    ids = {"first": who(owner)["id"], "self": who(actor)["id"]}
    target = ids.get(whom) or who(join(whom))["id"]
    before = owner.ask("GET", f"/api/v1/users/{target}").json()
    answer = actor.ask(method, f"/api/v1/users/{target}", body)
    assert (answer.status_code, answer.json()["code"]) == (403, code)
    link = actor.ask("POST", f"/api/v1/users/{target}/invitation")
    assert link.status_code == (403 if body != {"role": "owner"} and body != {"role": "admin"} else 201)
    after = owner.ask("GET", f"/api/v1/users/{target}").json()
    assert {k: after[k] for k in ("role", "status")} == {k: before[k] for k in ("role", "status")}


def test_who_does_not_exist_is_not_found(owner: Visitor) -> None:
    for method, path, body in (
        ("GET", "/api/v1/users/nobody", None),
        ("PATCH", "/api/v1/users/nobody", {"role": "user"}),
        ("DELETE", "/api/v1/users/nobody", None),
        ("POST", "/api/v1/users/nobody/restore", None),
        ("POST", "/api/v1/users/nobody/invitation", None),
        ("DELETE", "/api/v1/session/sign-ins/nobody", None),
    ):
        assert owner.ask(method, path, body).status_code == 404, path


def test_another_password_needs_the_present_one_and_signs_all_others_out(served: Serving, join: Join) -> None:
    somebody = join()
    email = who(somebody)["email"]
    with Visitor(served.url) as other:
        assert other.sign_in(email, PASSWORD).status_code == 201
        wrong = somebody.ask("PUT", "/api/v1/session/password", {"current": "x", "password": "a third horse"})
        assert (wrong.status_code, wrong.json()["code"]) == (401, "wrong_password")
        short = somebody.ask("PUT", "/api/v1/session/password", {"current": PASSWORD, "password": "short"})
        assert short.status_code == 400
        assert status(other) == 200
        done = somebody.ask("PUT", "/api/v1/session/password", {"current": PASSWORD, "password": "a third horse"})
        assert done.status_code == 204
        assert (status(somebody), status(other)) == (200, 401)
        assert other.sign_in(email, PASSWORD).status_code == 401
        assert other.sign_in(email, "a third horse").status_code == 201


def test_somebody_sees_their_own_sign_ins_and_ends_them(served: Serving, join: Join) -> None:
    somebody, stranger = join(), join()
    email = who(somebody)["email"]
    with Visitor(served.url) as first, Visitor(served.url) as second:
        first.sign_in(email, PASSWORD)
        second.sign_in(email, PASSWORD)
        listed = somebody.ask("GET", "/api/v1/session/sign-ins").json()["signIns"]
        assert [each["isThis"] for each in listed].count(True) == 1
        assert len(listed) == 3
        mine = next(each for each in first.ask("GET", "/api/v1/session/sign-ins").json()["signIns"] if each["isThis"])
        assert stranger.ask("DELETE", f"/api/v1/session/sign-ins/{mine['id']}").status_code == 404
        assert status(first) == 200
        assert somebody.ask("DELETE", f"/api/v1/session/sign-ins/{mine['id']}").status_code == 204
        assert (status(first), status(second)) == (401, 200)
        assert somebody.ask("DELETE", "/api/v1/session/sign-ins").json() == {"ended": 1}
        assert (status(somebody), status(second)) == (200, 401)


def test_the_audit_tells_who_did_what_to_those_who_lead(owner: Visitor, join: Join) -> None:
    somebody = join()
    user = who(somebody)["id"]
    owner.ask("PATCH", f"/api/v1/users/{user}", {"role": "guest"})
    acts = owner.ask("GET", "/api/v1/audit?action=users.").json()["acts"]
    assert acts[0]["action"] == "users.role"
    assert acts[0]["details"] == {"user": user, "before": "user", "role": "guest"}
    assert acts[0]["by"] == {"id": who(owner)["id"], "name": OWNER["name"]}
    assert {each["action"] for each in acts} >= {"users.first_owner", "users.invited", "users.joined", "users.role"}
    assert somebody.ask("GET", "/api/v1/audit").status_code == 403
    assert owner.ask("GET", "/api/v1/audit?before=x").status_code == 400
    first = acts[0]["at"]
    assert PASSWORD not in owner.ask("GET", "/api/v1/audit").text
    assert first.endswith("Z")


def test_the_language_of_somebody_is_kept(served: Serving, join: Join) -> None:
    somebody = join()
    email = who(somebody)["email"]
    somebody.ask("PATCH", "/api/v1/session/preferences", {"lang": "en"})
    with Visitor(served.url) as elsewhere:
        elsewhere.sign_in(email, PASSWORD)
        assert "New conversation" in elsewhere.ask("GET", "/", Accept="text/html", Accept_Language="fr").text
        refused = elsewhere.ask("PATCH", "/api/v1/conversations/none", {"title": "x"}, Accept_Language="fr")
        page = elsewhere.ask("GET", "/conversations/none", Accept="text/html", Accept_Language="fr").text
        odd = elsewhere.ask("GET", "/board?view=zzz", Accept="text/html", Accept_Language="fr").text
    assert refused.json()["message"] == "There is no such conversation."
    assert ("There is no such conversation." in page, 'lang="en"' in page, 'lang="en"' in odd) == (True,) * 3


def test_guessing_does_not_lock_somebody_out_of_a_browser_they_use(served: Serving, join: Join) -> None:
    somebody = join()
    email = who(somebody)["email"]
    with Visitor(served.url) as stranger:
        seen = [stranger.sign_in(email, f"guess {n}").status_code for n in range(6)]
        assert seen == [401] * 5 + [429]
        assert stranger.sign_in(email, PASSWORD).status_code == 429
        stranger.client.cookies.update(dict.fromkeys(somebody.client.cookies, "x.y"))
        assert stranger.sign_in(email, PASSWORD).status_code == 429, "an invented mark is none"
    somebody.ask("DELETE", "/api/v1/session")
    assert somebody.sign_in(email, PASSWORD).status_code == 201
    with Visitor(served.url) as borrowed:
        borrowed.client.cookies.update(dict(somebody.client.cookies))
        assert borrowed.sign_in(OWNER["email"], "guess").status_code == 401, "a mark counts for its own person only"


def test_the_pages_about_people_are_for_those_who_lead(owner: Visitor, join: Join) -> None:
    somebody = join()
    assert owner.ask("GET", "/users", Accept="text/html").status_code == 200
    assert owner.ask("GET", "/audit", Accept="text/html").status_code == 200
    for path in ("/users", "/audit"):
        assert somebody.ask("GET", path, Accept="text/html").status_code == 403
    home = somebody.ask("GET", "/", Accept="text/html").text
    assert 'href="/users"' not in home
    assert 'href="/account"' in home
    assert somebody.ask("GET", "/account", Accept="text/html").status_code == 200
