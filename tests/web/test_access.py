from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from maia.web.app import API, make_app
from maia.web.entry.auth import owned, signed_in, signed_in_line, within
from maia.web.entry.guard import HEADERS
from maia.web.entry.hosts import Hosts, host_name, is_foreign
from tests.files import making
from tests.web.serving import OWNER, Serving, Visitor, serving

OPEN = {
    "/health",
    "/static/{digest}/{name:path}",
    "/signin",
    "/first-run",
    "/join",
    "/signin/oidc",
    "/signin/oidc/return",
    f"{API}/session",
}
"""Where nobody needs to be signed in. `/api/v1/session` is open for POST alone."""


class _Desk:
    version = "0"
    hosts = Hosts(is_loopback=True)


@dataclass(frozen=True)
class Walked:
    """A route as it is reached: with its whole path, and everything that runs before it."""

    path: str
    methods: frozenset[str]
    dependant: Any


def routes() -> list[Walked]:
    """Every route of the application. One of a kind that cannot be looked into fails here."""
    guard: Any = make_app(_Desk())  # type: ignore[arg-type] - only its routes are read

    def flat(found: Iterable[Any]) -> Iterator[Walked]:
        for route in found:
            if hasattr(route, "effective_candidates"):
                yield from flat(route.effective_candidates())
            elif route.dependant is None:  # a line, which has no method
                yield Walked(route.starlette_route.path, frozenset(), route.starlette_route.dependant)
            else:
                yield Walked(route.path, frozenset(route.methods), route.dependant)

    return list(flat(guard._app.routes))


def checks(route: Walked) -> set[Any]:
    """All functions that run before a route's own."""
    found: set[Any] = set()

    def walk(dependant: Any) -> None:
        for each in dependant.dependencies:
            found.add(each.call)
            walk(each)

    walk(route.dependant)
    return found


def test_every_route_passes_the_one_check_or_is_open_on_purpose() -> None:
    walked = routes()
    assert len(walked) > 15
    bare = [
        (route.path, route.methods)
        for route in walked
        if not checks(route) & {signed_in, signed_in_line}
        and not (route.path in OPEN and route.methods <= {"GET", "HEAD", "POST"})
    ]
    assert bare == []
    assert {r.path for r in walked if not r.methods} == {f"{API}/opencode/terminal/{{ticket_id}}"}
    assert {r.path for r in walked if r.methods and signed_in not in checks(r)} == OPEN, (
        "an open route that is gone leaves the list"
    )


def test_the_interface_and_a_conversations_page_are_where_programs_and_links_look_for_them() -> None:
    served = {route.path for route in routes()}
    assert {"/conversations/{conversation_id}", f"{API}/conversations/{{conversation_id}}"} <= served
    guard: Any = make_app(_Desk())  # type: ignore[arg-type] - only its routes are read
    assert API == "/api/v1"
    assert [path for path in guard._app.openapi()["paths"] if not path.startswith(("/api/v1/", "/health"))] == []


def test_every_route_about_a_conversation_asks_whose_it_is() -> None:
    about = [route for route in routes() if "{conversation_id}" in route.path]
    assert len(about) >= 7
    assert [route.path for route in about if not checks(route) & {owned, within}] == []


def test_every_route_refuses_a_stranger(served: Serving) -> None:
    with Visitor(served.url) as stranger:
        for route in routes():
            path = route.path.replace("{conversation_id}", "01ab").replace("{digest}", "x").replace("{name:path}", "y")
            for method in sorted(route.methods):
                if (path == f"{API}/session" and method == "POST") or path in OPEN - {f"{API}/session"} | {
                    "/static/x/y"
                }:
                    continue
                answer = stranger.ask(method, path)
                assert answer.status_code == 401, (method, path)
                assert stranger.ask(method, path, Accept="text/html").status_code in (303, 401)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, str, str]]:
    """A server with a second person, whose session is (cookie, csrf)."""
    import asyncio

    from maia.database import users
    from maia.database.address import database_url
    from maia.database.database import Database
    from maia.workspace.people.passwords import hashed

    data = tmp_path_factory.mktemp("two") / "data"
    with serving(data) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
    kept = asyncio.run(hashed("another horse"))
    database = Database(database_url(None, data))
    asyncio.run(database.write(lambda c: users.add_user(c, "noor@example.org", "Noor", "admin", kept, None)))
    database.close()
    with serving(data) as server:
        yield server, "noor@example.org", "another horse"


