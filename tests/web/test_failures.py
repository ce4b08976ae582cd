"""What is refused or broken is told in its reader's words: a page to a browser, JSON to a program."""

from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from maia.i18n.catalogue import Catalogue, Lang
from maia.web.entry.bodies import issues_of, summary
from tests.web.serving import Serving, Visitor, serving
from tests.web.test_access import API

BROWSER = {"Accept": "text/html", "Sec-Fetch-Mode": "navigate"}
LANGUAGES: tuple[Lang, ...] = ("fr", "en")


@pytest.fixture(scope="module")
def owned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Visitor]]:
    with serving(tmp_path_factory.mktemp("failures") / "data") as server, Visitor(server.url) as owner:
        owner.become_owner(server.token)
        yield server, owner


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("body", [b'{"title": "\xff"}', b"[" * 100_000], ids=["no UTF-8", "too deep"])
def test_what_cannot_be_read_at_all_is_told_in_words(owned: tuple[Serving, Visitor], body: bytes, lang: Lang) -> None:
    _, owner = owned
    headers = {"X-CSRF-Token": owner.csrf, "Content-Type": "application/json", "Accept-Language": lang}
    told = owner.client.request("POST", f"{API}/conversations", headers=headers, content=body)
    words = Catalogue(lang, strict=True)("web.error.no_json")
    assert (told.status_code, told.json()["code"], told.json()["message"]) == (400, "bad_request", words)


