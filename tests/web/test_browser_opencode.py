"""OpenCode's terminal in a real Chromium, with a scripted program in its place. Skipped where there is none."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, expect

from maia.i18n.catalogue import Catalogue
from tests.sandbox.running import living
from tests.web.opencode_double import stand_in
from tests.web.serving import Serving, Visitor, serving
from tests.web.test_browser import (  # pyright: ignore[reportUnusedImport] - fixtures
    NASTY,
    browser,
    first_run,
    pytestmark,
    watched,
)
from tests.web.test_browser_accessible import violations
from tests.web.test_opencode import joined

__all__ = ["browser", "pytestmark"]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Path]]:
    base = tmp_path_factory.mktemp("opencode")
    with serving(base / "data", PATH=stand_in(base / "bin")) as running:
        yield running, base


@pytest.fixture(scope="module")
def signed(browser: Browser, world: tuple[Serving, Path]) -> StorageState:
    context = browser.new_context()
    first_run(context.new_page(), world[0])
    kept = context.storage_state()
    context.close()
    return kept


@pytest.fixture
def owner(world: tuple[Serving, Path], signed: StorageState) -> Iterator[Visitor]:
    del signed
    with Visitor(world[0].url) as visitor:
        visitor.sign_in()
        yield visitor


@pytest.fixture
def context(browser: Browser, signed: StorageState) -> Iterator[BrowserContext]:
    opened = browser.new_context(locale="fr-FR", viewport={"width": 1440, "height": 900}, storage_state=signed)
    yield opened
    opened.close()


def shown(page: Page, word: str) -> None:
    expect(page.locator(".xterm-rows")).to_contain_text(word)


def test_a_terminal_is_opened_used_and_left_by_keyboard_alone(
    context: BrowserContext, world: tuple[Serving, Path], owner: Visitor
) -> None:
    say, server = Catalogue("fr", strict=True), world[0]
    page = context.new_page()
    told, loads = watched(page), list[tuple[str, int]]()
    page.on("response", lambda each: loads.append((each.url, int(each.headers.get("content-length", "0")))))
    page.goto(f"{server.url}/conversations/{owner.conversation('Terminal')}", wait_until="load")
    assert (len(loads) <= 12, sum(size for _, size in loads) <= 200_000) == (True, True), loads
    assert not [url for url, _ in loads if "xterm" in url or "opencode" in url]
    expect(page.locator("#opencode")).to_be_hidden()
    page.locator("#opencode-open").focus()
    page.keyboard.press("Enter")
    shown(page, "OpenCode double in")
    assert page.locator(".rail > *:visible").evaluate_all("all => all.map(each => each.id || each.role)")[:3] == [
        "execution", "opencode", "tablist",
    ]  # fmt: skip
    expect(page.locator(".shell-place")).to_contain_text("/workspaces/")
    page.keyboard.type("héé")
    page.keyboard.press("Enter")
    shown(page, "<héé>")
    colour = "getComputedStyle(document.querySelector('.xterm-rows span')).color"
    assert page.evaluate(colour) != page.evaluate("getComputedStyle(document.body).color")
    page.keyboard.press("Tab")
    page.keyboard.press("F6")
    assert page.evaluate("document.activeElement.dataset.shell") == "close"
    page.keyboard.press("Shift+Tab")
    width = "document.querySelector('.xterm-screen').clientWidth"
    before = page.evaluate(width)
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {width} > {before}")
    page.keyboard.press("Control+u")
    page.keyboard.type("size")
    page.keyboard.press("Enter")
    shown(page, "size 1")  # wider than the 80 columns that it had
    page.evaluate("navigator.clipboard.writeText = null")
    page.evaluate(
        "text => { const data = new DataTransfer(); data.setData('text/plain', text);"
        "document.activeElement.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true})) }",
        f"{NASTY}\n",
    )
    shown(page, f"<{NASTY}>")
    assert violations(page) == []
    page.locator("[data-shell=reader]").focus()
    page.keyboard.press("Enter")
    page.keyboard.type("aloud")
    page.keyboard.press("Enter")
    expect(page.locator(".xterm-accessibility")).to_contain_text("<aloud>")
    assert violations(page) == []
    page.keyboard.type("exit 3")
    page.keyboard.press("Enter")
    expect(page.locator(".shell-said")).to_have_text(say("opencode.over.code", code=3))
    page.keyboard.press("Enter")
    shown(page, "OpenCode double in")
    page.keyboard.type("sleep left-alone")
    page.keyboard.press("Enter")
    shown(page, "asleep")
    page.keyboard.press("F6")
    page.keyboard.press("Enter")
    expect(page.locator("#opencode")).to_be_hidden()
    assert page.evaluate("document.activeElement.id") == "opencode-open"
    assert living("left-alone") == []
    assert told == []


def test_a_second_tab_asks_and_takes_it_and_who_may_not_has_no_icon(
    context: BrowserContext, browser: Browser, world: tuple[Serving, Path], owner: Visitor
) -> None:
    say, server = Catalogue("fr", strict=True), world[0]
    address = f"{server.url}/conversations/{owner.conversation('Twice')}"
    first, second = context.new_page(), context.new_page()
    for page in (first, second):
        page.goto(address)
        page.click("#opencode-open")
        if page is first:
            shown(page, "double")
    expect(second.locator(".shell-said")).to_have_text(say("opencode.elsewhere"))
    second.locator("[data-shell=go]").click()
    shown(second, "double")
    expect(first.locator(".shell-said")).to_have_text(say("opencode.over.taken"))
    with joined(owner, "user") as member:
        own = browser.new_context(locale="en-GB")
        own.add_cookies([{"name": n, "value": v, "url": server.url} for n, v in member.client.cookies.items()])
        page = own.new_page()
        page.goto(f"{server.url}/conversations/{member.conversation()}")
        expect(page.locator("#tab-history")).to_be_visible()
        assert page.locator("#opencode-open, #opencode").count() == 0
        own.close()


def test_on_a_narrow_dark_screen_it_is_in_the_sheet_with_left_out_folders_and_the_remedy(
    browser: Browser, signed: StorageState, world: tuple[Serving, Path], owner: Visitor
) -> None:
    server, base = world
    gone = base / "gone <b>"
    gone.mkdir()
    conversation = owner.conversation("Narrow")
    owner.ask("PATCH", f"/api/v1/conversations/{conversation}", {"folders": [{"name": "", "path": str(gone)}]})
    gone.rmdir()
    narrow = browser.new_context(
        locale="en-GB", color_scheme="dark", viewport={"width": 390, "height": 844}, storage_state=signed
    )
    page = narrow.new_page()
    told = watched(page)
    page.goto(f"{server.url}/conversations/{conversation}")
    page.click("#opencode-open")
    shown(page, "double")
    expect(page.locator(".shell-left li")).to_contain_text(str(gone))
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert violations(page) == []
    page.click("[data-shell=close]")
    program = base / "bin" / "opencode"
    program.rename(program.with_name("away"))
    try:
        page.click("#opencode-open")
        expect(page.locator(".shell-said")).to_contain_text("npm install -g opencode-ai")
    finally:
        program.with_name("away").rename(program)
    page.locator("[data-shell=go]").click()
    shown(page, "double")
    assert [each for each in told if "409" not in each] == []
    narrow.close()