def test_another_persons_conversation_is_not_there_for_anybody_else(two: tuple[Serving, str, str]) -> None:
    server, email, password = two
    with Visitor(server.url) as owner, Visitor(server.url) as other:
        owner.sign_in()
        assert other.sign_in(email, password).status_code == 201
        mine = owner.conversation("Mine")
        bodies: dict[str, Any] = {"POST": {"content": "x", "note": "x"}, "PATCH": {"title": "x"}}
        for route in routes():
            if "{conversation_id}" not in route.path and route.path != "/ui/stream":
                continue
            for method in sorted(route.methods):
                for target in (mine, "nowhere"):
                    path = route.path.replace("{conversation_id}", target)
                    path += f"?conversation={target}" if path == "/ui/stream" else "?before=2"
                    answer = other.ask(method, path, bodies.get(method))
                    assert answer.status_code == 404, (method, path)
                    assert answer.json()["code"] == "not_found"
        assert mine not in other.ask("GET", "/api/v1/conversations").text
        assert "Mine" not in other.ask("GET", "/").text
        assert owner.ask("GET", f"/api/v1/conversations/{mine}").json()["title"] == "Mine"


# Hosts and senders ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8642", "localhost.evil.example", "", "[::1", "10.0.0.1"]
)
def test_a_name_that_is_not_ours_is_answered_nothing(served: Serving, host: str) -> None:
    with Visitor(served.url) as stranger:
        answer = stranger.ask("GET", "/health", Host=host)
        assert answer.status_code in (400, 421)
        assert "version" not in answer.text


@pytest.mark.parametrize(
    ("host", "loopback", "known"),
    [
        ("localhost:8642", True, True),
        ("127.0.0.1", True, True),
        ("127.8.9.1:1", True, True),
        ("[::1]:8642", True, True),
        ("LOCALHOST", True, True),
        ("192.168.1.5", True, False),
        ("192.168.1.5:8642", False, True),
        ("maia.lan", False, True),
        ("other.lan", False, False),
    ],
)
def test_hosts(host: str, loopback: bool, known: bool) -> None:
    assert Hosts(loopback, frozenset(() if loopback else ("maia.lan",))).knows(host) is known


@pytest.mark.parametrize("host", ["[", "a]b", "::::", "a:b:c", "x" * 5000, "\x00"])
def test_no_host_breaks_the_guard(host: str) -> None:
    assert isinstance(host_name(host), str)
    assert Hosts(True).knows(host) is False


SENDERS = [
    pytest.param({}, False, id="no browser"),
    pytest.param({"origin": "http://127.0.0.1:1"}, False, id="our own page"),
    pytest.param({"origin": "https://evil.example"}, True, id="another site"),
    pytest.param({"origin": "http://127.0.0.1:2"}, True, id="another program on this machine"),
    pytest.param({"origin": "null"}, True, id="a sandboxed frame"),
    pytest.param({"origin": "null", "sec-fetch-site": "cross-site"}, True, id="a sandboxed frame, says the browser"),
    pytest.param({"origin": "null", "sec-fetch-site": "same-origin"}, False, id="a form of ours"),
    pytest.param({"origin": "http://[", "sec-fetch-site": "same-origin"}, True, id="nonsense"),
    pytest.param({"sec-fetch-site": "cross-site"}, True, id="a browser says another site"),
    pytest.param({"sec-fetch-site": "same-site"}, True, id="a browser says another port"),
    pytest.param({"sec-fetch-site": "same-origin"}, False, id="a browser says us"),
    pytest.param({"sec-fetch-site": "none"}, False, id="the address line"),
]


@pytest.mark.parametrize(("headers", "foreign"), SENDERS)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_who_sent_a_request(method: str, headers: dict[str, str], foreign: bool) -> None:
    assert is_foreign(method, {"host": "127.0.0.1:1", **headers}) is foreign


