"""Home in a real Chromium: it tells what needs somebody, and follows what changes."""

from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, expect

from maia.i18n.catalogue import Catalogue
from tests.web.serving import Visitor, serving
from tests.web.test_browser import (  # pyright: ignore[reportUnusedImport] - fixtures
    NASTY,
    browser,
    context,
    first_run,
    pytestmark,
    watched,
)

__all__ = ["browser", "context", "pytestmark"]
SCRIPT: list[Any] = [
    {"call": {"name": "Bash", "arguments": {"command": f"touch a # {NASTY}"}}},
    {"text": "I wait.", "usage": {"input": 1200, "output": 3}, "cost": 0.25, "repeat": True},
]
FR = Catalogue("fr", strict=True)


def test_home_tells_what_needs_somebody_and_decides_there(context: BrowserContext, data: Path) -> None:
    with serving(data, script=SCRIPT) as server, Visitor(server.url) as owner:
        page = context.new_page()
        told = watched(page)
        first_run(page, server)
        expect(page.locator("#home-recent .empty")).to_be_visible()
        expect(page.locator("#home-needs")).to_be_hidden()
        owner.sign_in()
        project = owner.ask("POST", "/api/v1/projects", {"name": "Invoicing"}).json()["id"]
        late = owner.ask("POST", "/api/v1/conversations", {"title": f"Late {NASTY}", "dueOn": "2020-01-01"}).json()[
            "id"
        ]
        expect(page.locator(f"#h-{late}")).to_contain_text("Late")
        asking = owner.conversation("Asking")
        owner.say(asking, "Go")
        needs = page.locator("#home-needs")
        expect(needs).to_contain_text("touch a")
        expect(page.locator("#home-said")).to_contain_text(FR("board.home.said.needs", n=2))
        expect(page.locator("#count-autonomy")).to_have_text("1")
        needs.get_by_role("button", name=FR("approvals.approve")).press("Enter")
        expect(needs).not_to_contain_text("touch a")
        expect(page.locator("#count-autonomy")).to_be_hidden()
        expect(page.locator("#home-cost")).to_contain_text("$0.25")
        assert page.title() != "owned"
        page.reload()
        page.locator("[name=projectId]").select_option(project)
        page.fill("#message", "Begin")
        page.keyboard.press("Enter")
        page.wait_for_url("**/conversations/*")
        begun = owner.ask("GET", f"/api/v1/conversations/{page.url.rpartition('/')[2]}").json()
        assert begun["projectId"] == project
        assert told == []


def test_a_refused_first_message_leaves_no_conversation_and_a_double_click_makes_one_thing(
    context: BrowserContext, data: Path
) -> None:
    with serving(data, started_with=None) as server, Visitor(server.url) as owner:
        page = context.new_page()
        first_run(page, server)
        owner.sign_in()
        page.fill("#message", "Begin")
        with page.expect_response(lambda answer: answer.request.method == "DELETE") as taken_back:
            page.keyboard.press("Enter")
        assert taken_back.value.ok
        expect(page.locator("#refusal")).to_contain_text(FR("web.refused", n=409))
        expect(page.locator("#message")).to_have_value("Begin")
        assert owner.ask("GET", "/api/v1/conversations").json()["conversations"] == []
        kept = context.cookies()
        context.clear_cookies()
        page.keyboard.press("Enter")
        expect(page.locator("#refusal a")).to_have_text(FR("signin.do"))
        expect(page.locator("#refusal a")).to_have_attribute("href", "/signin?next=%2F")
        context.add_cookies(kept)  # pyright: ignore[reportArgumentType] - what cookies() gives is what it takes
        page.goto(f"{server.url}/projects")
        page.get_by_role("button", name=FR("plan.new_project")).click()
        page.locator("dialog[open] [name=name]").fill("Once")
        page.locator("dialog[open] .btn-primary").dblclick()
        expect(page.locator("dialog[open]")).to_have_count(0)
        assert [each["name"] for each in owner.ask("GET", "/api/v1/projects").json()["projects"]] == ["Once"]
