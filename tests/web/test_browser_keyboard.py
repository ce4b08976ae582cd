"""Every page without a mouse: help, the way past the navigation, and a focus that nothing takes away."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from maia.i18n.catalogue import Catalogue
from tests.web.serving import Serving, serving
from tests.web.test_browser import (  # pyright: ignore[reportUnusedImport] - fixtures
    PATIENCE,
    browser,
    first_run,
    pytestmark,
    send,
    watched,
)

__all__ = ["browser", "pytestmark"]
SCRIPT: list[Any] = [
    {"call": {"name": "Write", "arguments": {"path": "a.py", "content": "one\n"}}},
    {"text": "That waits.", "repeat": True},
]
HELD = "() => document.activeElement !== document.body && document.activeElement.checkVisibility()"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("keyboard") / "data", script=SCRIPT) as running:
        yield running


@pytest.fixture(scope="module")
def page(browser: Browser, server: Serving) -> Iterator[Page]:
    context: BrowserContext = browser.new_context(locale="fr-FR", viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    first_run(opened, server)
    yield opened
    context.close()


def test_a_question_mark_tells_the_keys_and_the_first_tab_leads_past_the_navigation(
    page: Page, server: Serving
) -> None:
    told = watched(page)
    page.goto(server.url)
    page.locator("#message").press("?")
    expect(page.locator("#message")).to_have_value("?")
    page.locator("#message").fill("")
    for path, section in (("/memory", "help.everywhere"), ("/board", "board.title")):
        page.goto(server.url + path)
        page.keyboard.press("Tab")
        expect(page.locator(".skip")).to_be_focused()
        page.keyboard.press("?")
        expect(page.locator("#help h3", has_text=Catalogue("fr")(section))).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#help")).to_be_hidden()
        expect(page.locator(".skip")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("#main")).to_be_focused()
    assert told == []


def decided(page: Page) -> None:
    page.goto(page.url.partition("/memory")[0].partition("/board")[0])
    send(page, "Write it")
    page.wait_for_url("**/conversations/*")
    page.locator("#cards [data-decide=approved]").press("Enter")
    expect(page.locator("#cards [data-say]")).to_be_focused()


def filtered(page: Page) -> None:
    page.locator("[data-show=note]").press("Enter")
    expect(page.locator("[data-show=note]")).to_have_attribute("aria-pressed", "true")


def noted(page: Page) -> None:
    page.fill("#note", "A note")
    page.locator("#note-form button").press("Enter")
    expect(page.locator("#entries")).to_contain_text("A note")


def refused_folder(page: Page) -> None:
    page.locator("#tab-folders").press("Enter")
    page.locator("#p-folders summary").press("Enter")
    page.locator("#folder-form [name=path]").fill("/not/there")
    page.locator("#folder-form [name=path]").press("Enter")
    expect(page.locator("#p-folders .problem")).to_be_visible()


def with_a_priority(page: Page) -> None:
    page.locator("#priority select").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#priority")).to_have_attribute("data-tone", "warning")


def remembered(page: Page) -> None:
    page.goto(page.url.partition("/conversations")[0] + "/memory")
    page.locator("[data-note=POST] textarea").fill("Remember this")
    page.locator("[data-note=POST] .btn-primary").press("Enter")
    expect(page.locator(".remembered")).to_have_count(1)


def forgotten(page: Page) -> None:
    page.locator(".remembered summary").press("Enter")
    for _ in ("asked", "sure"):
        page.locator("[data-forget]").press("Enter")
    expect(page.locator(".remembered")).to_have_count(0)


def edited(page: Page) -> None:
    page.goto(page.url.partition("/memory")[0] + "/board")
    page.locator(".kcard-more").press("Enter")
    page.locator("#record [name=labels]").fill("one")
    page.locator("#record [name=labels]").press("Enter")
    expect(page.locator(".kcard-labels")).to_contain_text("one")


def typed_project(page: Page) -> None:
    page.goto(page.url.partition("/board")[0] + "/projects")
    page.locator("main [data-plan^=types]").first.press("Enter")
    page.locator("dialog[open] [name=name]").fill("Kind")
    page.locator("dialog[open] [name=name]").press("Enter")
    expect(page.locator("main")).to_contain_text("Kind")
    expect(page.locator("dialog[open]")).to_have_count(0)


STEPS: list[Callable[[Page], None]] = [
    decided,
    filtered,
    noted,
    refused_folder,
    with_a_priority,
    remembered,
    forgotten,
    edited,
    typed_project,
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_the_focus_is_never_lost_to_what_is_drawn_anew(page: Page, step: Callable[[Page], None]) -> None:
    step(page)
    page.wait_for_function(HELD)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate(HELD), page.evaluate("document.activeElement.outerHTML.slice(0, 80)")
