"""The right column of a conversation in a real Chromium: execution, tabs, history. Skipped where there is none."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from maia.i18n.catalogue import Catalogue, Lang
from tests.web.serving import OWNER, Serving, Visitor, serving
from tests.web.test_browser import (  # pyright: ignore[reportUnusedImport] - fixtures
    NASTY,
    PATIENCE,
    browser,
    pytestmark,
    send,
    watched,
)

__all__ = ["browser", "pytestmark"]
USED = {"input": 1200, "output": 34}
SCRIPT: list[Any] = [
    {"call": {"name": "Glob", "arguments": {"pattern": "*"}}, "usage": USED},
    {"text": "Done.", "usage": USED},
    {"text": [f"word {n} " for n in range(30)], "wait": 40},
    {"text": "Again.", "repeat": True},
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("rail") / "data", script=SCRIPT) as running:
        with Visitor(running.url) as first:
            first.become_owner(running.token)
        yield running


@pytest.fixture
def visitor(server: Serving) -> Iterator[Visitor]:
    with Visitor(server.url) as signed:
        signed.sign_in()
        yield signed


def signed_in(browser: Browser, server: Serving, lang: Lang, width: int = 1440) -> Iterator[BrowserContext]:
    context = browser.new_context(locale=lang, viewport={"width": width, "height": 844})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{server.url}/signin")
    page.fill("[name=email]", OWNER["email"])
    page.fill("[name=password]", OWNER["password"])
    page.keyboard.press("Enter")
    page.wait_for_url(f"{server.url}/")
    page.close()
    yield context
    context.close()


@pytest.fixture
def context(browser: Browser, server: Serving) -> Iterator[BrowserContext]:
    yield from signed_in(browser, server, "fr")


@pytest.fixture
def narrow(browser: Browser, server: Serving) -> Iterator[BrowserContext]:
    yield from signed_in(browser, server, "en", 390)


def opened(context: BrowserContext, server: Serving, conversation: str) -> Page:
    page = context.new_page()
    page.goto(f"{server.url}/conversations/{conversation}")
    return page


def test_the_strip_opens_while_an_agent_runs_and_tells_how_far_it_is(
    context: BrowserContext, server: Serving, visitor: Visitor
) -> None:
    say = Catalogue("fr", strict=True)
    page, other = (opened(context, server, visitor.conversation("Run")) for _ in range(2))
    other.goto(page.url)
    told = watched(page)
    strip, run = page.locator("#execution"), page.locator("#run")
    expect(strip).not_to_have_attribute("open", "")
    expect(run).to_contain_text(say("rail.run.none"))
    send(page, "Look")
    expect(page.locator(".caption")).to_have_count(1)
    expect(run).to_contain_text(say("rail.run.calls", n=1))
    expect(run).to_contain_text(say("rail.run.billed", n=2468, tokens="2\u202f468"))
    send(page, "Go on")
    for each in (page, other):
        expect(each.locator("#execution")).to_have_attribute("open", "")
        expect(each.locator("#run-badge")).to_contain_text(say("rail.run.running"))
        expect(each.locator("#nav-recent [aria-current] .spin")).to_have_count(1)
    expect(page.locator("#stream")).to_contain_text("word 9")
    other.click("[data-stop]")
    for each in (page, other):
        expect(each.locator("#execution")).not_to_have_attribute("open", "")
        expect(each.locator("#run-badge")).to_contain_text(say("web.outcome.stopped"))
        expect(each.locator("#nav-recent [aria-current] .spin")).to_have_count(0)
    strip.locator("summary").click()
    expect(run).to_contain_text(say("web.usage.unknown"))
    assert told == []


def test_history_keeps_notes_and_changes_apart_from_what_agents_do(
    context: BrowserContext, server: Serving, visitor: Visitor
) -> None:
    say = Catalogue("fr", strict=True)
    conversation = visitor.conversation("Record")
    visitor.ask("PATCH", f"/api/v1/conversations/{conversation}", {"priority": "high", "dueOn": "2031-12-04"})
    page = opened(context, server, conversation)
    told, entries = watched(page), page.locator("#entries .entry")
    expect(page.locator("#entries h2")).to_have_text([say("history.today")])
    expect(entries.locator("p")).to_have_text(
        ["Échéance\u202f: aucune → 4\u00a0déc.\u00a02031", "Priorité\u202f: Normale → Haute"]
    )
    page.fill("#note", f"Three {NASTY}")
    page.locator("#note-form button").click()
    expect(entries.first).to_contain_text(f"Three {NASTY}")
    expect(entries.first.locator("b")).to_contain_text(say("history.note"))
    expect(page.locator("#note")).to_have_value("")
    page.locator("[data-show=note]").click()
    expect(entries).to_have_count(1)
    page.fill("#note", "half a thought")
    page.locator("[data-show=change]").click()
    expect(entries.locator("b")).to_contain_text([say("history.change")] * 2)
    expect(page.locator("#note")).to_have_value("half a thought")
    visitor.say(conversation, "Go")
    expect(entries).to_have_count(3)
    expect(entries.first).to_contain_text("Inactif → En cours… → Inactif")
    assert page.title() != "owned"
    assert told == []


def test_on_a_narrow_screen_the_column_is_a_sheet_used_by_keyboard(
    narrow: BrowserContext, server: Serving, visitor: Visitor
) -> None:
    page = opened(narrow, server, visitor.conversation("Narrow"))
    expect(page.locator("#rail")).to_be_hidden()
    button = page.locator("[popovertarget=rail]").first
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#tab-history")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-folders")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#p-folders .entry")).to_have_count(1)
    expect(page.locator("#p-history")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator("#rail")).to_be_hidden()
    expect(button).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("#picker > summary").click()
    box = page.locator("#picker > .menu").bounding_box()
    assert box is not None
    assert (box["x"] >= 0, box["x"] + box["width"] <= 390) == (True, True), box


def test_the_field_bar_sets_and_shows_what_other_tabs_set(
    context: BrowserContext, server: Serving, visitor: Visitor
) -> None:
    say = Catalogue("fr", strict=True)
    kind = visitor.ask("POST", "/api/v1/project-types", {"name": f"Type {NASTY}"}).json()["id"]
    project = visitor.ask("POST", "/api/v1/projects", {"name": f"Tax {NASTY}", "typeId": kind}).json()["id"]
    conversation = visitor.conversation("Fields")
    page, other = opened(context, server, conversation), opened(context, server, conversation)
    told = watched(page)
    expect(page.locator("#f-projectId optgroup")).to_have_attribute("label", f"Type {NASTY}")
    expect(page.locator("#f-projectId optgroup option")).to_have_text([f"Tax {NASTY}"])
    expect(page.locator("#f-labels, #f-owners")).to_have_count(0)
    field = page.locator("#f-projectId select")
    field.focus()
    page.keyboard.press("ArrowDown")
    expect(other.locator("#f-projectId select")).to_have_value(project)
    expect(field).to_be_focused()
    page.locator("#priority select").select_option("urgent")
    page.locator("#due").click()
    expect(page.locator(".days input")).to_be_focused()
    page.keyboard.type("4/12/2031\n")
    expect(other.locator("#priority")).to_have_attribute("data-tone", "danger")
    expect(other.locator("#f-dueOn input")).to_have_value("2031-12-04")
    expect(other.locator("#entries .entry p").first).to_contain_text("2031")
    other.locator("#f-stageId select").select_option(index=2)
    expect(page.locator("#entries .entry p").first).to_contain_text(say("history.field.stage"))
    gone = visitor.ask("POST", "/api/v1/projects", {"name": "Gone"}).json()["id"]
    page.reload()
    visitor.ask("DELETE", f"/api/v1/projects/{gone}")
    field.select_option(gone)
    expect(page.locator("#refusal")).to_contain_text(say("card.no_project"))
    expect(field).to_have_value(project)
    visitor.ask("PATCH", f"/api/v1/conversations/{conversation}", {"labels": [f"tax {NASTY}"[:40]]})
    expect(page.locator("#f-labels .badge")).to_have_count(1)
    send(page, "Go")
    expect(page.locator(".caption")).to_have_count(1)
    expect(page.locator("#f-agent")).to_have_attribute("title", say("card.agent_locked"))
    expect(page.locator("#f-agent select")).to_have_count(0)
    page.locator(".topbar [popovertarget=help]").click()
    expect(page.locator("#help .badge")).to_have_count(6)
    page.keyboard.press("Escape")
    page.locator("#tab-folders").click()
    expect(page.locator("#p-folders")).to_contain_text(say("folder.project_none"))
    assert page.title() != "owned"
    assert [words for words in told if "400" not in words] == []


def test_what_does_not_reach_the_server_is_told_and_shown_as_it_was(
    context: BrowserContext, server: Serving, visitor: Visitor
) -> None:
    say = Catalogue("fr", strict=True)
    page = opened(context, server, visitor.conversation("Cut off"))
    expect(page.locator("#live")).to_be_attached()
    refusal, priority = page.locator("#refusal"), page.locator("#priority select")
    context.set_offline(True)
    priority.select_option("urgent")
    expect(refusal).to_contain_text(say("web.refused_lost"))
    expect(priority).to_have_value("normal")
    page.locator("#new-conversation").click()
    expect(page.locator("#toasts")).to_contain_text(say("web.refused_lost"))
    context.set_offline(False)
    page.reload()
    expect(refusal).to_be_empty()
    visitor.ask("DELETE", f"/api/v1/conversations/{page.url.rpartition('/')[2]}")
    page.locator("#title").click()
    page.fill(".title-input", "Too late")
    page.keyboard.press("Enter")
    expect(refusal).to_contain_text(say("workspace.not_found"))
    expect(page.locator("#title")).to_have_text("Cut off")


def test_folders_are_added_ordered_and_refused_with_their_reason(
    context: BrowserContext, server: Serving, visitor: Visitor, tmp_path: Path
) -> None:
    say = Catalogue("fr", strict=True)
    (one := tmp_path / "one <b>").mkdir()
    (vault := tmp_path / "two" / ".obsidian").mkdir(parents=True)
    page = opened(context, server, visitor.conversation("Folders"))
    expect(page.locator("#f-folders b")).to_have_text(say("bar.workspace"))
    page.locator("#tab-folders").click()
    entries, problem = page.locator("#p-folders [data-path]"), page.locator("#p-folders .problem")
    expect(entries.locator("b")).to_have_text([say("rail.workspace")])
    page.locator("#p-folders summary").click()
    page.fill("#folder-form [name=path]", str(vault.parent))
    page.keyboard.press("Enter")
    expect(problem).to_contain_text(str(vault.parent))
    vault.rmdir()
    page.fill("#folder-form [name=path]", str(one))
    page.keyboard.press("Enter")
    expect(entries.locator("b")).to_have_text([say("rail.workspace"), "one <b>"])
    expect(problem).to_be_hidden()
    page.locator("#f-folders select").select_option(str(one))
    expect(entries.locator("b")).to_have_text(["one <b>", say("rail.workspace")])
    expect(entries.first.locator(".badge")).to_have_text(say("rail.primary"))
    (one / "ai-memory").mkdir()
    page.locator("[data-folder=up]").nth(1).focus()
    page.keyboard.press("Enter")
    expect(problem).to_contain_text("ai-memory")
    page.reload()
    expect(page.locator("#p-folders")).to_be_visible()
    expect(entries.first.locator(".state")).to_contain_text("ai-memory")
    send(page, "Go")
    expect(page.locator("#stream .notice")).to_contain_text(say("folders.left_out", folder=str(one)))
    page.locator("[data-folder=remove]").first.click()
    expect(entries.locator("b")).to_have_text([say("rail.workspace")])
    expect(page.locator("#p-folders [data-folder]")).to_have_count(0)
