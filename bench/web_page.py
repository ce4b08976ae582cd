"""The web workspace in Chromium: what a first load costs, a long conversation, and a hundred reloads in mid-stream."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from _model_server import word
from _webrig import LONG_TURNS, Rig, rig
from harness import Row, at_most
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
RELOADS, WORDS, GAP_MS = 100, 30_000, 20
_NUMBER = re.compile(r"word(\d+)\.")


def main() -> list[Row]:
    if CHROMIUM is None:
        return [Row("the web workspace in Chromium", float("nan"), "", None, True, "needs Chromium")]
    with rig(full=True) as full:
        full.owner.sign_in()
        with _chromium() as browser:
            rows = [*_first_loads(browser, full), *_long(browser, full)]
    with rig() as small, _chromium() as browser:
        return [*rows, *_reloads(browser, small)]


@contextmanager
def _chromium() -> Generator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def _page(browser: Browser, signed: Rig) -> Generator[Page]:
    """A page with an empty cache, signed in."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    cookies: list[Any] = [
        {"name": name, "value": value, "url": signed.server.url}
        for name, value in dict(signed.owner.client.cookies).items()
    ]
    context.add_cookies(cookies)
    try:
        yield context.new_page()
    finally:
        context.close()


def _first_loads(browser: Browser, full: Rig) -> list[Row]:
    """Every page that the navigation offers and a conversation, each with an empty cache."""
    with _page(browser, full) as page:
        page.goto(full.server.url)
        hrefs: list[str] = page.locator(".nav a.nav-item").evaluate_all("all => all.map(e => e.getAttribute('href'))")
    pages = dict.fromkeys(
        ["/", *(h for h in hrefs if not h.startswith("/conversations/")), f"/conversations/{full.long}"]
    )
    costs = {path: _load(browser, full, path) for path in pages}
    heaviest, busiest = max(costs, key=lambda p: costs[p][0]), max(costs, key=lambda p: costs[p][1])
    return [
        at_most(
            f"first load, the heaviest of {len(costs)} pages",
            costs[heaviest][0] / 1000,
            "KB",
            200,
            f"{_named(heaviest)}; Open WebUI: 2,980",
        ),
        at_most(
            f"first load, most requests of {len(costs)} pages",
            costs[busiest][1],
            "requests",
            12,
            f"{_named(busiest)}; Open WebUI: 242",
        ),
    ]


def _named(path: str) -> str:
    return "/conversations/…" if path.startswith("/conversations/") else path


def _load(browser: Browser, full: Rig, path: str) -> tuple[int, int]:
    """Bytes on the wire and requests until the page has been quiet for a while; its own stream stays open."""
    with _page(browser, full) as page:
        client: Any = page.context.new_cdp_session(page)
        client.send("Network.enable")
        asked: list[Any] = []
        loaded: list[Any] = []
        client.on("Network.requestWillBeSent", _kept_in(asked))
        client.on("Network.loadingFinished", _kept_in(loaded))
        page.goto(full.server.url + path, wait_until="load")
        page.wait_for_timeout(1_000)
        urls = [each["request"]["url"] for each in asked]
        return int(sum(each["encodedDataLength"] for each in loaded)), sum(not url.startswith("data:") for url in urls)


def _kept_in(events: list[Any]) -> Callable[[Any], None]:
    """A function of ours: Playwright takes no other."""

    def keep(event: Any) -> None:
        events.append(event)

    return keep


def _long(browser: Browser, full: Rig) -> list[Row]:
    with _page(browser, full) as page:
        page.goto(full.server.url)
        client: Any = page.context.new_cdp_session(page)
        client.send("Performance.enable")
        before = _metrics(client)
        page.goto(f"{full.server.url}/conversations/{full.long}", wait_until="load")
        page.wait_for_timeout(1_500)
        after = _metrics(client)
    name = f"a conversation of {2 * LONG_TURNS:,} messages opens in Chromium"
    return [
        at_most(name, after["TaskDuration"] - before["TaskDuration"], "CPU s", 1.5, "of its main thread"),
        at_most(f"{name}, scripts", after["ScriptDuration"] - before["ScriptDuration"], "CPU s", None),
        at_most(f"{name}, nodes", after["Nodes"], "nodes", None, "Open WebUI's first page: 17,546"),
    ]


def _metrics(client: Any) -> dict[str, float]:
    return {each["name"]: each["value"] for each in client.send("Performance.getMetrics")["metrics"]}


def _reloads(browser: Browser, small: Rig) -> list[Row]:
    """A page that is loaded again and again while an answer comes never shows less than before, nor a hole."""
    conversation = small.owner.conversation()
    small.owner.say(conversation, f"{WORDS} words every {GAP_MS} ms")
    lost = 0
    with _page(browser, small) as page:
        page.goto(f"{small.server.url}/conversations/{conversation}")
        page.wait_for_selector("#stream .prose >> text=word0.")
        in_stream = 0
        for _ in range(RELOADS):
            before = _shown(page)
            in_stream += page.locator("#stop").count()
            page.reload()
            after = _shown(page)
            lost += _gap(after, max(before, default=-1) + 1)
            page.wait_for_timeout(60)
        page.locator("#stop").click()
        page.wait_for_selector(".caption")
        time.sleep(0.5)
        shown = _shown(page)
        kept = small.owner.ask("GET", f"/api/v1/conversations/{conversation}").json()["messages"][-1]["content"]
        stored = [int(n) for n in _NUMBER.findall(kept)]
        lost += _gap(shown, len(stored)) + _gap(stored, len(stored))
    return [at_most(f"{in_stream} reloads in mid-stream: lost", lost, "characters", 0)]


def _shown(page: Page) -> list[int]:
    return [int(number) for number in _NUMBER.findall(page.locator("#stream").inner_text())]


def _gap(shown: list[int], least: int) -> int:
    """Characters of the words that are missing among the first `least` ones, or below the last one shown."""
    missing = set(range(max(least, len(shown)))) - set(shown)
    return sum(len(word(n)) for n in missing)