FOREIGN = "web.error.foreign"
ERRORS: list[Any] = [
    pytest.param("GET", "/nowhere", {}, 404, "web.not_found", True, id="no such page"),
    pytest.param("GET", "/conversations/nothing", {}, 404, "workspace.not_found", True, id="no such conversation"),
    pytest.param("POST", "/board", {}, 405, "web.error.method", True, id="not by that method"),
    pytest.param("POST", "/nowhere", {"Content-Length": "3000000"}, 413, "web.error.too_large", False, id="too large"),
    pytest.param("GET", "/", {"Host": "evil.example"}, 421, "web.error.host_unknown", False, id="another name"),
    pytest.param("POST", "/signin", {"Origin": "http://evil.example"}, 403, FOREIGN, False, id="another site"),
    pytest.param("GET", "/board?q=%00", {}, 404, "web.not_found", True, id="a NUL"),
]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("method", "path", "headers", "status", "key", "is_inside"), ERRORS)
def test_an_error_is_a_page_for_browsers_and_json_for_programs(
    owned: tuple[Serving, Visitor],
    lang: Lang,
    method: str,
    path: str,
    headers: dict[str, str],
    status: int,
    key: str,
    is_inside: bool,
) -> None:
    _, owner = owned
    words, asked = Catalogue(lang, strict=True)(key), {**headers, "Accept-Language": lang}
    body = b"x" * 3_000_000 if "Content-Length" in headers else b""
    page = owner.client.request(method, path, headers={**asked, **BROWSER}, content=body)
    assert (page.status_code, page.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert f"<h1>{words}</h1>" in unescape(page.text)
    assert ('id="nav"' in page.text, f'lang="{lang}"' in page.text) == (is_inside, True), "navigation where it leads on"
    told = owner.client.request(method, path, headers={**asked, "Accept": "application/json"}, content=body)
    if "%00" not in path:
        assert (told.status_code, told.json()["message"]) == (status, words)
    with Visitor(owner.url) as stranger:
        bare = stranger.client.request(method, path, headers={**asked, **BROWSER}, content=body)
        assert 'id="nav"' not in bare.text


def test_who_may_not_open_a_page_reads_it_beside_the_navigation(owned: tuple[Serving, Visitor]) -> None:
    _, owner = owned
    made = owner.ask("POST", f"{API}/users", {"name": "Noor", "email": "noor@example.org", "role": "user"}).json()
    with Visitor(owner.url) as member:
        token = made["invitation"]["path"].partition("token=")[2]
        member.client.post("/join", data={"token": token, "password": "another horse"})
        page = member.client.get("/security", headers={**BROWSER, "Accept-Language": "en"})
        assert page.status_code == 403
        assert 'id="nav"' in page.text
        assert Catalogue("en", strict=True)("web.error.next.403") in page.text


@pytest.mark.parametrize("lang", LANGUAGES)
def test_who_sets_up_no_models_is_told_to_ask_and_not_sent_to_settings_that_refuse_them(data: Path, lang: Lang) -> None:
    say = Catalogue(lang, strict=True)
    ask, add = unescape(say("board.home.no_model_ask")), unescape(say("board.home.no_model_more"))
    with serving(data, started_with=None) as server, Visitor(server.url) as owner, Visitor(server.url) as member:
        owner.become_owner(server.token)
        made = owner.ask("POST", f"{API}/users", {"name": "Noor", "email": "noor@example.org", "role": "user"}).json()
        token = made["invitation"]["path"].partition("token=")[2]
        member.client.post("/join", data={"token": token, "password": "another horse"})
        for person, says, does_not in ((owner, add, ask), (member, ask, add)):
            home = unescape(person.client.get("/", headers={**BROWSER, "Accept-Language": lang}).text)
            assert says in home
            assert does_not not in home
            assert (say("picker.settings") in home.partition('id="home-needs"')[2]) == (person is owner)
            assert ("data-manages" in home) == (person is owner), "where a message is refused"


def test_a_style_of_the_error_page_is_there_under_any_name_and_nothing_else(owned: tuple[Serving, Visitor]) -> None:
    _, owner = owned
    page = owner.client.get("/", headers={"Host": "evil.example", **BROWSER}).text
    style = page.partition('rel="stylesheet" href="')[2].partition('"')[0]
    assert owner.client.get(style, headers={"Host": "evil.example"}).status_code == 200
    assert owner.client.get("/static/../signin", headers={"Host": "evil.example"}).status_code in (404, 421)


SAID: list[Any] = [
    ({"type": "missing", "loc": ("body", "title"), "msg": "Field required"}, "Title: this is needed."),
    (
        {"type": "string_too_long", "loc": ("body", "text"), "msg": "", "ctx": {"max_length": 100_000}},
        "Text: 100,000 characters at most.",
    ),
    ({"type": "literal_error", "loc": ("body", "priority"), "msg": ""}, "Priority: this is not one of the choices."),
    ({"type": "int_parsing", "loc": ("query", "limit"), "msg": ""}, "This value is not of the expected kind."),
    ({"type": "less_than_equal", "loc": ("body", "level"), "msg": "", "ctx": {"le": 3}}, "The most is 3."),
    ({"type": "something new", "loc": ("body",), "msg": "Input"}, "This value is not of the expected kind."),
]


@pytest.mark.parametrize(("issue", "words"), SAID)
def test_what_is_wrong_with_a_body_is_told_by_what_people_call_it(issue: dict[str, Any], words: str) -> None:
    say = Catalogue("en", strict=True)
    (told,) = issues_of([issue], say, "en")
    assert told == {"path": [str(part) for part in issue["loc"]], "message": words}
    assert summary([told, told], say) == f"{words} One more value is wrong."


def test_no_interface_shows_how_a_value_is_checked(owned: tuple[Serving, Visitor]) -> None:
    _, owner = owned
    conversation = owner.conversation()
    for method, path, body in (
        ("POST", "conversations", {"title": 3}),
        ("PATCH", f"conversations/{conversation}", {"priority": "no", "providerId": "x"}),
        ("POST", f"conversations/{conversation}/messages", {}),
        ("POST", "privacy/scan", {"text": "x" * 100_001}),
        ("PUT", "routing/automatic", {"allowed": "maybe"}),
        ("GET", "conversations?limit=many", None),
    ):
        answer = owner.ask(method, f"{API}/{path}", body, Accept_Language="fr").json()
        said = " ".join([answer["message"], *(each["message"] for each in answer["issues"])])
        assert not {"Input", "should", "Field", "String", "providerId", "Value error"} & set(
            said.replace(":", " ").split()
        )
        assert answer["code"] == "ValidationError"
