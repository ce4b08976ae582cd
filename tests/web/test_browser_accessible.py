"""Every page by the rules of axe-core, wide and light in one language, narrow and dark in the other."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, ViewportSize, expect

from tests.web.serving import Serving, serving
from tests.web.test_access import routes
from tests.web.test_agents_api import BROKEN, IRIS, put
from tests.web.test_browser import SCRIPT, browser, first_run, send
from tests.web.test_browser import pytestmark as pytestmark

__all__ = ["browser"]

AXE = files("axe_playwright_python").joinpath("axe.min.js")
SHOWN: list[tuple[str, str, ViewportSize]] = [
    ("fr-FR", "light", {"width": 1440, "height": 900}),
    ("en-GB", "dark", {"width": 390, "height": 844}),
]
SMALL = """() => {
  const all = "a[href], button:enabled, input:enabled:not([type=hidden]), select, textarea, summary";
  const shown = (each) =>
    each.checkVisibility({checkVisibilityCSS: true}) && !each.closest("[aria-hidden=true], .skip");
  const inWords = (each) => getComputedStyle(each).display === "inline" &&
    [...each.parentElement.childNodes].some((node) => node.nodeType === 3 && /\\p{L}{2}/u.test(node.textContent));
  const box = (each) => {
    const over = getComputedStyle(each, "::after");
    if (over.content !== "none" && over.position === "absolute") return each.closest("article").getBoundingClientRect();
    const isChoice = each.matches("[type=checkbox], [type=radio], [type=search]");
    return (isChoice && each.closest("label") || each).getBoundingClientRect();
  };
  return [...document.querySelectorAll(all)]
    .filter((each) => shown(each) && !inWords(each))
    .map((each) => [each, box(each)])
    .filter(([, {width, height}]) => width > 1 && Math.min(width, height) < 23.9)
    .map(([each, {width, height}]) => `${Math.round(width)}×${Math.round(height)} ${each.outerHTML.slice(0, 120)}`);
}"""
"""Targets below 24 by 24 pixels; those inside a sentence are as high as its line (WCAG 2.2, 2.5.8)."""
WITHOUT_A_PERSON = ("/signin", "/first-run")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    script: list[Any] = [
        {"call": {"name": "Write", "arguments": {"path": "b.py", "content": "one\n"}}},
        {"text": "That waits for you."},
        *SCRIPT[:4],
    ]
    data = tmp_path_factory.mktemp("accessible") / "data"
    for name, text in (("iris", IRIS), ("torn", BROKEN)):
        put(data / "home", name, text)
    with serving(data, script=script) as running:
        yield running


@pytest.fixture(scope="module")
def begun(browser: Browser, server: Serving) -> tuple[str, StorageState]:
    """A conversation with a call that waits, rows, a table, code and a failure, and the sign-in of who made it."""
    context = browser.new_context()
    page = context.new_page()
    first_run(page, server)
    send(page, "Write it")
    page.wait_for_url("**/conversations/*")
    for count, text in ((2, "Look around"), (3, "And then?")):
        expect(page.locator(".caption")).to_have_count(count - 1)
        send(page, text)
    expect(page.locator(".error")).to_have_count(1)
    signed_in = context.storage_state()
    context.close()
    return page.url.rpartition("/")[2], signed_in


@pytest.fixture(scope="module")
def conversation(begun: tuple[str, StorageState]) -> str:
    return begun[0]


@pytest.fixture(params=SHOWN, ids=["wide, light, French", "narrow, dark, English"])
def context(browser: Browser, begun: tuple[str, StorageState], request: pytest.FixtureRequest) -> Iterator[Any]:
    locale, scheme, size = request.param
    opened = browser.new_context(locale=locale, color_scheme=scheme, viewport=size, storage_state=begun[1])
    yield opened
    opened.close()


def paths(conversation: str) -> list[str]:
    """The address of every page. What a route needs besides a conversation is not there: then that has its page."""
    found = {
        route.path.replace("{conversation_id}", conversation)
        .replace("{agent_id}", "iris")
        .replace("{", "")
        .replace("}", "")
        for route in routes()
        if "GET" in route.methods and not route.path.startswith(("/api/", "/static/", "/health"))
    }
    return [
        "/agents/torn",
        *sorted(path for path in found.difference(WITHOUT_A_PERSON) if not path.endswith("/stream")),
    ]


def test_every_page_is_accessible(context: BrowserContext, server: Serving, conversation: str) -> None:
    page = context.new_page()
    seen: list[str] = []
    wrong: dict[str, Any] = {}
    for path in paths(conversation):
        page.goto(server.url + path)
        if not page.evaluate("document.doctype !== null"):
            continue  # a piece of a page, which is judged where it is put
        seen.append(path)
        page.locator("main details").evaluate_all("all => all.forEach(each => each.open = true)")
        small: list[str] = page.evaluate(SMALL)
        if found := [*violations(page), *small]:
            wrong[path] = found
    assert len(seen) >= 6
    assert wrong == {}


def test_what_opens_is_accessible_too(context: BrowserContext, server: Serving, conversation: str) -> None:
    page = context.new_page()
    page.goto(f"{server.url}/conversations/{conversation}")
    page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
    assert violations(page) == []
    page.reload()
    page.evaluate("if (getComputedStyle(document.getElementById('rail')).display === 'none') rail.showPopover()")
    page.locator("#tab-folders").click()
    expect(page.locator("#p-folders [data-path]")).to_have_count(1)
    assert violations(page) == []
    page.evaluate("help.showPopover()")
    assert violations(page) == []
    page.reload()
    page.locator("#due").click()
    expect(page.locator(".days")).to_be_visible()
    assert [*violations(page), *page.evaluate(SMALL)] == []


def test_the_finder_and_the_forms_of_cards_and_stages_are_accessible(context: BrowserContext, server: Serving) -> None:
    page = context.new_page()
    page.goto(f"{server.url}/board?view=list")
    assert violations(page) == []
    page.keyboard.press("Control+k")
    expect(page.locator("#found [role=option]").first).to_be_visible()
    assert violations(page) == []
    for address, opens in (
        ("/board", "[data-record]"),
        ("/projects", "[data-plan^=stages]"),
        ("/agents", "[data-agent-new]"),
    ):
        page.goto(server.url + address)
        page.locator(f"main {opens}").first.click()
        expect(page.locator("dialog[open]")).to_be_visible()
        assert violations(page) == []


COVERED = """() => {
  const it = document.activeElement, box = it.getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, Math.min(box.top + box.height, innerHeight) - 3];
  const over = document.elementFromPoint(Math.max(0, Math.min(x, innerWidth - 1)), Math.max(0, y));
  const label = over?.closest("label");
  const isSeen = !over || over === document.body || it.contains(over) || over.contains(it) || label?.contains(it);
  return [it.outerHTML.slice(0, 120), isSeen];
}"""


def test_what_has_the_focus_is_never_under_what_stays_in_its_place(context: BrowserContext, server: Serving) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": page.viewport_size["width"], "height": 600})  # type: ignore[index]
    covered: dict[str, list[str]] = {}
    for path in ("/agents/iris", "/privacy"):
        page.goto(server.url + path)
        begun: str | None = None
        for _ in range(90):
            page.keyboard.press("Tab")
            what, is_seen = page.evaluate(COVERED)
            if what == begun:
                break
            begun = begun or what
            if not is_seen:
                covered.setdefault(path, []).append(what)
    assert covered == {}


def test_what_is_chosen_is_told_apart_where_the_system_forces_its_colours(
    browser: Browser, begun: tuple[str, StorageState], server: Serving
) -> None:
    context = browser.new_context(forced_colors="active", storage_state=begun[1])
    page = context.new_page()
    page.goto(f"{server.url}/board")
    one, other = (page.locator(f".seg input{state} + span").first for state in (":checked", ":not(:checked)"))
    behind = "each => getComputedStyle(each).backgroundColor"
    assert one.evaluate(behind) != other.evaluate(behind)
    context.close()


@pytest.mark.usefixtures("begun")
def test_the_way_in_is_accessible(browser: Browser, server: Serving) -> None:
    for locale, scheme, size in SHOWN:
        context = browser.new_context(locale=locale, color_scheme=scheme, viewport=size)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"{server.url}/signin")
        assert [*violations(page), *page.evaluate(SMALL)] == [], locale
        context.close()


def violations(page: Page) -> list[str]:
    """What axe-core finds, each with the first element concerned."""
    page.evaluate(AXE.read_text("utf-8"))
    found: list[Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(all => all.violations)")
    return [f"{each['id']}: {each['help']}: {each['nodes'][0]['html'][:200]}" for each in found]
