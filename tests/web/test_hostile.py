from __future__ import annotations

import html
import json
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.web.serving import Serving, Visitor, serving

ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    10**30,
    1.5,
    "",
    " ",
    "\x00",
    "\u202e",
    "x" * 5000,
    "é" * 300,
    [],
    [None],
    {},
    {"a": 1},
]
EVIL = '"><img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>'
ACTING = ("<img src=x", "<script>alert", "<svg onload")


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def fields_of(document: dict[str, Any], operation: dict[str, Any]) -> list[str]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    name = content.get("$ref", "").rpartition("/")[2]
    return list(document["components"]["schemas"].get(name, {}).get("properties", {}))


def bodies(fields: list[str], chance: random.Random) -> Iterator[Any]:
    yield from chance.sample(ODD, 3)
    for field in fields:
        for value in chance.sample(ODD, 3):
            yield {field: value}
    for _ in range(4):
        yield {field: chance.choice(ODD) for field in fields if chance.random() < 0.7}


def test_nothing_that_the_description_allows_or_forbids_is_a_defect(
    owner: Visitor, request: pytest.FixtureRequest
) -> None:
    """Every second body, and every eighth on SQLite, which takes more than PostgreSQL does."""
    every = 8 if "sqlite" in request.node.name else 2
    document = owner.ask("GET", "/api/v1/openapi.json").json()
    chance, seen = random.Random(7), 0
    failed: list[tuple[Any, ...]] = []
    for method, path, operation in operations(document):
        if path == "/api/v1/session":  # signing in is counted, signing out ends this test
            continue
        fields = fields_of(document, operation)
        queries = [each["name"] for each in operation.get("parameters", []) if each["in"] == "query"]
        place = path
        for each in operation.get("parameters", []):
            if each["in"] == "path":
                known = owner.conversation() if each["name"] == "conversation_id" else "nowhere"
                place = place.replace(f"{{{each['name']}}}", known)
        if place.endswith("/events"):
            continue  # a stream is open for as long as its reader wants
        for query in (
            "",
            *(f"?{name}={value}" for name in queries for value in ("", "-1", "9" * 30, "%00", "x", "1-%00")),
        ):
            for number, body in enumerate(bodies(fields, chance) if fields and not query else (None,)):
                if number % every:
                    continue
                answer = owner.ask(method, place + query, body)
                seen += 1
                if answer.status_code >= 500:
                    failed.append((method, place + query, json.dumps(body)[:80], answer.status_code, answer.text[:200]))
    assert failed == []
    assert seen > 50


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"null", b'{"a":' * 3000, b'{"content": NaN}'])
def test_no_route_breaks_at_what_is_no_json(owner: Visitor, content: bytes) -> None:
    document = owner.ask("GET", "/api/v1/openapi.json").json()
    kind = {"content-type": "application/json", "x-csrf-token": owner.csrf}
    for method, path, operation in operations(document):
        if "requestBody" in operation and path != "/api/v1/session":
            place = path.replace("{conversation_id}", owner.conversation())
            assert owner.client.request(method, place, content=content, headers=kind).status_code < 500, (method, path)


NOWHERE = [
    pytest.param("POST", "/api/v1/projects", {"name": "x", "typeId": ""}, 400, id="a type of no name"),
    pytest.param("GET", "/api/v1/search?q=%00", None, 400, id="a NUL in a question"),
    pytest.param("GET", "/api/v1/conversations/%00", None, 400, id="a NUL in an address"),
    pytest.param("GET", "/static/x/..%2f..%2fapp.py", None, 404, id="a file outside"),
    pytest.param("GET", "/static/x/../../app.py", None, 404, id="a file outside, in dots"),
]


@pytest.mark.parametrize(("method", "path", "body", "status"), NOWHERE)
def test_what_leads_nowhere_is_refused(owner: Visitor, method: str, path: str, body: Any, status: int) -> None:
    assert owner.ask(method, path, body).status_code == status


