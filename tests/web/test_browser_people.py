"""People and accounts as they are seen, in a real Chromium. Skipped where there is none."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from maia.i18n.catalogue import Catalogue, Lang
from tests.web.holding import broken
from tests.web.serving import OWNER, Serving, Visitor, serving
from tests.web.test_browser import (  # pyright: ignore[reportUnusedImport] - fixtures
    browser,
    context,
    pytestmark,
    watched,
)

__all__ = ["browser", "context", "pytestmark"]
EVIL = "<img src=x onerror=\"document.title='owned'\"> Noor"


@pytest.fixture(scope="module")
def server(tmp_path_factory: Any) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("people") / "data") as running:
        with Visitor(running.url) as first:
            first.become_owner(running.token)
        yield running


@pytest.mark.parametrize("lang", ["fr", "en"])
def test_somebody_is_invited_joins_and_is_archived_by_keyboard(
    context: BrowserContext, server: Serving, lang: Lang
) -> None:
    say = Catalogue(lang, strict=True)
    page = context.new_page()
    told = watched(page)
    page.goto(f"{server.url}/signin?next=/users")
    page.fill("[name=email]", OWNER["email"])
    page.fill("[name=password]", OWNER["password"])
    page.keyboard.press("Enter")
    page.wait_for_url(f"{server.url}/users")
    page.set_viewport_size({"width": 390, "height": 844})
    page.fill("#invite [name=name]", EVIL)
    page.fill("#invite [name=email]", f"noor-{lang}@example.org")
    page.keyboard.press("Enter")
    link = page.locator("#link input")
    expect(link).to_be_focused()
    address = link.input_value()
    row = page.locator(".person", has_text=f"noor-{lang}@example.org")
    expect(row).to_contain_text("onerror=")
    expect(row).to_contain_text(say("people.standing.invited"))
    assert page.locator(".scroll").evaluate("e => e.scrollWidth <= e.clientWidth")

    joining = context.browser.new_context(locale={"fr": "fr-FR", "en": "en-GB"}[lang])  # type: ignore[union-attr]
    theirs = joining.new_page()
    theirs.goto(address)
    expect(theirs.locator("h1")).to_contain_text("onerror=")
    theirs.fill("[name=password]", "another horse")
    theirs.keyboard.press("Enter")
    theirs.wait_for_url(f"{server.url}/")
    theirs.goto(f"{server.url}/account")
    expect(theirs.locator("#sign-ins")).to_contain_text(say("account.this_one"))
    theirs.fill("#own-name [name=name]", "Noor Haddad")
    theirs.keyboard.press("Enter")
    expect(theirs.locator("#own-name .notice")).to_have_text(say("account.name_kept"))
    theirs.fill("#own-password [name=current]", "wrong")
    theirs.fill("#own-password [name=password]", "a new horse")
    theirs.keyboard.press("Enter")
    expect(theirs.locator("#own-password .notice")).to_have_text(say("account.wrong_password", n=4))
    words = theirs.locator("#own-password .notice")
    assert words.evaluate("e => e.clientHeight < 2 * parseFloat(getComputedStyle(e).lineHeight)"), "words in a line"
    theirs.fill("#own-password [name=current]", "another horse")
    theirs.keyboard.press("Enter")
    expect(theirs.locator("#own-password .notice")).to_have_text(say("account.password_kept"))
    with broken(theirs):
        theirs.locator(".account summary").click()
        theirs.locator("#sign-out").click()
        expect(theirs.locator(".toast")).to_have_text(say("web.refused_lost"))
    assert theirs.url == f"{server.url}/account", "nobody is told to be out who is not"

    page.reload()
    expect(row).to_contain_text("Noor Haddad")
    row.locator("select").select_option("guest")
    expect(row.locator("select")).to_be_focused()
    expect(row.locator("select")).to_have_value("guest")
    if lang == "fr":
        complaints = watched(theirs)
        theirs.reload()
        for place in theirs.locator(".nav a.nav-item").evaluate_all("all => all.map((each) => each.href)"):
            theirs.goto(place)
        theirs.goto(f"{server.url}/account")
        assert complaints == [], "what a guest may not do is missing on no page"
    with broken(page):
        row.locator("select").select_option("user")
        expect(page.locator("#people-said")).to_have_text(say("web.refused_lost"))
        expect(row.locator("select")).to_have_value("guest")
        expect(row.locator("select")).to_be_enabled()
    row.get_by_role("button", name=say("people.archive")).focus()
    page.keyboard.press("Enter")
    expect(row).to_contain_text(say("people.standing.archived"))
    theirs.reload()
    theirs.wait_for_url("**/signin?next=/account")
    page.goto(f"{server.url}/audit")
    expect(page.locator("tbody tr").first).to_contain_text(say("audit.act.users.archived"))
    expect(page.locator("tbody tr").first).to_contain_text("Noor Haddad")
    assert page.title() == f"{say('audit.title')} · maia"
    assert told == []
    joining.close()
