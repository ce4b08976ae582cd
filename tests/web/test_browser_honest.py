"""What a page tells is true on every page, at once, and nothing that was typed is lost. Skipped without Chromium."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, expect

from maia.i18n.catalogue import Catalogue
from tests.web.holding import Held
from tests.web.serving import Serving, Visitor, serving
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
    {"fail": {"kind": "auth", "status": 401, "text": "no"}},
    {"call": {"name": "Write", "arguments": {"path": "a.py", "content": "one\n"}}},
    {"text": "That waits."},
    {"text": "Again.", "repeat": True},
]
say = Catalogue("fr", strict=True)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("honest") / "data", script=SCRIPT) as running:
        yield running


@pytest.fixture(scope="module")
def signed_in(browser: Browser, server: Serving) -> StorageState:
    opened = browser.new_context(locale="fr-FR")
    first_run(opened.new_page(), server)
    state = opened.storage_state()
    opened.close()
    return state


@pytest.fixture
def context(browser: Browser, signed_in: StorageState) -> Iterator[BrowserContext]:
    opened = browser.new_context(locale="fr-FR", viewport={"width": 1280, "height": 900}, storage_state=signed_in)
    opened.set_default_timeout(PATIENCE)
    yield opened
    opened.close()


@pytest.fixture
def visitor(server: Serving, context: BrowserContext) -> Iterator[Visitor]:
    assert context.cookies(), "the owner is made before anybody signs in"
    with Visitor(server.url) as somebody:
        somebody.sign_in()
        yield somebody


def opened(context: BrowserContext, server: Serving, conversation: str) -> Page:
    page = context.new_page()
    page.goto(f"{server.url}/conversations/{conversation}")
    return page


def test_a_failed_answer_is_told_the_same_way_everywhere(
    context: BrowserContext, server: Serving, visitor: Visitor
) -> None:
    page, failed = opened(context, server, visitor.conversation("Fails")), say("board.state.error")
    send(page, "Try")
    expect(page.locator(".error")).to_have_count(1)
    for _ in ("live", "loaded"):
        expect(page.locator("#status")).to_have_text(failed)
        expect(page.locator("#run-badge")).to_have_text(failed)
        page.reload()
    page.goto(f"{server.url}/board")
    expect(page.locator(".kcard .badge")).to_have_text(failed)
    page.goto(server.url)
    expect(page.locator("#home-recent .item svg")).to_have_attribute("aria-label", failed)


def test_what_was_decided_waits_no_more_and_every_page_counts_so(
    context: BrowserContext, server: Serving, visitor: Visitor
) -> None:
    page, elsewhere, beside = (
        opened(context, server, visitor.conversation("Asks")),
        context.new_page(),
        context.new_page(),
    )
    elsewhere.goto(f"{server.url}/approvals")
    beside.goto(f"{server.url}/conversations/{visitor.conversation('Beside')}")
    send(page, "Write it")
    for each in (page, elsewhere, beside):
        expect(each.locator("#count-autonomy")).to_have_text("1")
    expect(elsewhere.locator("#main .item")).to_have_count(1)
    expect(page.locator("#run-badge")).to_have_text(say("web.outcome.waiting_approval"))
    page.get_by_text(say("approvals.whole_call")).click()
    expect(page.locator("#cards .card details[open] pre")).to_contain_text('"content": "one')
    page.locator("#cards [data-decide=approved]").click()
    for each in (page, elsewhere, beside):
        expect(each.locator("#count-autonomy")).to_be_hidden()
    expect(elsewhere.locator("#queue .empty h3")).to_have_text(say("approvals.none_waits"))
    for _ in ("live", "loaded"):
        expect(page.locator("#run-badge")).to_have_text(say("rail.run.finished"))
        expect(page.locator("#status")).to_have_text(say("web.status.idle"))
        expect(page.locator(".caption .badge")).to_have_count(0)
        page.reload()


def test_a_conversation_that_is_gone_says_so_at_once_and_shows_the_ways_out(
    context: BrowserContext, server: Serving, visitor: Visitor
) -> None:
    conversation = visitor.conversation("Gone")
    page = opened(context, server, conversation)
    told = watched(page)
    page.fill("#message", "half a thought")
    visitor.ask("DELETE", f"/api/v1/conversations/{conversation}")
    expect(page.locator("#gone")).to_contain_text(say("web.gone"))
    expect(page.locator("#gone a")).to_have_attribute("href", "/")
    expect(page.locator("#message")).to_have_value("half a thought")
    expect(page.locator("#send")).to_be_disabled()
    page.locator("[data-bring-back]").click()
    expect(page.locator("#gone")).to_have_count(0)
    expect(page.locator("#message")).to_have_value("half a thought")
    visitor.ask("DELETE", f"/api/v1/conversations/{conversation}")
    expect(page.locator("#gone")).to_be_visible()
    visitor.ask("POST", f"/api/v1/conversations/{conversation}/restore")
    expect(page.locator("#gone"), "brought back elsewhere").to_have_count(0)
    expect(page.locator("#send")).to_be_enabled()
    assert told == []


@pytest.mark.usefixtures("signed_in")
def test_a_page_whose_reader_was_signed_out_elsewhere_leads_to_the_sign_in(browser: Browser, server: Serving) -> None:
    with Visitor(server.url) as somebody:
        somebody.sign_in()
        conversation = somebody.conversation("Out")
        context = browser.new_context(locale="fr-FR")
        context.add_cookies([{"name": n, "value": v, "url": server.url} for n, v in somebody.client.cookies.items()])
        page = opened(context, server, conversation)
        expect(page.locator("#title")).to_have_text("Out")
        somebody.ask("DELETE", "/api/v1/session")
        expect(page.locator("#refusal a")).to_have_attribute("href", f"/signin?next=%2Fconversations%2F{conversation}")
        context.close()


def test_nothing_that_was_typed_is_lost_to_a_refusal_or_to_what_is_on_its_way(
    context: BrowserContext, server: Serving, visitor: Visitor
) -> None:
    page = opened(context, server, visitor.conversation("Typed"))
    refused = {"status": 400, "json": {"code": "title_too_long", "message": "Trop long"}}
    page.route("**/api/v1/conversations/*", lambda route: route.fulfill(**refused))  # type: ignore[arg-type]
    page.locator("#title").click()
    page.fill(".title-input", "What I typed")
    page.keyboard.press("Enter")
    expect(page.locator("#refusal")).to_contain_text("Trop long")
    expect(page.locator(".title-input")).to_have_value("What I typed")
    page.keyboard.press("Escape")
    expect(page.locator("#title")).to_have_text("Typed")
    expect(page.locator("#title")).to_be_focused()
    for typed in ("Typed", " "):  # Enter leaves a title as it is, too
        page.locator("#title").click()
        page.fill(".title-input", typed)
        page.keyboard.press("Enter")
        expect(page.locator("#title")).to_be_focused()

    held = Held(page, "/notes")
    page.fill("#note", "the first one")
    page.locator("#note-form button").click()
    held.come()
    page.fill("#note", "the next one")
    held.go_on()
    expect(page.locator("#entries")).to_contain_text("the first one")
    expect(page.locator("#note")).to_have_value("the next one")


DAYS: dict[str, str | None] = {
    "4/12/2031": "2031-12-04",
    "04.12.31": "2031-12-04",
    "2031-12-04": "2031-12-04",
    "4 d\u00e9cembre 2031": "2031-12-04",
    "Dec 4 2031": "2031-12-04",
    "4/12": "2026-12-04",
    "le 1er janvier": "2027-01-01",
    "ven. 4 d\u00e9c.": "2026-12-04",
    "4th of December": "2026-12-04",
    "Aujourd\u2019hui": "2026-12-01",
    "aujourd'hui": "2026-12-01",
    "tomorrow": "2026-12-02",
    "apr\u00e8s-demain": "2026-12-03",
    "Tuesday": "2026-12-08",
    "29/2": "2028-02-29",
    "14 jui": None,
    "30/2/2031": None,
    "1/1/1999": None,
    "1/1/3000": None,
    "4": None,
    "": None,
}
"""What is typed on 1 December 2026, a Tuesday."""


def test_a_day_is_read_typed_and_taken_from_a_calendar_in_the_words_of_the_page(
    context: BrowserContext, server: Serving, visitor: Visitor
) -> None:
    conversation = visitor.conversation("Due")
    visitor.ask("PATCH", f"/api/v1/conversations/{conversation}", {"dueOn": "2031-12-04"})
    page = opened(context, server, conversation)
    told = watched(page)
    field, days, entries = page.locator("#due"), page.get_by_role("dialog"), page.locator("#entries .entry p")
    expect(field).to_have_accessible_name("\u00c9ch\u00e9ance\u202f: 4\u00a0d\u00e9c.\u00a02031")
    field.press("Enter")
    expect(days.get_by_role("textbox")).to_be_focused()
    expect(days.get_by_role("textbox")).to_have_value("04/12/2031")
    page.keyboard.type("14 jui\n")
    expect(days.get_by_role("alert")).to_have_text(say("day.wrong"))
    page.keyboard.press("ArrowDown")
    expect(days.get_by_role("button", name="jeudi 4 d\u00e9cembre 2031")).to_be_focused()
    for key in ("ArrowRight", "PageDown", "ArrowUp"):
        page.keyboard.press(key)
    expect(days.get_by_role("button", name="lundi 29 d\u00e9cembre 2031")).to_be_focused()
    page.keyboard.press("Enter")
    expect(days).to_have_count(0)
    expect(field).to_be_focused()
    expect(entries.first).to_contain_text("29\u00a0d\u00e9c.\u00a02031")
    field.press("Enter")
    page.keyboard.press("Escape")
    expect(days).to_have_count(0)
    expect(field).to_be_focused()
    field.press("Enter")
    days.get_by_role("button", name=say("day.none")).click()
    expect(field).to_contain_text(say("bar.no_day"))
    expect(entries.first).to_contain_text(f"29\u00a0d\u00e9c.\u00a02031 \u2192 {say('bar.no_day')}")
    read = (
        "async ([at, all]) => { const days = await import(at); return all.map((day) => days.read(day, '2026-12-01')); }"
    )
    script = field.get_attribute("data-day-open")
    assert dict(zip(DAYS, page.evaluate(read, [script, list(DAYS)]), strict=True)) == DAYS
    assert told == []
