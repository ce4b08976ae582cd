"""What the model received, as people see it, in a real Chromium. Skipped where there is none."""

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from maia.i18n.catalogue import Catalogue, Lang
from tests.web.serving import Serving, serving
from tests.web.test_browser import (  # pyright: ignore[reportUnusedImport] - fixtures
    browser,
    context,
    first_run,
    pytestmark,
    send,
    watched,
)
from tests.web.test_privacy import fake, far, near
from tests.web.test_privacy_card import signed_in

__all__ = ["browser", "context", "fake", "far", "near", "pytestmark"]
SCRIPT: list[Any] = [{"text": "Yes.", "usage": {"input": 60_000, "output": 5}, "repeat": True}]


@pytest.mark.parametrize("lang", ["fr", "en"])
def test_the_bar_opens_what_the_model_received(context: BrowserContext, data: Any, lang: Lang) -> None:
    say = Catalogue(lang, strict=True)
    with serving(data, script=SCRIPT) as server:
        page = context.new_page()
        told = watched(page)
        page.set_viewport_size({"width": 390, "height": 844})
        first_run(page, server)
        send(page, "Look")
        page.wait_for_url("**/conversations/*")
        bar = page.locator("#context")
        expect(bar).to_have_attribute("data-tone", "warning")
        expect(bar).to_contain_text(say("context.measured"))
        page.reload()
        expect(bar).to_contain_text(say("context.measured"))
        bar.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/context")
        expect(page.locator("h1")).to_have_text(say("context.title"))
        expect(page.locator(".sections tbody td:nth-child(2) a")).to_have_text(
            ["identity", "rules", "working-folders", "runtime", "tools", "turn-time", "message"]
        )
        page.get_by_role("link", name="message").click()
        expect(page.locator("#raw pre")).to_contain_text("user:\nLook")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert told == []


def test_what_was_sent_is_shown_as_it_left(context: BrowserContext, far: Serving) -> None:
    say = Catalogue("fr", strict=True)
    page = context.new_page()
    signed_in(page, far)
    send(page, "Write to jean@exemple.fr")
    page.wait_for_url("**/conversations/*")
    expect(page.locator(".caption")).to_have_count(1)
    send(page, "And?")
    expect(page.locator(".caption")).to_have_count(2)
    page.locator("#context").click()
    row = page.locator(".sections tr", has_text="history")
    expect(row.locator(".badge")).to_have_text(say("privacy.badge.masked", n=1, types=say("privacy.type.email")))
    row.get_by_role("link").click()
    expect(page.locator("#raw pre")).to_contain_text("jean@exemple.fr")
    page.get_by_role("link", name=say("context.sent")).click()
    expect(page.locator("#raw pre")).to_contain_text("[EMAIL]")
    expect(page.locator("#raw pre")).not_to_contain_text("jean@exemple.fr")
    expect(page.locator(".notice")).to_contain_text("regex@")
