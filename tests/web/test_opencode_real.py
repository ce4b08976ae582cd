"""The real OpenCode on its terminal in Chromium: `-m real`, with AGENT_PROGRAMS_DIR as for the other programs."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.runtimes.test_real import OPENCODE, programs, server  # pyright: ignore[reportUnusedImport] - fixtures
from tests.sandbox.running import living
from tests.web.serving import Visitor, serving
from tests.web.test_browser import browser, first_run, watched  # pyright: ignore[reportUnusedImport] - fixtures
from tests.web.test_browser import pytestmark as needs_chromium

__all__ = ["browser", "programs", "server"]
pytestmark = [*needs_chromium, pytest.mark.real]
MINUTE = 60_000


def test_the_real_opencode_answers_on_its_terminal(
    programs: Path, server: str, browser: Browser, tmp_path: Path
) -> None:
    found = sorted(programs.glob("opencode/node_modules/opencode-linux-*/bin/opencode"))
    if not found:
        pytest.skip("opencode is not installed there")
    data, path = tmp_path / "data", f"{found[0].parent}:/usr/bin:/bin"
    with serving(data, PATH=path) as running, Visitor(running.url) as visitor:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        told = watched(page)
        first_run(page, running)
        visitor.sign_in()
        who = visitor.ask("GET", "/api/v1/session").json()["id"]
        settings = data / "terminals" / who / "opencode" / ".config" / "opencode" / "opencode.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps(OPENCODE).replace("{base}", server))
        page.goto(f"{running.url}/conversations/{visitor.conversation('Real')}")
        page.click("#opencode-open")
        rows = page.locator(".xterm-rows")
        expect(rows).to_contain_text("commands", timeout=MINUTE)
        page.keyboard.type("Say something")
        expect(rows).to_contain_text("Say something")
        page.keyboard.press("Enter")
        expect(rows).to_contain_text("the answer is 42", timeout=MINUTE)
        page.click("[data-shell=larger]")
        expect(rows).to_contain_text("the answer is 42")
        page.click("[data-shell=close]")
        expect(page.locator("#opencode")).to_be_hidden()
        assert living(str(found[0])) == []
        assert told == []
        page.close()
