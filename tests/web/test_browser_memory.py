"""The page of what is remembered, as people see it, in a real Chromium. Skipped where there is none."""

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from maia.i18n.catalogue import Catalogue, Lang
from tests.web.serving import serving
from tests.web.test_browser import (  # pyright: ignore[reportUnusedImport] - fixtures
    browser,
    context,
    first_run,
    pytestmark,
    send,
    watched,
)

__all__ = ["browser", "context", "pytestmark"]
SCRIPT: list[Any] = [{"text": "Yes.", "repeat": True}]


@pytest.mark.parametrize("lang", ["fr"])
def test_a_note_is_added_told_corrected_and_forgotten(context: BrowserContext, data: Any, lang: Lang) -> None:
    say = Catalogue(lang, strict=True)
    with serving(data, script=SCRIPT) as server:
        page = context.new_page()
        told = watched(page)
        page.set_viewport_size({"width": 390, "height": 844})
        first_run(page, server)
        page.goto(f"{server.url}/memory")
        expect(page.locator(".empty h3")).to_have_text(say("memories.none"))
        adding = page.locator("[data-note=POST]")
        adding.get_by_label(say("memories.text"), exact=True).fill("Nous écrivons les dates en ISO 8601")
        adding.get_by_label(say("memories.standing")).check()
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        note = page.locator(".remembered")
        expect(note).to_contain_text("ISO 8601")
        expect(note.locator(".badge")).to_have_text(say("memories.is_standing"))
        expect(adding.locator("textarea")).to_have_value("")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.goto(server.url)
        send(page, "Bonjour")
        page.wait_for_url("**/conversations/*")
        page.locator("#context").click()
        box = page.locator("#memory-delivered")
        expect(box).to_contain_text(say("context.memory"))
        expect(box.locator("li").nth(2)).to_have_text(say("context.lookups", n=0, calls=0, limit=3))
        page.get_by_role("link", name="memory-recall").click()
        expect(page.locator("#raw pre")).to_contain_text("ISO 8601")
        page.goto(f"{server.url}/observability")
        expect(page.locator(".table tbody td").nth(1)).to_have_text(say("observe.of", some=1, all=1))
        page.get_by_role("link", name=say("observe.days", n=30)).focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/observability?days=30")
        expect(page.locator(".seg [aria-current]")).to_have_text(say("observe.days", n=30))
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.goto(f"{server.url}/memory?q=dates")
        note.get_by_text(say("memories.edit")).click()
        note.locator("textarea").fill("Les dates sont en ISO")
        note.get_by_role("button", name=say("memories.save")).click()
        expect(note.locator("p").first).to_have_text("Les dates sont en ISO")
        note.get_by_text(say("memories.edit")).click()
        note.get_by_role("button", name=say("memories.forget"), exact=True).click()
        note.get_by_role("button", name=say("memories.sure")).click()
        expect(page.locator(".empty h3")).to_have_text(say("memories.none_found"))
        assert told == []
