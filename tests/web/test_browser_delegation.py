"""What a person sees of a delegation, at both ends, in a real Chromium, in both languages."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from maia.i18n.catalogue import Catalogue, Lang
from tests.web.serving import Serving, Visitor, serving
from tests.web.test_browser import (  # pyright: ignore[reportUnusedImport] - fixtures
    USED,
    browser,
    context,
    pytestmark,
    watched,
)
from tests.web.test_delegation import SPECIALIST, staffed
from tests.web.test_privacy_card import signed_in

__all__ = ["browser", "context", "pytestmark"]
ASKED = [{"call": {"name": "run_specialist", "arguments": SPECIALIST}}]
QUESTION = [{"call": {"name": "AskUser", "arguments": {"question": "Which year?"}}}]
NAME = "Mole <i>é</i>"


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    turn = [ASKED, {"text": "There are seven.", "cost": 0.5, "usage": USED}, {"text": "Seven, says the mole."}]
    asking: list[Any] = [ASKED, QUESTION, {"text": "Which year?"}, {"text": "The mole asks."}, {"text": "Two."}]
    asking += [{"text": "Seven."}]
    with serving(staffed(tmp_path_factory.mktemp("office") / "data"), script=[*turn, *turn, *asking]) as server:
        with Visitor(server.url) as visitor:
            visitor.become_owner(server.token)
        yield server


@pytest.mark.parametrize("lang", ["fr", "en"])
def test_a_delegated_conversation_is_seen_at_its_call_and_in_the_strip_and_leads_back(
    context: BrowserContext, office: Serving, lang: Lang
) -> None:
    say = Catalogue(lang, strict=True)
    page = context.new_page()
    told = watched(page)
    signed_in(page, office)
    page.fill("#message", "Count them")
    page.keyboard.press("Enter")
    page.wait_for_url("**/conversations/*")
    expect(page.locator(".caption")).to_contain_text(say("delegate.cost", cost="$0.5000"))
    parent = page.url
    page.locator("#execution > summary").click() if not page.locator("#execution[open]").count() else None
    listed = page.locator("#children a.node")
    expect(listed).to_contain_text(f"{NAME} · Count the <b>invoices</b>")
    expect(listed).to_contain_text(say("rail.run.finished"))
    expect(listed).to_contain_text("$0.5000")
    expect(page.locator("#children h3")).to_contain_text(say("delegate.done", done=1, all=1))
    page.locator(".row-child").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url != parent and "/conversations/" in url)
    expect(page.locator(".msg-user h2")).to_have_text(say("delegate.said_by", name="maia"))
    expect(page.locator(".msg:not(.msg-user) h2"), "who answered, not the product").to_have_text(NAME)
    expect(page.locator("#f-above")).to_contain_text("Count them")
    expect(page.locator("#f-agent b")).to_have_text(NAME)
    expect(page.locator("#nav-recent a[aria-current=page]")).to_have_count(0)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("link", name=say("delegate.back", title="Count them")).click()
    page.wait_for_url(parent)
    assert told == []


def test_a_row_waits_with_its_specialist_also_when_the_conversation_went_on_and_is_done_with_it(
    context: BrowserContext, office: Serving
) -> None:
    say = Catalogue("fr", strict=True)
    page = context.new_page()
    told = watched(page)
    signed_in(page, office)
    page.fill("#message", "Compte")
    page.keyboard.press("Enter")
    page.wait_for_url("**/conversations/*")
    state, notices = page.locator("#turn-1 .row-state").first, page.locator("#turn-1 .notice")
    expect(state).to_have_text(say("web.call.pending"))
    expect(page.locator("#run-badge")).to_have_text(say("web.status.waiting"))
    expect(notices).to_contain_text([say("delegate.asks", name=NAME)])
    page.fill("#message", "Et sinon ?")
    page.keyboard.press("Enter")
    expect(page.locator("#turn-2 .caption")).to_be_visible()
    page.reload()
    expect(state).to_have_text(say("web.call.pending"))
    shorter = context.new_page()
    told_there = watched(shorter)
    shorter.goto(page.url)
    shorter.locator("#turn-1").evaluate("turn => turn.remove()")  # as where only the last turns are shown
    other = context.new_page()
    other.goto(f"{office.url}{page.locator('.row-child').get_attribute('href')}")
    other.fill("#message", "2026")
    other.keyboard.press("Enter")
    expect(state).to_have_text(say("web.call.succeeded"))
    expect(notices).to_contain_text([say("delegate.met", name=NAME)])
    expect(page.locator("#stream > section")).to_have_count(2)
    live = page.locator("#turn-1").inner_text()
    page.reload()
    assert page.locator("#turn-1").inner_text() == live
    expect(shorter.locator("#status")).to_contain_text(say("web.status.idle"))
    assert shorter.locator("#stream > section").count() == 1
    assert [told, told_there] == [[], []]
