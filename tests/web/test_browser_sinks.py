"""Markup in every text that anybody can bring, on every page there is, in a real Chromium: shown, and never markup.

Held against CVE-2026-54013 and the stored scripts of other workspaces. Skipped where there is no Chromium.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext

from tests.web.serving import Serving, Visitor, serving
from tests.web.test_access import API, OPEN, routes
from tests.web.test_browser import (  # pyright: ignore[reportUnusedImport] - fixtures
    browser,
    context,
    pytestmark,
    watched,
)
from tests.web.test_foreign import belongings, concrete

__all__ = ["browser", "context", "pytestmark"]
EVIL = "\"'><b data-canary>x</b><img data-canary src=x onerror=alert(1)><svg data-canary onload=alert(2)></svg>"
SCRIPT: list[Any] = [
    {"think": EVIL, "text": EVIL, "call": {"name": "Write", "arguments": {"path": f"{EVIL}.svg", "content": EVIL}}},
    {"text": f"{EVIL}\n\n```{EVIL}\n{EVIL}\n```\n\n| {EVIL} |\n|---|\n| {EVIL} |\n\n[{EVIL}](http://x/{EVIL})"},
    {"call": {"name": EVIL, "arguments": {EVIL: EVIL}}},
    {"text": "half", "fail": {"kind": "rejected", "status": 400, "text": EVIL}},
    {"text": "Again.", "repeat": True},
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Visitor, dict[str, str]]]:
    data = tmp_path_factory.mktemp("sinks") / "data"
    folder = data / f"{EVIL[:20].replace('/', '')}"
    folder.mkdir(parents=True)
    with serving(data, script=SCRIPT, MAIA_OIDC_NAME=EVIL) as running, Visitor(running.url) as owner:
        owner.client.headers["user-agent"] = EVIL
        owner.become_owner(running.token)
        yield running, owner, spoilt(owner)


def spoilt(owner: Visitor) -> dict[str, str]:
    """The same words in every place that takes some; the ids of what holds them."""
    ids = belongings(owner)
    conversation = ids["conversation_id"]

    def ask(method: str, path: str, body: Any) -> Any:
        done = owner.ask(method, f"/api/v1/{path}", body)
        assert done.status_code < 300, (path, done.text)
        return done.json() if done.content else {}

    kind = ask("POST", "project-types", {"name": EVIL[:100], "prompt": EVIL})["id"]
    project = ask("POST", "projects", {"name": EVIL[:100], "typeId": kind, "description": EVIL, "prompt": EVIL})["id"]
    stage = ask("POST", "stages", {"name": EVIL[:100]})["id"]
    ask("PATCH", "session/name", {"name": EVIL[:90]})
    ask("POST", "users", {"name": EVIL[:90], "email": "evil@example.org"})
    for target in (conversation, owner.conversation(EVIL)):
        ask("PATCH", f"conversations/{target}", {"title": EVIL, "projectId": project, "stageId": stage})
        ask("POST", f"conversations/{target}/notes", {"note": EVIL})
    ask("POST", "memory/notes", {"text": EVIL})
    place, headers = f"/api/v1/conversations/{conversation}/attachments", {"X-CSRF-Token": owner.csrf}
    sent = owner.client.post(place, params={"name": f"{EVIL}.txt"}, content=EVIL.encode(), headers=headers)
    assert sent.status_code == 201, sent.text
    owner.until_done(conversation, owner.say(conversation, EVIL)["cursor"])
    return ids


def test_no_text_becomes_markup_on_any_page(
    context: BrowserContext, server: tuple[Serving, Visitor, dict[str, str]]
) -> None:
    running, owner, ids = server
    domain = {"domain": "127.0.0.1", "path": "/"}
    context.add_cookies([{"name": n, "value": v, **domain} for n, v in owner.client.cookies.items()])  # type: ignore[list-item]
    page = context.new_page()
    told = watched(page)
    seen = 0
    for route in routes():
        is_page = "GET" in route.methods and not route.path.startswith((API, "/ui/", "/static", "/health"))
        if not is_page or route.path in OPEN:
            continue
        page.goto(running.url + concrete(route, ids), wait_until="load")
        for each in page.locator("details > summary").all():
            if each.is_visible():
                each.click()
        assert page.locator("[data-canary]").count() == 0, route.path
        assert page.locator("svg[onload], img[src=x], [onerror]").count() == 0, route.path
        seen += "data-canary" in (page.locator("body").text_content() or "")
    assert seen >= 6, "it is shown as it was written"
    assert [each for each in told if "404" not in each] == []