def test_a_link_from_elsewhere_opens_a_page_and_sends_nothing() -> None:
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document", "host": "h"}
    assert is_foreign("GET", link) is False
    assert is_foreign("POST", link) is True
    assert is_foreign("GET", {**link, "sec-fetch-dest": "iframe"}) is True


def test_a_foreign_stream_is_refused(owner: Visitor) -> None:
    conversation = owner.conversation()
    for path in (f"/api/v1/conversations/{conversation}/events", f"/ui/stream?conversation={conversation}"):
        assert owner.ask("GET", path, Sec_Fetch_Site="same-site").status_code == 403
        assert owner.ask("GET", path, Origin="https://evil.example").status_code == 403


@pytest.mark.parametrize("token", ["", "wrong", "é"])
def test_what_changes_something_needs_the_pages_token(owner: Visitor, token: str) -> None:
    conversation = owner.conversation("Kept")
    owner.csrf = token if token.isascii() else ""
    for method, path, body in (
        ("PATCH", f"/api/v1/conversations/{conversation}", {"title": "Taken"}),
        ("POST", f"/api/v1/conversations/{conversation}/messages", {"content": "x"}),
        ("POST", "/api/v1/conversations", {}),
        ("DELETE", "/api/v1/session", None),
    ):
        answer = owner.ask(method, path, body)
        assert (answer.status_code, answer.json()["code"]) == (403, "csrf")
    assert owner.ask("GET", f"/api/v1/conversations/{conversation}").json()["title"] == "Kept"


def test_every_answer_carries_the_headers(served: Serving, owner: Visitor) -> None:
    paths = ["/", "/health", "/signin", "/nowhere", "/api/v1/conversations", "/api/v1/nowhere", "/static/x/y"]
    for path in paths:
        answer = owner.ask("GET", path, Accept="text/html")
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS, path
        assert "access-control-allow-origin" not in answer.headers
    refused = owner.ask("GET", "/", Host="evil.example")
    assert {name: refused.headers[name] for name in HEADERS} == HEADERS
    assert "unsafe" not in HEADERS["content-security-policy"]
    assert served.url


def test_a_body_without_end_is_refused(owner: Visitor) -> None:
    answer = owner.ask("POST", "/api/v1/conversations", {"title": "x" * 3_000_000})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    answer = owner.client.request("POST", "/api/v1/conversations", content=(b"x" * 100_000 for _ in range(30)))
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large"), "a body that does not tell its size"


# Signing in ----------------------------------------------------------------------------------------------------------


def test_the_first_token_works_once_and_only_with_good_words(data: Path) -> None:
    with serving(data) as server, Visitor(server.url) as visitor:
        assert visitor.client.get("/first-run?token=wrong").status_code == 303
        assert visitor.client.get(f"/first-run?token={server.token}").status_code == 200
        for wrong in ({"password": "short"}, {"email": "nobody"}, {"name": " "}):
            answer = visitor.client.post("/first-run", data={"token": server.token, **OWNER, **wrong})
            assert answer.status_code == 400
            assert "problem" in answer.text
            assert 'value="' + OWNER["password"] not in answer.text
        visitor.become_owner(server.token)
        again = visitor.client.post("/first-run", data={"token": server.token, **OWNER, "email": "b@example.org"})
        assert again.status_code == 401
        assert visitor.client.get(f"/first-run?token={server.token}").status_code == 303
    with serving(data) as server:
        assert server.token == "", "there is an owner"


def test_the_cookie_is_for_our_pages_alone(served: Serving) -> None:
    with Visitor(served.url) as visitor:
        cookie = visitor.sign_in().headers["set-cookie"].lower()
    for word in ("httponly", "samesite=strict", "path=/"):
        assert word in cookie


def test_signing_out_ends_the_sign_in(served: Serving) -> None:
    with Visitor(served.url) as visitor:
        visitor.sign_in()
        kept = dict(visitor.client.cookies)
        assert visitor.ask("DELETE", "/api/v1/session").status_code == 204
        visitor.client.cookies.update(kept)
        assert visitor.ask("GET", "/api/v1/session").status_code == 401


