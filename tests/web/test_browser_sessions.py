"""Terminal sessions as people open them, in a real Chromium. Skipped where there is none."""

from pathlib import Path
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
from tests.web.test_sessions import turn, write_session

__all__ = ["browser", "context", "pytestmark"]
SCRIPT: list[Any] = [{"text": "I go on.", "repeat": True}]


@pytest.mark.parametrize("lang", ["fr", "en"])
def test_a_session_is_found_and_opened_by_keyboard_and_goes_on(
    context: BrowserContext, data: Path, tmp_path: Path, lang: Lang
) -> None:
    say = Catalogue(lang, strict=True)
    project = tmp_path / "project"
    write_session(project, "session_2026-11-30_09_00_00", *turn(1, "<b>Why</b> does it fail?"))
    with serving(data, script=SCRIPT) as server:
        page = context.new_page()
        told = watched(page)
        page.set_viewport_size({"width": 390, "height": 844})
        first_run(page, server)
        page.goto(f"{server.url}/terminal")
        page.locator("#folder").focus()
        page.keyboard.type(str(project))
        page.keyboard.press("Enter")
        expect(page.locator(".item b")).to_have_text(["<b>Why</b> does it fail?"])
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.get_by_role("button", name=say("sessions.open_it", name="<b>Why</b> does it fail?")).focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/conversations/*")
        expect(page.locator("#stream")).to_contain_text("Fine.")
        send(page, "Go on")
        expect(page.locator(".caption")).to_have_count(2)
        expect(page.locator("#stream")).to_contain_text("I go on.")
        page.goto(f"{server.url}/terminal?folder={project}")
        expect(page.locator("[data-session]")).to_have_text(say("sessions.open_again"))
        page.fill("#folder", str(data))
        page.keyboard.press("Enter")
        expect(page.locator("#refusal b")).to_have_text(say("sessions.refused"))
        assert [line for line in told if "400" not in line] == []
