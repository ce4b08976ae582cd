"""The card of a refused message, in a real Chromium, in both languages. Skipped where there is no Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from maia.i18n.catalogue import Catalogue
from tests.web.serving import OWNER, Serving
from tests.web.test_browser import browser, context, pytestmark, send, watched
from tests.web.test_privacy import IBAN, TEXT, fake, far, near

__all__ = ["browser", "context", "fake", "far", "near", "pytestmark"]


def signed_in(page: Page, server: Serving) -> None:
    page.goto(f"{server.url}/signin")
    for name in ("email", "password"):
        page.fill(f"[name={name}]", OWNER[name])
    page.keyboard.press("Enter")
    page.wait_for_url(f"{server.url}/")


@pytest.fixture
def refused(context: BrowserContext, far: Serving, say: Catalogue) -> Page:
    """A page on which a message was just refused, in a conversation that has one answer already."""
    page = context.new_page()
    signed_in(page, far)
    send(page, "hello")
    page.wait_for_url("**/conversations/*")
    expect(page.locator(".caption")).to_have_count(1)
    send(page, TEXT)
    expect(page.locator("#privacy-card b")).to_have_text(say("privacy.blocked", types="IBAN"))
    expect(page.locator("#privacy-card button")).to_have_text(
        [say("web.privacy.mask"), say("web.privacy.edit"), say("web.privacy.discard")]
    )
    assert IBAN not in page.locator("#privacy-card").inner_text()
    expect(page.locator("#message")).to_have_value("")
    expect(page.locator("#stream")).not_to_contain_text("IBAN")
    return page


def test_send_masked_sends_only_the_protected_values_as_placeholders(refused: Page) -> None:
    refused.click("[data-privacy=mask]")
    expect(refused.locator("#message")).to_be_focused()
    expect(refused.locator("#stream")).to_contain_text("pay [IBAN] for jean@exemple.fr")
    expect(refused.locator(".caption")).to_have_count(2)
    expect(refused.locator("#privacy-card")).to_have_count(0)
    refused.reload()
    expect(refused.locator("#stream")).to_contain_text("pay [IBAN] for jean@exemple.fr")


def test_edit_puts_the_text_back_and_discard_drops_it(refused: Page) -> None:
    refused.click("[data-privacy=edit]")
    expect(refused.locator("#message")).to_have_value(TEXT)
    expect(refused.locator("#message")).to_be_focused()
    refused.keyboard.press("Enter")
    expect(refused.locator("#privacy-card")).to_have_count(1)
    refused.click("[data-privacy=discard]")
    expect(refused.locator("#privacy-card")).to_have_count(0)
    refused.reload()
    expect(refused.locator("#message")).to_have_value("")
    expect(refused.locator(".caption")).to_have_count(1)


def test_from_home_the_card_stands_there_and_the_masked_message_opens_the_conversation(
    context: BrowserContext, far: Serving, say: Catalogue, tmp_path: Path
) -> None:
    page = context.new_page()
    told = watched(page)
    signed_in(page, far)
    send(page, TEXT)
    expect(page.locator("#privacy-card b")).to_have_text(say("privacy.blocked", types="IBAN"))
    page.screenshot(path=tmp_path / "card.png")
    page.keyboard.press("Enter")  # the first way on has the focus
    page.wait_for_url("**/conversations/*")
    expect(page.locator("#stream")).to_contain_text("pay [IBAN] for jean@exemple.fr")
    assert [line for line in told if "422" not in line] == []
