"""What a person sees of a delegation, at both ends, in a real Chromium, in both languages."""

from collections.abc import Iterator

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
NAME = "Mole <i>é</i>"


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    turn = [ASKED, {"text": "There are seven.", "cost": 0.5, "usage": USED}, {"text": "Seven, says the mole."}]
    with serving(staffed(tmp_path_factory.mktemp("office") / "data"), script=[*turn, *turn]) as server:
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
    expect(page.locator("#f-above")).to_contain_text("Count them")
    expect(page.locator("#f-agent b")).to_have_text(NAME)
    expect(page.locator("#nav-recent a[aria-current=page]")).to_have_count(0)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("link", name=say("delegate.back", title="Count them")).click()
    page.wait_for_url(parent)
    assert told == []