def test_guessing_ends_after_five_tries(data: Path) -> None:
    with serving(data) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        visitor.client.cookies.clear()
        seen = [visitor.sign_in(password=f"guess {n}") for n in range(6)]
        assert [answer.status_code for answer in seen] == [401] * 5 + [429]
        assert int(seen[-1].headers["retry-after"]) > 0
        assert visitor.sign_in().status_code == 429, "the right one waits, too"
        page = visitor.client.post("/signin", data={"email": OWNER["email"], "password": OWNER["password"]})
        assert page.status_code == 429


@pytest.mark.parametrize("where", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:x"])
def test_signing_in_leads_to_our_own_pages_only(served: Serving, where: str) -> None:
    with Visitor(served.url) as visitor:
        form = {"email": OWNER["email"], "password": OWNER["password"], "next": where}
        assert visitor.client.post("/signin", data=form).headers["location"] == "/"


@pytest.mark.parametrize(
    ("place", "led"),
    [
        pytest.param("/conversations/abc", "/signin?next=/conversations/abc", id="a page"),
        pytest.param("/board?q=a%20b&view=list", "/signin?next=/board%3Fq%3Da%2520b%26view%3Dlist", id="its filters"),
        pytest.param("/board?q=" + "x" * 300, "/signin", id="too long to keep"),
    ],
)
def test_a_stranger_is_led_to_sign_in_and_back(served: Serving, place: str, led: str) -> None:
    with Visitor(served.url) as stranger:
        answer = stranger.ask("GET", place, Accept="text/html")
        assert (answer.status_code, answer.headers["location"]) == (303, led)
        form = {"email": OWNER["email"], "password": OWNER["password"], "next": place}
        assert led == "/signin" or stranger.client.post("/signin", data=form).headers["location"] == place


def test_what_an_error_quotes_is_shown_with_its_direction_characters_visible(owner: Visitor) -> None:
    turned, conversation = "/nowhere/\u202egpj.sh", owner.conversation()
    page = owner.client.get("/terminal", params={"folder": turned}, headers={"accept": "text/html"})
    told = owner.ask("PATCH", f"/api/v1/conversations/{conversation}", {"folders": [{"path": turned}]})
    for answer, said in ((page, page.text), (told, told.json()["message"])):
        assert (answer.status_code, "U+202E" in said) == (400, True), said
    assert "\u202e" not in told.json()["message"]


def test_an_address_with_odd_values_is_a_page_for_a_browser_and_a_code_for_a_program(owner: Visitor) -> None:
    for path in ("/board?view=zzz", "/providers?tab=zzz", "/signin?next=" + "x" * 400):
        page = owner.ask("GET", path, Accept="text/html")
        assert (page.status_code, page.headers["content-type"]) == (400, "text/html; charset=utf-8"), path
        assert owner.ask("GET", path).json()["code"] == "ValidationError"


def test_files_of_another_person_are_not_there(two: tuple[Serving, str, str]) -> None:
    server, email, password = two
    with Visitor(server.url) as owner, Visitor(server.url) as other, Visitor(server.url) as stranger:
        owner.sign_in()
        other.sign_in(email, password)
        conversation, own = owner.conversation("Mine"), other.conversation("Theirs")
        made = owner.upload(conversation, "a.png", making.picture()).json()["id"]
        assert other.upload(conversation, "a.txt", b"x").status_code == 404
        assert other.ask("GET", f"/api/v1/conversations/{conversation}/attachments").status_code == 404
        assert other.ask("GET", f"/ui/conversations/{conversation}/rail/files").status_code == 404
        taken = {"content": "x", "attachments": [made]}
        assert other.ask("POST", f"/api/v1/conversations/{own}/messages", taken).status_code == 409
        for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/content"), ("GET", "/thumbnail")):
            found = other.ask(method, f"/api/v1/attachments/{made}{path}")
            none = other.ask(method, f"/api/v1/attachments/{'0' * 26}{path}")
            assert (found.status_code, found.json()) == (none.status_code, none.json())
            assert found.status_code == 404
            assert stranger.ask(method, f"/api/v1/attachments/{made}{path}").status_code == 401
        assert owner.ask("GET", f"/api/v1/attachments/{made}/content").status_code == 200
