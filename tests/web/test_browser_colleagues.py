"""The list of colleagues, a home thread and the picker's third choice, in a real Chromium, in both languages."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from maia.i18n.catalogue import Catalogue, Lang
from tests.web.serving import Serving, Visitor, serving
from tests.web.test_browser import (  # pyright: ignore[reportUnusedImport] - fixtures
    browser,
    context,
    pytestmark,
    watched,
)
from tests.web.test_colleagues import IRIS
from tests.web.test_privacy_card import signed_in

__all__ = ["browser", "context", "pytestmark"]
NAME = "Iris <b>é</b>"


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    data: Path = tmp_path_factory.mktemp("office") / "data"
    home = data / "home" / ".maia"
    for name, more in (("iris", "model: offline/offline\n"), ("basile", "group: team\n")):
        agent = home / "agents" / name / "AGENT.md"
        agent.parent.mkdir(parents=True)
        agent.write_text(IRIS.replace("---\n", f"---\n{more}", 1).replace("Iris", name.capitalize()), "utf-8")
    with serving(data, script=[{"text": "Yes.", "repeat": True}]) as server, Visitor(server.url) as visitor:
        visitor.become_owner(server.token)
        yield server


@pytest.mark.parametrize("lang", ["fr", "en"])
def test_a_colleague_is_opened_from_the_list_and_answers_as_its_model_says(
    context: BrowserContext, office: Serving, lang: Lang
) -> None:
    say = Catalogue(lang, strict=True)
    page = context.new_page()
    told = watched(page)
    signed_in(page, office)
    listed = page.locator("#colleagues")
    expect(listed.locator("h2")).to_have_text(say("colleague.list"))
    expect(listed.locator(".nav-item > span:last-child")).to_have_text([NAME, NAME.replace("Iris", "Basile")])
    listed.locator("a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/conversations/*")
    expect(page.locator("#colleagues a[aria-current=page]")).to_have_count(1)
    expect(page.locator("h1")).to_contain_text(NAME)
    picker = page.locator("#picker")
    picker.locator("summary").click()
    own = picker.locator(".menu-item", has_text=say("picker.colleague", model="offline"))
    expect(own).to_have_attribute("aria-checked", "true")
    expect(picker.locator(".menu-foot").last).to_contain_text(say("binding.reason.colleague"))
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert told == []