@pytest.mark.real
def test_schemathesis_finds_no_defect_either(owner: Visitor, tmp_path: Path) -> None:
    """Takes four minutes: by hand, with `uv pip install schemathesis` in any environment on the PATH."""
    program = shutil.which("schemathesis") or pytest.skip("needs schemathesis")
    described = tmp_path / "openapi.json"
    described.write_text(owner.ask("GET", "/api/v1/openapi.json").text)
    cookie = "; ".join(f"{name}={value}" for name, value in owner.client.cookies.items())
    words = ["--checks", "not_a_server_error", "--max-examples", "15", "--continue-on-failure"]
    words += ["-H", f"Cookie: {cookie}", "-H", f"X-CSRF-Token: {owner.csrf}", "--url", owner.url]
    words += ["--exclude-path-regex", "(/events|/session$|/sign-ins|/password)", "--suppress-health-check", "all"]
    done = subprocess.run([program, "run", described, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:]


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Visitor, str]]:
    """A conversation in which everything that can bring words brings markup."""
    script = [
        {
            "text": EVIL + "\n\n[link](javascript:alert(1)) ![p](data:image/svg+xml,<svg/onload=alert(3)>)",
            "call": {"name": "Read", "arguments": {"path": f"{EVIL}.svg", EVIL: EVIL}},
        },
        {"call": {"name": EVIL, "arguments": {"x": EVIL}}},
        {"text": f"```{EVIL}\n{EVIL}\n```", "fail": {"kind": "rejected", "status": 400, "text": EVIL}},
        {"call": {"name": "create_sub_conversation", "arguments": {"title": EVIL}}},
        {"call": {"name": "AskUser", "arguments": {"question": EVIL, "options": [EVIL]}}},
        {"text": "Well?"},
    ]
    data: Path = tmp_path_factory.mktemp("spoilt") / "data"
    with serving(data, script=script) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        conversation = visitor.conversation(EVIL)
        visitor.say(conversation, EVIL)
        visitor.until_done(conversation)
        asking = visitor.conversation("Asking")
        visitor.say(asking, "Ask")
        visitor.until_done(asking)
        words = dict.fromkeys(("description", "goal", "backstory", "instructions", "missions", "output", "role"), EVIL)
        made = visitor.ask("POST", "/api/v1/agents", {"name": "evil", "nickname": "Evil", **words})
        assert made.status_code == 201, made.text
        yield server, visitor, conversation


def test_markup_in_any_sink_is_shown_and_never_acts(spoilt: tuple[Serving, Visitor, str]) -> None:
    _, visitor, conversation = spoilt
    listed = visitor.ask("GET", "/api/v1/conversations").json()["conversations"]
    asking = next(each["id"] for each in listed if each["title"] == "Asking")
    for path in (
        "/",
        f"/conversations/{asking}",
        f"/ui/conversations/{asking}/children",
        "/agents",
        "/agents/evil",
        f"/conversations/{conversation}",
        "/board",
        "/board?view=list",
        "/board?group=agent",
        f"/ui/cards/{conversation}",
        "/ui/find?q=img",
        "/projects",
    ):
        page = visitor.ask("GET", path, Accept="text/html").text
        assert [each for each in ACTING if each in page] == [], path
        assert "onerror=alert(1)" in html.unescape(page), "it is shown as it was written"
        assert 'href="javascript:' not in page
        assert 'src="data:' not in page
        assert 'href="data:' not in page


def test_markup_in_the_live_stream_never_acts(spoilt: tuple[Serving, Visitor, str]) -> None:
    _, visitor, conversation = spoilt
    drawn: list[str] = []
    with visitor.client.stream("GET", f"/ui/stream?conversation={conversation}&cursor=0") as answer:
        for line in answer.iter_lines():
            drawn.append(line)
            if not line and any("<" in each for each in drawn):
                break
    frame = "\n".join(drawn)
    assert "onerror=alert(1)" in html.unescape(frame)
    assert [each for each in ACTING if each in frame] == []
    assert 'href="javascript:' not in frame


def test_two_tabs_that_write_at_once_begin_one_answer(spoilt: tuple[Serving, Visitor, str]) -> None:
    from concurrent.futures import ThreadPoolExecutor

    _, visitor, _ = spoilt
    conversation = visitor.conversation("At once")

    def send(n: int) -> int:
        path = f"/api/v1/conversations/{conversation}/messages"
        return visitor.ask("POST", path, {"content": f"message {n}"}).status_code

    with ThreadPoolExecutor(8) as tabs:
        codes = list(tabs.map(send, range(8)))
    assert set(codes) <= {202, 409}
    visitor.until_done(conversation)
    messages = visitor.ask("GET", f"/api/v1/conversations/{conversation}").json()["messages"]
    said = [each for each in messages if each["role"] == "user"]
    assert len(said) == codes.count(202), "what was accepted is there, once; what was refused is not"


@pytest.mark.parametrize(
    "path", ["/conversations/%00", "/board?q=%00", "/conversations/%ff", "/static/a/b", "/approvals?show=x", "/a%0ab"]
)
def test_an_address_that_nothing_has_is_a_page_for_whom_opened_it(owner: Visitor, path: str) -> None:
    answer = owner.client.get(path, headers={"accept": "text/html,*/*"})
    assert answer.status_code in (400, 404)
    assert "<h1>" in answer.text
