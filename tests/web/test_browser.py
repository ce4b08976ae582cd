"""What people see, in a real Chromium, in both languages. Skipped where there is no Chromium."""

import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from maia.i18n.catalogue import Catalogue, Lang
from maia.i18n.formats import number
from tests.web.serving import OWNER, Serving, serving

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt install chromium)"),
    # Playwright's own event loop leaves a closed socket behind.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

PATIENCE = 60_000
"""Milliseconds for what a page comes to by itself: a busy machine is slow, and nothing waits longer than it must."""
NASTY = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
ANSWER = f"""Fine, *here* it is:

| a | b |
|---|---|
| 1 | 2 |

```python
def f():
    return "{"x" * 5}"
```

{NASTY} and [a link](javascript:alert(1)) and ![a picture](https://elsewhere.invalid/x.png)

1. one
2. two
"""
USED = {"input": 1200, "output": 34}
SCRIPT: list[Any] = [
    {
        "think": "let me see",
        "text": ["I look ", "around.\n\n", "And around."],
        "call": {"name": "Glob", "arguments": {"pattern": f"{NASTY}*"}},
    },
    {"call": {"name": "Write", "arguments": {"path": "a.py", "content": "one\ntwo\n"}}, "wait": 0.2},
    {
        "text": [ANSWER[n : n + 7] for n in range(0, len(ANSWER), 7)],
        "usage": {"input": 1200, "output": 34},
        "cost": 0.25,
    },
    {"text": "Half of ", "fail": {"kind": "overloaded", "status": 503, "text": f"503 {NASTY}"}},
    {"text": [f"word {n} " for n in range(30)], "wait": 40},
    {"text": "Again.", "repeat": True},
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        expect.set_options(timeout=PATIENCE)
        yield opened
        opened.close()


@pytest.fixture
def server(data: Path) -> Iterator[Serving]:
    with serving(data, "--allow", "Write(**)", script=SCRIPT) as running:
        yield running


@pytest.fixture
def context(browser: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    """A browser in French, or, for tests that ask for words, in each language in turn."""
    lang: Lang = request.getfixturevalue("lang") if "lang" in request.fixturenames else "fr"
    opened = browser.new_context(locale={"fr": "fr-FR", "en": "en-GB"}[lang], viewport={"width": 1280, "height": 900})
    opened.set_default_timeout(PATIENCE)
    yield opened
    opened.close()


def watched(page: Page) -> list[str]:
    """What the page complains of: a refused script, a broken request, an error of ours."""
    told: list[str] = []
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("console", lambda message: told.append(message.text) if message.type in ("error", "warning") else None)
    return told


def first_run(page: Page, server: Serving) -> None:
    page.goto(f"{server.url}/first-run?token={server.token}")
    for name, value in OWNER.items():
        page.fill(f"[name={name}]", value)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{server.url}/")


def send(page: Page, text: str) -> None:
    page.fill("#message", text)
    page.keyboard.press("Enter")


def begin(page: Page, server: Serving) -> None:
    """The first run, and a first message from Home that is answered."""
    first_run(page, server)
    send(page, f"Look at {NASTY}")
    page.wait_for_url("**/conversations/*")
    expect(page.locator(".caption")).to_have_count(1)


def shown(page: Page) -> str:
    """The stream as it stands, without what the scripts of a page add to elements."""
    html = page.locator("#stream").inner_html()
    html = re.sub(r' data-htmx-powered="[^"]*"| aria-busy="true"| class=""|<!--.*?-->', "", html)
    return re.sub(r"\s+", " ", re.sub(r"> <", "><", re.sub(r"\s+", " ", html))).strip()


def test_a_first_conversation_from_the_printed_address_to_the_answer(
    context: BrowserContext, server: Serving, say: Catalogue, lang: Lang
) -> None:
    page = context.new_page()
    told = watched(page)
    begin(page, server)
    expect(page.locator("#status")).to_have_text(say("web.status.idle"))
    expect(page.locator(".row-name")).to_have_text(["glob", "write_file"])
    expect(page.locator(".row-state")).to_have_text([say("web.call.failed"), say("web.call.succeeded")])
    expect(page.locator(".row-name").nth(1)).to_have_attribute("title", say("web.call.own_name", name="Write"))
    caption = page.locator(".caption")
    expect(caption).to_contain_text("offline · offline")
    expect(caption).to_contain_text(say("web.usage.tokens", input=number(1200, lang), output="34"))
    expect(caption.locator(f'[title="{say("web.cost.reported")}"]')).to_have_text("$0.2500")
    page.locator("details.row").nth(1).locator("summary").first.click()
    expect(page.locator(".diff tr.add")).to_have_count(2)
    expect(page.locator(".code .k").first).to_have_text("def")
    assert told == []


def test_what_is_shown_live_is_shown_again_after_a_reload(context: BrowserContext, server: Serving) -> None:
    page = context.new_page()
    begin(page, server)
    send(page, "And then?")
    expect(page.locator(".error")).to_have_count(1)
    live = shown(page)
    page.reload()
    expect(page.locator(".error")).to_have_count(1)
    assert shown(page) == live
    assert "Half of" in live


def test_nothing_that_was_said_acts_on_the_page(context: BrowserContext, server: Serving) -> None:
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    begin(page, server)
    send(page, "And then?")
    expect(page.locator(".error")).to_have_count(1)
    for _ in range(2):
        page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
        assert page.title() != "owned"
        assert page.locator("#stream img, #stream script, #stream iframe").count() == 0
        assert page.locator('#stream a[href^="javascript"]').count() == 0
        page.goto(page.url)
    page.goto(server.url)
    assert page.locator("main img, main script").count() == 0
    assert [url for url in asked if not url.startswith((server.url, "data:"))] == []


def test_an_error_is_told_once_with_its_details_folded(
    context: BrowserContext, server: Serving, say: Catalogue
) -> None:
    page = context.new_page()
    begin(page, server)
    send(page, "And then?")
    error = page.locator(".error")
    expect(error.locator("b")).to_have_text(say("web.error.overloaded", provider="maia offline"))
    expect(error).to_contain_text(say("web.error.kept"))
    expect(error.locator("pre")).to_be_hidden()
    error.locator("summary").click()
    expect(error.locator("pre")).to_contain_text("503")
    expect(page.locator(".caption").nth(1)).to_contain_text(say("web.usage.unknown"))
    expect(page.locator(".caption").nth(1).locator(".badge")).to_have_text(say("web.outcome.failed"))


def to_the_long_one(page: Page, server: Serving) -> None:
    """A conversation whose third answer takes its time."""
    begin(page, server)
    send(page, "And then?")
    expect(page.locator(".error")).to_have_count(1)
    send(page, "Go on")
    expect(page.locator("#stop")).to_be_visible()
    expect(page.locator("#stream")).to_contain_text("word 29")


def test_a_second_tab_sees_the_same_and_either_may_stop(
    context: BrowserContext, server: Serving, say: Catalogue
) -> None:
    page, other = context.new_page(), context.new_page()
    to_the_long_one(page, server)
    other.goto(page.url)
    expect(other.locator("#stream")).to_contain_text("word 29")
    expect(other.locator("#status")).to_have_text(say("web.status.running"))
    expect(page.locator("#stream .working")).to_contain_text(say("web.working.writing"))
    other.click("#stop")
    for each in (page, other):
        expect(each.locator("#status")).to_have_text(say("web.status.idle"))
        expect(each.locator(".caption").nth(2).locator(".badge")).to_have_text(say("web.outcome.stopped"))
        expect(each.locator("#stream")).to_contain_text("word 29")
    assert shown(page) == shown(other)


def test_leaving_and_coming_back_finds_the_answer_going_on(context: BrowserContext, server: Serving) -> None:
    page = context.new_page()
    to_the_long_one(page, server)
    address = page.url
    page.goto(server.url)
    page.go_back()
    assert page.url == address
    expect(page.locator("#stream")).to_contain_text("word 29")
    expect(page.locator("#stop")).to_be_visible()


def test_a_killed_server_leaves_an_honest_end(context: BrowserContext, data: Path, say: Catalogue) -> None:
    page = context.new_page()
    with serving(data, "--allow", "Write(**)", script=SCRIPT) as server:
        to_the_long_one(page, server)
        path = page.url.removeprefix(server.url)
        server.stop(signal.SIGKILL)
    with serving(data, "--allow", "Write(**)", script=SCRIPT) as again:
        page.goto(again.url + path)
        expect(page.locator("#stream")).to_contain_text("word 29")
        expect(page.locator(".error b").nth(1)).to_have_text(say("web.error.server_stopped"))
        expect(page.locator("#status")).to_have_text(say("board.state.error"))
        send(page, "Once more")
        expect(page.locator(".caption")).to_have_count(4)


def test_a_page_that_is_open_while_the_server_starts_again_finds_back(context: BrowserContext, data: Path) -> None:
    page = context.new_page()
    with serving(data, script=[{"text": "One."}]) as server:
        first_run(page, server)
        send(page, "Hello")
        expect(page.locator(".caption")).to_have_count(1)
        port = server.url.rpartition(":")[2]
        assert server.stop() == 0
    expect(page.locator("#offline")).to_be_visible()
    with serving(data, "--port", port, script=[{"text": "Two."}]):
        expect(page.locator("#offline")).to_be_hidden()
        send(page, "Again")
        expect(page.locator(".caption")).to_have_count(2)
        expect(page.locator("#stream")).to_contain_text("Two.")


def test_the_stream_opens_on_every_fresh_load(context: BrowserContext, server: Serving) -> None:
    page = context.new_page()
    begin(page, server)
    opened = 0
    for _ in range(20):
        with page.expect_response("**/ui/stream*") as found:
            page.reload()
        opened += found.value.status == 200
    assert opened == 20


def test_everything_can_be_done_by_keyboard(context: BrowserContext, server: Serving) -> None:
    page = context.new_page()
    begin(page, server)
    page.reload()
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.locator("#title").focus()
    page.keyboard.press("Enter")
    page.keyboard.type("A better title")
    page.keyboard.press("Enter")
    expect(page.locator("#title")).to_have_text("A better title")
    expect(page).to_have_title("A better title · maia")
    page.reload()
    expect(page.locator("#title")).to_have_text("A better title")
    page.locator("details.row summary").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("details.row").first).to_have_attribute("open", "")
    page.locator("#message").focus()
    page.keyboard.type("one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    assert page.locator("#message").input_value() == "one\ntwo"
    page.reload()
    assert page.locator("#message").input_value() == "one\ntwo", "a draft stays until it is sent"


def test_an_open_row_and_a_draft_survive_what_the_stream_brings(context: BrowserContext, server: Serving) -> None:
    page = context.new_page()
    begin(page, server)
    page.locator("details.row summary").first.click()
    page.fill("#message", "And then?")
    page.keyboard.press("Enter")
    page.keyboard.type("draft")
    expect(page.locator(".error")).to_have_count(1)
    expect(page.locator("details.row").first).to_have_attribute("open", "")
    expect(page.locator("#message")).to_have_value("draft")
    expect(page.locator("#message")).to_be_focused()


@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_scrolls_sideways(context: BrowserContext, server: Serving, width: int) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 844})
    begin(page, server)
    for address in (page.url, server.url, f"{server.url}/signin"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        sizes = page.locator("button:visible, a.btn:visible").evaluate_all(
            "all => all.map(e => e.getBoundingClientRect()).filter(r => r.height && r.height < 28).length"
        )
        assert sizes == 0, "targets are large enough for a finger"


def test_theme_and_language_are_kept(context: BrowserContext, server: Serving, lang: Lang) -> None:
    page = context.new_page()
    first_run(page, server)
    page.locator(".account summary").click()
    page.click('[data-prefer="theme"][data-value="dark"]')
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    other: Lang = "en" if lang == "fr" else "fr"
    page.locator(".account summary").click()
    page.click(f'[data-prefer="lang"][data-value="{other}"]')
    expect(page.locator("html")).to_have_attribute("lang", other)
    expect(page.locator(".nav")).to_contain_text(Catalogue(other)("web.nav.home"))
    page.locator(".account summary").click()
    page.click("#sign-out")
    page.wait_for_url("**/signin")
    page.goto(server.url)
    page.wait_for_url("**/signin")


def test_the_first_load_of_every_page_is_light(browser: Browser, server: Serving) -> None:
    context = browser.new_context()
    page = context.new_page()
    begin(page, server)
    shown = page.locator(".nav a.nav-item").evaluate_all("all => all.map(each => each.href)")
    signed_in = context.storage_state()
    context.close()
    assert len(shown) > 3
    for address in shown:
        fresh = browser.new_context(storage_state=signed_in)
        loaded = fresh.new_page()
        sizes: list[int] = []
        loaded.on("response", lambda answer, into=sizes: into.append(int(answer.headers.get("content-length", "0"))))
        loaded.goto(address, wait_until="load")
        assert 1 < len(sizes) <= 12, address
        assert sum(sizes) <= 200_000, address
        fresh.close()
