"""Files over the interface: sent up, given back, refused, and what of them a browser may act on (docs/workspace.md)."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from maia.database.providers import ModelRow, ProviderRow, TierRow
from maia.i18n.catalogue import Catalogue as Words
from maia.web.drawing.picker import picker_of
from maia.web.entry.guard import LARGEST_BODY, LARGEST_UPLOAD
from maia.workspace.choosing import Answering
from maia.workspace.files.attachments import LARGEST_FILE
from maia.workspace.models.binding import Wanted, answerer
from maia.workspace.models.catalogue import Catalogue, Pair
from maia.workspace.models.effort import Options, Thinking
from tests.files import making
from tests.web.serving import Serving, Visitor, serving

MARKUP = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert(1)</script></svg>"


@pytest.fixture(scope="module")
def mine(served: Serving) -> Iterator[tuple[Visitor, str]]:
    with Visitor(served.url) as visitor:
        visitor.sign_in()
        yield visitor, visitor.conversation("Files")


SERVED: dict[str, tuple[str, bytes, str, str]] = {
    "picture": ("a.html", making.picture(), "image/png", "inline"),
    "svg": ("a.svg", MARKUP, "text/plain; charset=utf-8", "inline"),
    "html": ("a.html", b"<!doctype html><script>alert(1)</script>", "text/plain; charset=utf-8", "inline"),
    "pdf": ("a.png", making.pdf(), "application/octet-stream", "attachment"),
    "broken picture": (
        "a.png",
        b"\x89PNG\r\n\x1a\n<script>alert(1)</script>",
        "application/octet-stream",
        "attachment",
    ),
    "archive": ("a.zip", making.archive({"a": "b"}), "application/octet-stream", "attachment"),
}


@pytest.mark.parametrize(("name", "content", "media_type", "how"), SERVED.values(), ids=SERVED)
def test_a_file_comes_back_as_it_was_and_acts_nowhere(
    name: str, content: bytes, media_type: str, how: str, mine: tuple[Visitor, str]
) -> None:
    visitor, conversation = mine
    made = visitor.upload(conversation, name, content)
    assert made.status_code == 201, made.text
    path = f"/api/v1/attachments/{made.json()['id']}"
    answer = visitor.client.get(f"{path}/content")
    assert answer.content == content
    told = {key: answer.headers[key] for key in ("content-type", "x-content-type-options", "cache-control")}
    assert told == {
        "content-type": media_type,
        "x-content-type-options": "nosniff",
        "cache-control": "private, no-cache",
    }
    assert answer.headers["content-disposition"].startswith(f"{how}; filename=")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert policy.endswith("; sandbox")
    again = visitor.client.get(f"{path}/content", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    part = visitor.client.get(f"{path}/content", headers={"Range": "bytes=1-3"})
    assert (part.status_code, part.content) == (206, content[1:4])
    assert visitor.client.get(f"{path}/content", headers={"Range": "bytes=999999-"}).status_code == 416
    small = visitor.client.get(f"{path}/thumbnail")
    assert (small.status_code, small.headers.get("content-type")) == (
        (200, "image/webp") if made.json()["kind"] == "image" else (404, "application/json")
    )
    assert visitor.ask("DELETE", path).status_code == 204
    assert visitor.ask("GET", f"{path}/content").status_code == 404


def test_names_are_cleaned_and_come_back_for_every_browser(mine: tuple[Visitor, str]) -> None:
    visitor, conversation = mine
    made = visitor.upload(conversation, '../a"b\u202e\r\nSet-Cookie: x\u0301é.txt', b"x").json()
    assert made["name"] == "a_bSet-Cookie_ x\u0301é.txt"
    answer = visitor.client.get(f"/api/v1/attachments/{made['id']}/content")
    assert answer.headers["content-disposition"] == (
        "inline; filename=\"a_bSet-Cookie_ x__.txt\"; filename*=UTF-8''a_bSet-Cookie_%20x%CC%81%C3%A9.txt"
    )
    assert "set-cookie" not in answer.headers
    visitor.ask("DELETE", f"/api/v1/attachments/{made['id']}")


REFUSED: dict[str, tuple[bytes, int, str]] = {
    "empty": (b"", 400, "empty"),
    "too large": (b"x" * (LARGEST_FILE + 1), 413, "too_large"),
    "far too large": (b"x" * (LARGEST_UPLOAD + 1), 413, "too_large"),
}


@pytest.mark.parametrize(("content", "status", "code"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_says_why(content: bytes, status: int, code: str, mine: tuple[Visitor, str]) -> None:
    visitor, conversation = mine
    answer = visitor.upload(conversation, "a", content)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    listed = visitor.ask("GET", f"/api/v1/conversations/{conversation}/attachments").json()["attachments"]
    assert [each for each in listed if each["name"] == "a"] == []


def test_only_an_upload_may_be_large_and_needs_the_token_of_our_pages(mine: tuple[Visitor, str]) -> None:
    visitor, conversation = mine
    large = "x" * (LARGEST_BODY + 1)
    assert visitor.ask("POST", f"/api/v1/conversations/{conversation}/messages", {"content": large}).status_code == 413
    path = f"/api/v1/conversations/{conversation}/attachments?name=a"
    assert visitor.client.post(path, content=b"x").status_code == 403
    assert visitor.upload(conversation, "a", b"x", Origin="https://evil.example").status_code == 403
    assert visitor.upload(conversation, "", b"x").status_code == 400


def test_a_message_takes_its_files_and_shows_them(mine: tuple[Visitor, str]) -> None:
    visitor, _ = mine
    conversation = visitor.conversation()
    name = "<img src=x onerror=alert(1)>.txt"
    made = [visitor.upload(conversation, each, b"<b>x</b>").json()["id"] for each in (name, "b.txt")]
    said = {"content": "", "attachments": made[:1]}
    assert visitor.ask("POST", f"/api/v1/conversations/{conversation}/messages", said).status_code == 202
    visitor.until_done(conversation)
    listed = visitor.ask("GET", f"/api/v1/conversations/{conversation}/attachments").json()["attachments"]
    assert [(each["id"], each["turn"]) for each in listed] == [(made[0], 1), (made[1], None)]
    assert visitor.ask("DELETE", f"/api/v1/attachments/{made[0]}").status_code == 409
    again = visitor.ask("POST", f"/api/v1/conversations/{conversation}/messages", {"content": "x", "attachments": made})
    assert (again.status_code, again.json()["code"]) == (409, "gone")
    assert visitor.ask("POST", f"/api/v1/conversations/{conversation}/messages", {"content": " "}).status_code == 400
    for page in (f"/conversations/{conversation}", f"/ui/conversations/{conversation}/rail/files"):
        html = visitor.client.get(page).text
        assert "_img src=x onerror=alert(1)_.txt" in html
        assert f"/api/v1/attachments/{made[0]}/content" in html
    described = visitor.ask("GET", "/api/v1/openapi.json").json()["paths"]
    assert "application/octet-stream" in str(described["/api/v1/conversations/{conversation_id}/attachments"]["post"])


def test_a_server_that_is_killed_while_a_file_comes_in_keeps_no_half_of_it(data: Path) -> None:
    def kept() -> list[Path]:
        return [path for path in (data / "attachments").rglob("*") if path.is_file()]

    with serving(data) as server, Visitor(server.url) as owner:
        owner.become_owner(server.token)
        conversation = owner.conversation()
        cookie = "; ".join(f"{name}={value}" for name, value in owner.client.cookies.items())
        host, _, port = server.url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port))) as line:
            head = (
                f"POST /api/v1/conversations/{conversation}/attachments?name=half.txt HTTP/1.1\r\n"
                f"Host: {host}:{port}\r\nCookie: {cookie}\r\nX-CSRF-Token: {owner.csrf}\r\n"
                "Content-Length: 1000000\r\n\r\n"
            )
            line.sendall(head.encode() + b"x" * 500_000)
            until(lambda: kept() and kept()[0].stat().st_size > 0)
            server.stop(signal.SIGKILL)
        assert len(kept()) == 1
    with serving(data) as server, Visitor(server.url) as owner:
        owner.sign_in()
        assert kept() == []
        path = f"/api/v1/conversations/{conversation}/attachments"
        assert owner.ask("GET", path).json() == {"attachments": []}


def until(done: Any) -> None:
    """Wait for what another process does."""
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_chip_of_a_routed_conversation_is_judged_by_the_standard_tier() -> None:
    pairs = {name: Pair("p", name) for name in ("blind", "sees", "unknown")}
    eyes = {"blind": False, "sees": True, "unknown": None}
    models = [ModelRow("p", name, name, sees_images=eyes[name], enabled=True) for name in pairs]

    def chip(standard: str) -> str:
        tiers = [TierRow("quick", 0, "p", "sees"), TierRow("standard", 0, "p", standard)]
        catalogue = Catalogue([ProviderRow("p", "P", "api")], models, tiers, pairs["sees"], auto_allowed=True)
        wanted = Wanted("auto")
        found = answerer(wanted, catalogue)
        view = picker_of(
            Answering(wanted, found, Thinking(), Options((), False, None, Thinking())), catalogue, Words("en")
        )
        return view.blind

    words = "blind cannot see images: it will only know that an image is attached."
    assert [chip(name) for name in pairs] == [words, "", ""]
    program = Catalogue([ProviderRow("p", "P", "cli")], models)
    assert not program.is_blind(pairs["blind"]), "a program opens files by itself"
