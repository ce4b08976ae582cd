"""Approvals as people see them, in a real Chromium. Skipped where there is none."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from maia.i18n.catalogue import Catalogue, Lang
from tests.web.holding import broken
from tests.web.serving import Serving, serving
from tests.web.test_browser import (  # pyright: ignore[reportUnusedImport] - fixtures
    browser,
    context,
    first_run,
    pytestmark,
    send,
    watched,
)

__all__ = ["browser", "context", "pytestmark"]
WRITE = {"call": {"name": "Write", "arguments": {"path": "a.py", "content": "one\n"}}}
SCRIPT: list[Any] = list(itertools.chain.from_iterable([WRITE, {"text": "So far."}] for _ in range(3)))


@pytest.fixture
def server(data: Any) -> Iterator[Serving]:
    with serving(data, script=SCRIPT) as running:
        yield running


@pytest.mark.parametrize("lang", ["fr", "en"])
def test_a_call_is_approved_on_its_card_by_keyboard(context: BrowserContext, server: Serving, lang: Lang) -> None:
    say = Catalogue(lang, strict=True)
    page = context.new_page()
    told = watched(page)
    page.set_viewport_size({"width": 390, "height": 844})
    first_run(page, server)
    send(page, "Write it")
    page.wait_for_url("**/conversations/*")
    card = page.locator("#cards .card")
    expect(card.locator("h2")).to_have_text(say("approvals.needed", tool="write_file"))
    expect(page.locator("#status")).to_have_text(say("web.status.waiting_approval"))
    expect(page.locator(".caption")).to_contain_text(say("web.outcome.waiting_approval"))
    expect(page.locator(".caption a")).to_have_text(say("approvals.asked_for", n=1))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.evaluate("document.getElementById('cards').style.paddingTop = '900px'")
    approve = card.get_by_role("button", name=say("approvals.approve"))
    expect(approve).to_be_in_viewport()  # whoever reads the end sees it
    page.reload()
    card.locator("summary").first.focus()
    page.keyboard.press("Enter")
    expect(card.locator("details p").first).to_be_visible()
    with broken(page, 503):
        card.get_by_role("button", name=say("approvals.approve")).click()
        expect(card.locator(".problem")).to_have_text("Not now.")
        expect(card.locator("[data-decide]:enabled")).to_have_count(2)
    card.get_by_role("button", name=say("approvals.approve")).focus()
    page.keyboard.press("Enter")
    expect(card).to_contain_text(say("approvals.retry"))
    expect(card.locator("[data-decide]")).to_have_count(0)
    expect(page.locator("#status")).to_have_text(say("web.status.idle"))
    page.locator("#message").fill("What I was about to say")
    card.get_by_role("button", name=say("approvals.ask_to_retry")).click()
    expect(page.locator(".caption")).to_have_count(2)
    expect(page.locator("#message")).to_have_value("What I was about to say")
    expect(card).to_have_count(0)
    expect(page.locator(".row").last).to_contain_text(say("web.call.succeeded"))
    assert told == []


def test_a_decision_elsewhere_shows_on_the_card(context: BrowserContext, server: Serving) -> None:
    say = Catalogue("fr", strict=True)
    page, other = context.new_page(), context.new_page()
    first_run(page, server)
    send(page, "Write it")
    page.wait_for_url("**/conversations/*")
    expect(page.locator("#cards .card")).to_have_count(1)
    other.goto(f"{server.url}/approvals")
    other.wait_for_url("**/autonomy")
    waits, link = other.locator("#queue .item"), other.locator("#queue .item b a")
    expect(link).to_have_text(f"{say('autonomy.category.files')} · write_file")
    expect(waits.locator("button")).to_have_count(2)
    other.locator("[data-level=files][value='1']").focus()
    other.keyboard.press("ArrowRight")
    expect(other.locator("#levels-said")).to_have_text(say("autonomy.saved"))
    expect(other.locator("#level-files small").last).to_contain_text("Léa Morel")
    other.reload()
    expect(other.locator("[data-level=files][value='2']")).to_be_checked()
    link.click()
    expect(other.locator("#request .diff")).to_contain_text("a.py")
    other.get_by_role("button", name=say("approvals.refuse")).click()
    expect(other.locator("#request .kv")).to_contain_text(say("approvals.by_refused", name="Léa Morel"))
    expect(page.locator("#cards .card")).to_contain_text(say("approvals.refused_by", name="Léa Morel"))
    other.goto(f"{server.url}/approvals")
    expect(other.locator("#queue .empty h3")).to_have_text(say("approvals.none_waits"))
