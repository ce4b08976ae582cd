"""A question that an agent asks waits for its answer, over a restart too. Skipped where there is no Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from maia.i18n.catalogue import Catalogue, Lang
from tests.web.serving import Visitor, serving
from tests.web.test_browser import browser, context, first_run, pytestmark, send, watched

__all__ = ["browser", "context", "pytestmark"]

QUESTION, OPTIONS = "Which <b>rate</b> applies?", ["20 %", "5.5 % <i>reduced</i>"]
ASKS: list[Any] = [
    {"call": {"name": "AskUser", "arguments": {"question": QUESTION, "options": OPTIONS}}},
    {"text": "I wait for you."},
]


@pytest.mark.parametrize("lang", ["fr"])
def test_a_question_waits_over_a_restart_and_one_click_answers_it(
    context: BrowserContext, tmp_path: Path, lang: Lang
) -> None:
    say = Catalogue(lang, strict=True)
    page = context.new_page()
    told = watched(page)
    page.set_viewport_size({"width": 390, "height": 844})
    card = page.locator("#question")
    with serving(tmp_path / "data", script=ASKS) as server:
        first_run(page, server)
        send(page, "Fill in the invoice")
        page.wait_for_url("**/conversations/*")
        conversation = page.url.rpartition("/")[2]
        expect(card).to_contain_text(QUESTION)
        expect(card.get_by_role("button")).to_have_text(OPTIONS)
        for place in ("#status", "#run-badge"):
            expect(page.locator(place)).to_have_text(say("web.status.waiting"))
        page.goto(server.url)
        expect(page.locator(".home-parts")).to_contain_text(say("board.state.waiting"))
    with serving(tmp_path / "data", script=[{"text": "Thank you."}]) as server, Visitor(server.url) as owner:
        owner.sign_in()
        read = owner.ask("GET", f"/api/v1/conversations/{conversation}").json()
        assert (read["status"], read["messages"][-1]["turnMeta"]["outcome"]) == ("waiting", "finished")
        page.goto(f"{server.url}/conversations/{conversation}")
        expect(page.locator("#status")).to_have_text(say("web.status.waiting"))
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        card.get_by_role("button", name=OPTIONS[1]).focus()
        page.keyboard.press("Enter")
        expect(page.locator("#message")).to_be_focused()
        expect(page.locator("#stream")).to_contain_text("Thank you.")
        expect(page.locator(".msg-user").last).to_contain_text(OPTIONS[1])
        expect(card).to_have_count(0)
        expect(page.locator("#status")).to_have_text(say("web.status.idle"))
        assert owner.ask("GET", f"/api/v1/conversations/{conversation}").json()["status"] == "idle"
    assert [line for line in told if "ERR_" not in line] == []
